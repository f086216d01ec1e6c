"""Bayesian model averaging: which models, with what weights, and what the estimators share."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.special import softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_number, check_word
from foldwise.errors import Plain, invalid_data, invalid_parameter, warn
from foldwise.subset.coefficients import Fits, unscale
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Score
from foldwise.subset.linear import LinearModel
from foldwise.subset.moments import ScaledGram, all_rows
from foldwise.subset.posterior import occams_window
from foldwise.subset.search import Found, Searcher, all_subsets, best_within

ENUMERABLE = 1 << 20
SEARCHABLE_COLUMNS = 40
# Models that together have less of the posterior than this are dropped.
NEGLIGIBLE = 1e-13
# Models in the table ``models_``.
LISTED = 100


@dataclass(frozen=True)
class ModelSearch:
    """How to find the models."""

    searcher: Searcher  # who looks for them
    method: str  # the way to go
    ratio: Any  # of Occam's window; None keeps all models
    strict: bool  # whether a model needs to beat its submodels
    max_models: int  # most models that branch and bound or the random walk keep
    n_steps: int = 0  # length of the random walk
    random_state: Any = None  # its seed

    def way(self, choice: Choice) -> str:
        """Return the method, decided."""
        if self.method != "auto":
            return self.method
        if choice.n_subsets <= ENUMERABLE:
            return "enumerate"
        return "branch_and_bound" if len(choice.units) <= SEARCHABLE_COLUMNS else "mc3"

    def window(self, way: str) -> float | None:
        """Return the ratio of Occam's window, decided."""
        if self.ratio != "auto":
            return None if self.ratio is None else float(self.ratio)
        return None if way == "enumerate" else 20.0


def find_models(
    moments: ScaledGram, choice: Choice, score: Score, plan: ModelSearch
) -> tuple[Found, FloatArray]:
    """Return the linear models to average over, best first, with their probabilities."""
    way, searcher = plan.way(choice), plan.searcher
    ratio = plan.window(way)
    if way == "enumerate":
        found = all_subsets(moments, choice, searcher)
    elif ratio is None:
        must = "be a number where not all models are enumerated"
        raise invalid_parameter(searcher.owner, "occam_ratio", must=must, got=None, fix="Try 20.")
    else:
        asked: dict[str, Any] = {"slack": 2 * np.log(ratio), "at_most": plan.max_models}
        if way == "mc3":
            asked |= {"n_steps": plan.n_steps, "random_state": plan.random_state}
        found = best_within(moments, choice, score, searcher, **asked)
        if len(found.rss) == plan.max_models:
            warn(
                f"{searcher.owner}: Occam's window holds more than {plan.max_models} models; the "
                "most probable are kept. Raise max_models or lower occam_ratio."
            )
    order, weights = weigh(found, choice, score, plan, ratio)
    return Found(found.kept[order], found.rss[order], found.complete), weights


def weigh(
    found: Found, choice: Choice, score: Score, plan: ModelSearch, ratio: float | None
) -> tuple[IntArray, FloatArray]:
    """Return which models are in Occam's window, best first, and their probabilities."""
    scores = score(found.rss, choice.sizes(found.kept))
    finite = np.flatnonzero(np.isfinite(scores))
    if not len(finite):
        must = "have more rows than every model has columns"
        got = Plain(f"{choice.n_always} forced columns")
        fix = "Force fewer columns or give more rows."
        raise invalid_data(plan.searcher.owner, "X", must=must, got=got, fix=fix)
    order = finite[occams_window(found.kept[finite], scores[finite], ratio, strict=plan.strict)]
    weights = softmax(-0.5 * scores[order])
    enough = 1 + int(np.searchsorted(np.cumsum(weights), 1 - NEGLIGIBLE))
    return order[:enough], weights[:enough] / weights[:enough].sum()


@dataclass(eq=False, repr=False)
class BayesianModelAveraging(LinearModel):
    """What Bayesian averages of linear and of logistic models have in common.

    They find the models and store what these say together in ``_average``.
    """

    # Only the regressor walks at random; neither has groups or does without an intercept.
    n_steps = 0
    random_state = column_groups = None
    fit_intercept = True
    _instead = "Use method='branch_and_bound', set max_size, or raise time_limit."
    _methods: ClassVar[list[str]]
    # Subsets that may be searched where columns are dependent and no largest size is given.
    _most_subsets: ClassVar[int]

    model_prior: str = "uniform"
    _: KW_ONLY
    occam_ratio: float | str | None = "auto"
    strict: bool = False
    method: str = "auto"
    max_models: int = 2_000

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the models and average them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets; classes for the classifier.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, in whole numbers, or else what it weighs beside others.

        Returns
        -------
        Self
            The fitted estimator.
        """
        plan = self._plan()
        rows = self._read(X, y, sample_weight).rows
        moments = all_rows(rows)
        choice = self._choice(moments, self._most_subsets)
        self._average(rows, moments, choice, plan)
        return self

    def _plan(self) -> ModelSearch:
        searcher = self._searcher()
        owner = searcher.owner
        check_word(owner, "model_prior", self.model_prior, ["uniform", "beta_binomial"])
        check_word(owner, "method", self.method, self._methods)
        if self.occam_ratio not in (None, "auto", np.inf):
            fix = "Use 20, None or 'auto'."
            check_number(owner, "occam_ratio", self.occam_ratio, least=1, fix=fix)
        how = self.method, self.occam_ratio, self.strict, self.max_models
        return ModelSearch(searcher, *how, self.n_steps, self.random_state)

    def _store_models(self, models: Found, weights: FloatArray, choice: Choice) -> None:
        names = self._names()
        self.model_support_ = choice.support(models.kept, len(names))
        self.model_probability_ = weights
        self.inclusion_probability_ = np.minimum(weights @ self.model_support_, 1.0)
        self.complete_ = models.complete
        inside = self.model_support_[:LISTED]
        columns = [tuple(names[row].tolist()) for row in inside]
        numbers = {"probability": weights[:LISTED], "size": inside.sum(axis=1)}
        self.models_ = pd.DataFrame({**numbers, "columns": columns})

    def _store_coefficients(self, fits: Fits, noise: FloatArray, moments: ScaledGram) -> None:
        """Store posterior means and standard deviations.

        ``noise`` holds the variances of each model's noise, in scaled units.
        """
        weights = self.model_probability_
        noise = noise.reshape(-1, *[1] * (fits.beta.ndim - 1))
        mean = np.tensordot(weights, fits.beta, axes=1)
        second = np.tensordot(weights, fits.beta**2 + noise * fits.variance, axes=1)
        beta = unscale(mean, moments)
        intercept, self.coef_ = beta[..., 0], beta[..., 1:]
        self.intercept_ = intercept if intercept.ndim else float(intercept)
        unit = moments.scale[-1] / moments.scale[1:-1]
        self.coef_sd_ = np.sqrt(np.maximum(second - mean**2, 0.0))[..., 1:] * unit
        share = np.where(self.inclusion_probability_ > 0, self.inclusion_probability_, 1.0)
        conditional = mean[..., 1:] / share
        spread = np.maximum(second[..., 1:] / share - conditional**2, 0.0)
        self.conditional_coef_ = conditional * unit
        self.conditional_coef_sd_ = np.sqrt(spread) * unit
