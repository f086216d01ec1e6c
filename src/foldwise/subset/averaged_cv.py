"""Averaging cross-validation: the mean of the models that did best on each fold."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.errors import invalid_parameter
from foldwise.subset.coefficients import least_squares_by_split
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.exhaustive import count_subsets
from foldwise.subset.lasso import best_lasso, lasso
from foldwise.subset.linear import LinearModel, LinearRegressor, deal
from foldwise.subset.moments import Moments, Split, all_rows, by_split
from foldwise.subset.search import Run, sweep
from foldwise.subset.sinks import BestByFold, members

CHEAP = 20_000_000
"""Fold-models that take about a second."""


class AveragedModel(LinearModel):
    """What averaged linear models of several folds have in common."""

    candidates: str
    fold_coef_: FloatArray
    fold_intercept_: FloatArray
    fold_support_: BoolArray
    fold_scores_: FloatArray
    selection_frequency_: FloatArray
    coef_sd_: FloatArray
    complete_: bool

    def _average(self, betas: FloatArray, support: BoolArray, scores: FloatArray) -> None:
        """Store the fold models (n_folds, 1 + n_features) and their mean."""
        self.fold_intercept_, self.fold_coef_ = betas[:, 0], betas[:, 1:]
        self.fold_support_ = support
        self.fold_scores_ = scores
        self.coef_ = self.fold_coef_.mean(axis=0)
        self.intercept_ = float(self.fold_intercept_.mean())
        self.selection_frequency_ = support.mean(axis=0)
        self.coef_sd_ = self.fold_coef_.std(axis=0, ddof=1)

    def _candidates(self, choice: Choice, max_size: int, n_folds: int, cheap: float) -> str:
        """Return "subsets" or "lasso"."""
        asked = self.candidates
        plain = len(choice.units) == self.n_features_in_
        if asked == "lasso" and not plain:
            raise invalid_parameter(
                type(self).__name__,
                "candidates",
                must="be 'subsets' where columns are forced or grouped",
                got=asked,
                fix="Drop forced and column_groups, or search subsets.",
            )
        if asked == "auto":
            few = count_subsets(choice.widths, max_size) * n_folds <= cheap
            return "subsets" if few or not plain else "lasso"
        return asked


class AveragedCVRegressor(LinearRegressor, AveragedModel):
    """The mean of the linear models that did best on each held-out fold.

    For every fold, the subset of columns with the lowest error on it is found among all subsets
    fitted without it; the coefficients of these subsets are averaged, zeros where a column was
    not chosen.

    It helps where many columns matter a little: there the folds choose differently, and their
    mean shrinks where a single choice would be all or nothing. Where few columns matter much it
    is worse than :class:`BestSubsetRegressor` by "bic" and than
    :class:`BayesianModelAveragingRegressor`, since a fold of few rows chooses noisily; more
    rows a fold and repeated folds help.

    Parameters
    ----------
    cv : int, splitter or iterable, default=10
        The folds, as in scikit-learn: an int makes contiguous folds. Repeated folds
        (``RepeatedKFold``) are averaged all together.
    refit : bool, default=True
        True refits each chosen subset on all rows, the published formula. False averages the
        coefficients of the training rows, as the code that came with the note did.
    candidates : {"auto", "subsets", "lasso"}, default="auto"
        Models to choose from on each fold: all subsets, or the penalties of a lasso path.
        "auto" takes subsets while that takes about a second.
    max_size : int or None, default=None
        Largest number of columns of a subset.
    forced : list of int or str, optional
        Columns in every subset, by position or name.
    column_groups : list of lists of int or str, optional
        Columns that come and go together.
    empty_model : bool, default=True
        Whether the model without any column is a candidate.
    fit_intercept : bool, default=True
        Whether every subset has an intercept; the lasso always has.
    n_alphas : int, default=100
        Number of penalties on the lasso path.
    time_limit : float or None, default=600.0
        Seconds; a search that would take longer is refused.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Mean coefficients.
    intercept_ : float
        Mean intercept.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the folds that chose each column.
    coef_sd_ : ndarray of shape (n_features,)
        Standard deviation of each coefficient over the folds. It shows how the folds disagree;
        it is no standard error.
    fold_coef_ : ndarray of shape (n_folds, n_features)
        Coefficients of each fold's model.
    fold_intercept_ : ndarray of shape (n_folds,)
        Intercepts of each fold's model.
    fold_support_ : ndarray of bool of shape (n_folds, n_features)
        Columns of each fold's model.
    fold_scores_ : ndarray of shape (n_folds,)
        Mean squared error of each fold's choice on its fold: the least of many, so too good.
    fold_alphas_ : ndarray of shape (n_folds,)
        With the lasso: the chosen penalties.
    candidates_ : str
        "subsets" or "lasso".
    complete_ : bool
        False when time or patience ran out before the search was finished.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    References
    ----------
    .. [1] Jung and Hu (2015). A K-fold averaging cross-validation procedure. Journal of
       Nonparametric Statistics 27(2), 167-179.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AveragedCVRegressor().fit(X, y)
    >>> model.feature_names_in_[model.selection_frequency_ > 0.7].tolist()
    ['sex', 'bmi', 'bp', 's1']
    >>> model.fold_coef_.shape
    (10, 10)
    """

    fold_alphas_: FloatArray
    candidates_: str

    _instead = "Use candidates='lasso', set max_size, or raise time_limit."

    def __init__(
        self,
        cv: Any = 10,
        *,
        refit: bool = True,
        candidates: str = "auto",
        max_size: int | None = None,
        forced: Iterable[Any] | None = None,
        column_groups: Iterable[Iterable[Any]] | None = None,
        empty_model: bool = True,
        fit_intercept: bool = True,
        n_alphas: int = 100,
        time_limit: float | None = 600.0,
        verbose: int = 0,
    ) -> None:
        self.cv = cv
        self.refit = refit
        self.candidates = candidates
        self.max_size = max_size
        self.forced = forced
        self.column_groups = column_groups
        self.empty_model = empty_model
        self.fit_intercept = fit_intercept
        self.n_alphas = n_alphas
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose a model on every fold and average them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Groups for the splitter in ``cv``.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_word("candidates", ["auto", "subsets", "lasso"])
        run = self._run()
        X, y, weights = self._read(X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        choice = choose_from(
            run.owner,
            X.shape[1],
            names,
            self.forced,
            self.column_groups,
            intercept=self.fit_intercept,
        )
        splits = deal(run.owner, self.cv, X, y, groups)
        n_free = sum(choice.widths)
        max_size = self._checked_max_size(n_free, n_free)
        self.candidates_ = self._candidates(choice, max_size, len(splits), CHEAP)
        if self.candidates_ == "subsets":
            self._fit_subsets(X, y, weights, splits, choice, max_size, run)
        else:
            self._fit_lasso(X, y, weights, splits)
        return self

    def _fit_subsets(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        splits: list[Split],
        choice: Choice,
        max_size: int,
        run: Run,
    ) -> None:
        train, test = by_split(X, y, weights, splits, centred=self.fit_intercept)
        sink = BestByFold(len(splits), empty_model=self.empty_model)
        self.complete_ = sweep(train.gram, test.gram, choice, max_size, sink, run)
        if (sink.ids < 0).any():
            raise KeyboardInterrupt
        kept = members(sink.ids, len(choice.units))
        grams = train.gram
        if self.refit:
            whole = all_rows(X, y, weights, centred=self.fit_intercept).gram
            grams = np.broadcast_to(whole, grams.shape)
        betas = least_squares_by_split(
            Moments(grams, train.centre, train.scale), [choice.columns(chosen) for chosen in kept]
        )
        errors = np.maximum(sink.errors, 0.0) * train.scale[-1] ** 2
        scores = errors / np.maximum(test.gram[:, 0, 0], 1e-300)
        self._average(betas, choice.support(kept, X.shape[1]), scores)

    def _fit_lasso(
        self, X: FloatArray, y: FloatArray, weights: FloatArray, splits: list[Split]
    ) -> None:
        chosen = [best_lasso(X, y, weights, split, self.n_alphas) for split in splits]
        self.fold_alphas_ = np.array([alpha for alpha, _, _ in chosen])
        betas = np.array([beta for _, beta, _ in chosen])
        if self.refit:
            descending, back = np.unique(-self.fold_alphas_, return_inverse=True)
            betas = lasso(X, y, weights, -descending)[back]
        held_out = np.array([weights[test].sum() for _, test in splits])
        scores = np.array([error for _, _, error in chosen]) / np.maximum(held_out, 1e-300)
        self.complete_ = True
        self._average(betas, betas[:, 1:] != 0, scores)
