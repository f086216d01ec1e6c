"""Logistic regression averaged over models by their posterior probabilities."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.bma import BayesianModelAveraging, ModelSearch, weigh
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow, search
from foldwise.subset.coefficients import Fits, unscale
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Score
from foldwise.subset.linear import BinaryClassifier, dense
from foldwise.subset.logistic import BinaryRows, fit_all, scaled_rows, seconds_for, variances
from foldwise.subset.moments import ScaledGram, WeightedRows
from foldwise.subset.posterior import model_prior
from foldwise.subset.search import Found

CHEAP_SECONDS = 10.0
# How much wider Occam's window is for the approximation than for the models themselves.
WIDER = 100.0
AT_ONCE = 2_000_000


class BayesianModelAveragingClassifier(BinaryClassifier, BayesianModelAveraging):
    """The mean of all logistic models, weighted by how probable the data make them.

    When it helps and when it does not: see :class:`BayesianModelAveragingRegressor`.

    Parameters
    ----------
    model_prior : {"uniform", "beta_binomial"}, default="uniform"
        All models alike, or all sizes alike.
    occam_ratio : float, None or "auto", default="auto"
        Occam's window: models less probable than the best by more than this are left out.
        None keeps all; "auto" keeps all where they can be enumerated, and is 20 otherwise.
    strict : bool, default=False
        Whether to leave out models that have a more probable submodel as well.
    method : {"auto", "enumerate", "branch_and_bound"}, default="auto"
        "enumerate" fits all models. "branch_and_bound" searches the quadratic approximation of
        the likelihood around the model with all columns, with a window a hundred times as wide,
        and fits what it finds. "auto" enumerates while that takes about ten seconds.
    max_size : int or None, default=None
        Largest number of columns.
    forced : list of int or str, optional
        Columns in every model, by position or name.
    max_models : int, default=2000
        Most models to fit when they are not enumerated.
    time_limit : float or None, default=600.0
        Seconds.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; coefficients are for the second.
    coef_, intercept_, coef_sd_, conditional_coef_, conditional_coef_sd_ : ndarray or float
        Posterior means and standard deviations, as in :class:`BayesianModelAveragingRegressor`.
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that the column is in the model.
    model_support_ : ndarray of bool of shape (n_models, n_features)
        The models, most probable first.
    model_probability_ : ndarray of shape (n_models,)
        Their posterior probabilities; they sum to one.
    model_coef_ : ndarray of shape (n_models, n_features)
        Their coefficients.
    model_intercept_ : ndarray of shape (n_models,)
        Their intercepts.
    models_ : DataFrame
        The hundred most probable models.
    complete_ : bool
        False when time or patience ran out before the search was finished.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    Notes
    -----
    The marginal likelihood is taken from the BIC. Probabilities are the weighted mean of the
    models' probabilities, which is not the probability at the mean coefficients. Models that
    separate the classes have no largest likelihood; a tiny ridge holds them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> bma = BayesianModelAveragingClassifier().fit(X.iloc[:, :5], y)
    >>> bma.inclusion_probability_.round(2)
    array([0.41, 1.  , 0.73, 0.57, 1.  ])
    """

    _methods: ClassVar[list[str]] = ["auto", "enumerate", "branch_and_bound"]
    _most_subsets = 1_000

    def _average(
        self, rows: WeightedRows, moments: ScaledGram, choice: Choice, plan: ModelSearch
    ) -> None:
        scaled, scales = scaled_rows(rows)
        score = deviance_score(float(rows.weights.sum()), self.model_prior, choice)
        seconds = seconds_for(choice.n_subsets, *scaled.Z.shape)
        way = plan.method
        if way == "auto":
            way = "enumerate" if seconds <= CHEAP_SECONDS else "branch_and_bound"
        if way == "enumerate":
            plan.searcher.look_at_the_clock(choice, 1, seconds)
            kept, complete = choice.subsets(), True
        else:
            kept, complete = shortlist(scaled, choice, score, plan)
        _, losses = fit_all(scaled, choice.with_intercept(kept, rows.X.shape[1]))
        found = Found(kept, 2 * losses, complete)
        models, probability = weigh(found, choice, score, plan.window(way), strict=plan.strict)
        self._store_models(models, probability, choice)
        betas, _ = fit_all(scaled, choice.with_intercept(models.kept, rows.X.shape[1]))
        fits = Fits(betas, variances(scaled, betas))
        self._store_coefficients(fits, np.ones(len(betas)), scales)
        betas = unscale(betas, scales)
        self.model_intercept_, self.model_coef_ = betas[:, 0], betas[:, 1:]

    def _probability(self, X: Any) -> FloatArray:
        X = dense(self._checked(X))
        parts = [
            expit(X[rows] @ self.model_coef_.T + self.model_intercept_) @ self.model_probability_
            for rows in gen_batches(len(X), max(1, AT_ONCE // len(self.model_coef_)))
        ]
        return np.clip(np.concatenate(parts), 0.0, 1.0)


def deviance_score(n_rows: float, prior: str, choice: Choice) -> Score:
    """Return minus twice the log posterior of a deviance and a number of columns."""
    log_prior = model_prior(prior, len(choice.units))

    def score(deviance: FloatArray, size: IntArray) -> FloatArray:
        k = np.asarray(size)
        penalised = deviance + np.log(n_rows) * (k + 1) - 2 * log_prior(k - choice.n_always)
        return np.where(k + 1 < n_rows, penalised, np.inf)

    return score


def shortlist(
    rows: BinaryRows, choice: Choice, score: Score, plan: ModelSearch
) -> tuple[BoolArray, bool]:
    """Return the models that a quadratic approximation of the likelihood puts in the window.

    Around the model with all columns, dropping a set D raises the deviance by about
    β_D' (inverse information_DD)⁻¹ β_D: a least-squares problem.
    """
    beta, losses = fit_all(rows, np.ones((1, rows.Z.shape[1]), dtype=bool))
    hessian = rows.information(beta)[0]
    hessian += 1e-8 * rows.weights.sum() * np.eye(len(hessian))
    base, free = np.array(choice.forced), np.array([unit[0] for unit in choice.units])
    across = hessian[np.ix_(free, base)]
    gram = hessian[np.ix_(free, free)] - across @ np.linalg.solve(
        hessian[np.ix_(base, base)], across.T
    )
    cross = gram @ beta[0, free]
    problem = LeastSquares(gram, cross, float(2 * losses[0] + beta[0, free] @ cross))

    def shifted(deviance: FloatArray, size: IntArray) -> FloatArray:
        return score(deviance, size + choice.n_always)

    slack = 2 * np.log(WIDER * (plan.window("branch_and_bound") or 20.0))
    goal = WithinWindow(problem, shifted, choice.max_size, slack, plan.max_models)
    complete = plan.searcher.drive(search(problem, goal))
    return goal.kept, complete
