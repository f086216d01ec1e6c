"""Linear regression averaged over models by their posterior probabilities."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray
from foldwise.checks import check_number, check_word
from foldwise.subset.bma import BayesianModelAveraging, ModelSearch, find_models
from foldwise.subset.coefficients import Reduced, residual_sum
from foldwise.subset.columns import Choice
from foldwise.subset.linear import LinearRegressor, dense
from foldwise.subset.moments import ScaledGram, SubsetRows
from foldwise.subset.posterior import bic_score, g_score, local_g, mixture_quantile, model_prior
from foldwise.subset.search import describe

AT_ONCE = 1_000_000
# Share of the posterior that predictive distributions leave out.
IGNORED = 1e-4


class Parts(NamedTuple):
    """The models behind a fitted estimator, in scaled units."""

    reduced: Reduced  # the least-squares problem
    moments: ScaledGram  # products of all columns
    kept: BoolArray  # (n_models, n_units): the models
    shrink: FloatArray  # how much each shrinks
    noise: FloatArray  # its noise variance
    df: FloatArray  # its degrees of freedom
    beta: FloatArray  # its coefficients


@dataclass(eq=False, repr=False)
class BayesianModelAveragingRegressor(LinearRegressor, BayesianModelAveraging):
    """The mean of all linear models, weighted by how probable the data make them.

    It helps where few of the columns matter and it is unclear which: the mean predicts better
    than any chosen model, and the inclusion probabilities say how sure one can be of each
    column. Where all columns matter a little, it leaves out too much: use ridge regression or
    :class:`AveragedCVRegressor`. Its probabilities assume that one of the models is true; if
    none is, stacking (:class:`~foldwise.StackingRegressor`) weighs models better.

    Parameters
    ----------
    prior : {"bic", "g"}, default="bic"
        "bic" takes the marginal likelihood from the BIC and the coefficients from least
        squares; "g" uses Zellner's g-prior, which shrinks them by g / (1 + g).
    g : float or {"bric", "uip", "ric", "eb"}, default="bric"
        For ``prior="g"``: "uip" is the number of rows, "ric" the number of columns squared,
        "bric" the larger of both, "eb" the most likely value for each model.
    model_prior : {"uniform", "beta_binomial"}, default="uniform"
        All models alike, or all sizes alike.
    occam_ratio : float, None or "auto", default="auto"
        Occam's window: models less probable than the best by more than this are left out.
        None keeps all; "auto" keeps all where they can be enumerated, and is 20 otherwise.
    strict : bool, default=False
        Whether to leave out models that have a more probable submodel as well.
    method : {"auto", "enumerate", "branch_and_bound", "mc3"}, default="auto"
        How to find the models. "auto" enumerates up to a million, finds all in Occam's window
        by branch and bound up to 40 columns, and walks at random beyond.
    max_size : int or None, default=None
        Largest number of columns. None is all of them, or, where they are linearly dependent,
        as many as can be searched.
    forced : list of int or str, optional
        Columns in every model, by position or name.
    max_models : int, default=10000
        Most models to keep when they are not enumerated.
    n_steps : int, default=20000
        Steps of the random walk.
    random_state : int, RandomState or None, default=None
        Seed of the random walk.
    time_limit : float or None, default=600.0
        Seconds; see :class:`BestSubsetRegressor`.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients, counting zero where a column is not in the model.
    intercept_ : float
        Posterior mean of the intercept.
    coef_sd_ : ndarray of shape (n_features,)
        Posterior standard deviation, the uncertainty about the model included.
    conditional_coef_ : ndarray of shape (n_features,)
        Posterior mean given that the column is in the model.
    conditional_coef_sd_ : ndarray of shape (n_features,)
        Its standard deviation.
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that the column is in the model.
    model_support_ : ndarray of bool of shape (n_models, n_features)
        The models, most probable first.
    model_probability_ : ndarray of shape (n_models,)
        Their posterior probabilities; they sum to one.
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
    Whole weights count rows: a weight of 2 is the row twice. Other weights only compare rows,
    which count once on average, so that their unit means nothing; divide whole weights by their
    mean where they are meant like that. Rows of weight zero are left out before all else.

    Models that together have less than 1e-13 of the posterior are dropped.

    References
    ----------
    .. [1] Raftery, Madigan and Hoeting (1997). Bayesian model averaging for linear regression
       models.
    .. [2] Fernández, Ley and Steel (2001). Benchmark priors for Bayesian model averaging.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bma = BayesianModelAveragingRegressor().fit(X, y)
    >>> bma.feature_names_in_[bma.inclusion_probability_ > 0.5].tolist()
    ['sex', 'bmi', 'bp', 's1', 's3', 's5']
    >>> bma.predict_interval(X.iloc[:1], 0.9).round()
    array([[116., 297.]])
    """

    _methods: ClassVar[list[str]] = ["auto", "enumerate", "branch_and_bound", "mc3"]
    _most_subsets = 200_000

    prior: str = "bic"
    _: KW_ONLY
    g: float | str = "bric"
    model_prior: str = "uniform"
    max_models: int = 10_000
    n_steps: int = 20_000
    random_state: Any = None

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the posterior mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.
        return_std : bool, default=False
            Whether to return the standard deviation of new observations as well.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictions.
        std : ndarray of shape (n_samples,)
            With ``return_std``: infinite where a model has fewer than three rows to spare.
        """
        mean = self._linear(X)
        if not return_std:
            return mean
        return mean, np.concatenate([self._std(*part) for part in self._mixtures(X)])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Return intervals that hold new observations with the given probability.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.
        coverage : float, default=0.9
            Probability, half of the rest on either side.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends: quantiles of the mixture of the predictive t distributions of
            the models that have 99.99 % of the posterior.
        """
        check_number(type(self).__name__, "coverage", coverage, above=0, below=1, try_=0.9)
        levels = (1 - coverage) / 2, (1 + coverage) / 2
        ends = [
            np.column_stack([mixture_quantile(level, *part) for level in levels])
            for part in self._mixtures(X)
        ]
        return np.concatenate(ends)

    def _average(
        self, rows: SubsetRows, moments: ScaledGram, choice: Choice, plan: ModelSearch
    ) -> None:
        forced = np.array(choice.forced, dtype=np.intp)
        base_rss = residual_sum(moments, forced) or 1.0
        spare = float(moments.n_rows - len(forced))
        log_prior, n_always = model_prior(self.model_prior, len(choice.units)), choice.n_always
        if self.prior == "bic":
            score = bic_score(describe(moments, choice), log_prior, n_always)
        else:
            g = self._g(moments)
            score = g_score(g, base_rss, spare, log_prior, n_always)
        models, probability = find_models(moments, choice, score, plan)
        self._store_models(models, probability, choice)
        sizes = models.kept.sum(axis=1)
        if self.prior == "bic":
            shrink, df = np.ones(len(sizes)), spare - sizes
            noise = models.rss / df / moments.scale[-1] ** 2
            # The variances of least squares, as R's bicreg has them.
            spread = noise
        else:
            left, df = models.rss / base_rss, np.full(len(sizes), spare)
            used = local_g(left, sizes, spare) if g is None else np.full(len(sizes), g)
            shrink = used / (1 + used)
            noise = base_rss * (1 - shrink * (1 - left)) / spare / moments.scale[-1] ** 2
            # Under a g-prior the coefficients have t distributions.
            spread = noise * df / np.maximum(df - 2, 1e-300)
        reduced = Reduced.of(moments, choice)
        fits = reduced.fits(models.kept, shrink)
        self._parts = Parts(reduced, moments, models.kept, shrink, noise, df, fits.beta)
        self._store_coefficients(fits, spread, moments)

    def _plan(self) -> ModelSearch:
        check_word(type(self).__name__, "prior", self.prior, ["bic", "g"])
        return super()._plan()

    def _std(
        self, weights: FloatArray, means: FloatArray, scales: FloatArray, df: FloatArray
    ) -> FloatArray:
        inflation = np.where(df > 2, df / np.maximum(df - 2, 1e-300), np.inf)
        mean = means @ weights
        return np.sqrt((scales**2 * inflation + (means - mean[:, None]) ** 2) @ weights)

    def _mixtures(self, X: Any) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Give weights, means, scales and degrees of freedom, some rows at a time."""
        X = dense(self._checked(X))
        parts, moments = self._parts, self._parts.moments
        n_models = 1 + int(np.searchsorted(np.cumsum(self.model_probability_), 1 - IGNORED))
        weights = self.model_probability_[:n_models] / self.model_probability_[:n_models].sum()
        df, shrink, noise = (a[:n_models] for a in (parts.df, parts.shrink, parts.noise))
        kept, beta = parts.kept[:n_models], parts.beta[:n_models]
        for rows in gen_batches(len(X), max(1, AT_ONCE // n_models)):
            Z = np.column_stack([np.ones(len(X[rows])), X[rows]]) - moments.centre[:-1]
            Z /= moments.scale[:-1]
            means = moments.centre[-1] + moments.scale[-1] * (Z @ beta.T)
            leverages = parts.reduced.leverages(Z, kept, shrink)
            yield weights, means, moments.scale[-1] * np.sqrt(noise * (1 + leverages)), df

    def _g(self, moments: ScaledGram) -> float | None:
        """Return Zellner's g; None for the most likely one of each model."""
        n_rows, squares = float(moments.n_rows), float(moments.n_columns**2)
        words = {"bric": max(n_rows, squares), "uip": n_rows, "ric": squares, "eb": None}
        owner = type(self).__name__
        if isinstance(self.g, str):
            check_word(owner, "g", self.g, words)
            return words[self.g]
        check_number(owner, "g", self.g, above=0, fix="Try 'bric'.")
        return float(self.g)
