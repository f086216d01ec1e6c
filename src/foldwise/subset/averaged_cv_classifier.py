"""Averaging cross-validation for two classes, by logistic regression."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from scipy.special import expit

from foldwise.arrays import BoolArray, FloatArray
from foldwise.subset.averaged_cv import AveragedModel
from foldwise.subset.binary import BinaryClassifier, list_subsets, scaled_columns, with_forced
from foldwise.subset.coefficients import unscale
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.exhaustive import count_subsets
from foldwise.subset.linear import deal
from foldwise.subset.logistic import fit_all, log_losses, seconds_for
from foldwise.subset.logistic_lasso import best_logistic_lasso, logistic_lasso
from foldwise.subset.moments import Split
from foldwise.subset.progress import drive
from foldwise.subset.search import Run, look_at_the_clock
from foldwise.subset.sinks import TIE

CHEAP_SECONDS = 2.0


class AveragedCVClassifier(BinaryClassifier, AveragedModel):
    """The mean of the logistic models that did best on each held-out fold.

    For every fold, the subset of columns with the lowest log loss on it is found among all
    subsets fitted without it; the coefficients of these subsets are averaged. When it helps and
    when it does not: see :class:`AveragedCVRegressor`.

    Parameters
    ----------
    cv : int, splitter or iterable, default=10
        The folds, as in scikit-learn: an int makes stratified folds.
    refit : bool, default=True
        Whether to refit each chosen model on all rows before averaging.
    candidates : {"auto", "subsets", "lasso"}, default="auto"
        Models to choose from on each fold: all subsets, or the penalties of a lasso path.
        "auto" takes subsets while that takes about two seconds.
    max_size : int or None, default=None
        Largest number of columns of a subset.
    forced : list of int or str, optional
        Columns in every subset, by position or name.
    column_groups : list of lists of int or str, optional
        Columns that come and go together.
    empty_model : bool, default=True
        Whether the model without any column is a candidate.
    n_alphas : int, default=50
        Number of penalties on the lasso path.
    time_limit : float or None, default=600.0
        Seconds; a search that would take longer is refused.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; coefficients are for the second.
    coef_ : ndarray of shape (n_features,)
        Mean coefficients.
    intercept_ : float
        Mean intercept.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the folds that chose each column.
    coef_sd_ : ndarray of shape (n_features,)
        Standard deviation of each coefficient over the folds.
    fold_coef_ : ndarray of shape (n_folds, n_features)
        Coefficients of each fold's model.
    fold_intercept_ : ndarray of shape (n_folds,)
        Intercepts of each fold's model.
    fold_support_ : ndarray of bool of shape (n_folds, n_features)
        Columns of each fold's model.
    fold_scores_ : ndarray of shape (n_folds,)
        Mean log loss of each fold's choice on its fold: the least of many, so too good.
    fold_alphas_ : ndarray of shape (n_folds,)
        With the lasso: the chosen penalties.
    candidates_ : str
        "subsets" or "lasso".
    complete_ : bool
        False when time or patience ran out before all folds had chosen.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    Notes
    -----
    All subsets of one fold are fitted together by Newton's method: ten columns and ten folds
    take about a second for a few hundred rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AveragedCVClassifier(cv=5).fit(X.iloc[:, :5], y)
    >>> model.selection_frequency_.tolist()
    [1.0, 1.0, 1.0, 0.8, 0.8]
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
        n_alphas: int = 50,
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
            Targets, two classes.
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
            run.owner, X.shape[1], names, self.forced, self.column_groups, intercept=True
        )
        splits = deal(run.owner, self.cv, X, y, groups, classifier=True)
        n_free = sum(choice.widths)
        max_size = self._checked_max_size(n_free, n_free)
        cheap = CHEAP_SECONDS / seconds_for(1, len(y), X.shape[1] + 1)
        self.candidates_ = self._candidates(choice, max_size, len(splits), cheap)
        if self.candidates_ == "subsets":
            self._fit_subsets(X, y, weights, splits, choice, max_size, run)
        else:
            self._fit_lasso(X, y, weights, splits, run)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log odds.
        """
        return self._linear_predictor(X)

    def _probability(self, X: Any) -> FloatArray:
        probability: FloatArray = expit(self._linear_predictor(X))
        return probability

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
        n_subsets = count_subsets(choice.widths, max_size)
        seconds = seconds_for(n_subsets * len(splits), len(y), X.shape[1] + 1)
        look_at_the_clock(choice, n_subsets, len(splits), seconds, run)
        Z, scales = scaled_columns(X, weights)
        kept = with_forced(choice, list_subsets(choice, max_size), X.shape[1])
        if not self.empty_model:
            kept = kept[1:]
        chosen: list[tuple[FloatArray, BoolArray, float]] = []
        steps = _choices(Z, y, weights, splits, kept, chosen)
        self.complete_ = drive(steps, run.owner, verbose=run.verbose, time_limit=run.time_limit)
        if not chosen:
            raise KeyboardInterrupt
        betas, support, losses = map(np.array, zip(*chosen, strict=True))
        if self.refit:
            betas, _ = fit_all(Z, y, weights, support)
        self._average(unscale(betas, scales), support[:, 1:], losses)

    def _fit_lasso(
        self, X: FloatArray, y: FloatArray, weights: FloatArray, splits: list[Split], run: Run
    ) -> None:
        chosen: list[tuple[float, FloatArray, float]] = []

        def steps() -> Iterator[float]:
            for split in splits:
                chosen.append(best_logistic_lasso(X, y, weights, split, self.n_alphas))
                yield len(chosen) / len(splits)

        self.complete_ = drive(steps(), run.owner, verbose=run.verbose, time_limit=run.time_limit)
        if not chosen:
            raise KeyboardInterrupt
        alphas, betas, losses = map(np.array, zip(*chosen, strict=True))
        self.fold_alphas_ = alphas
        if self.refit:
            descending, back = np.unique(-alphas, return_inverse=True)
            betas = logistic_lasso(X, y, weights, -descending)[back]
        held_out = [weights[test].sum() for _, test in splits[: len(chosen)]]
        self._average(betas, betas[:, 1:] != 0, losses / np.maximum(held_out, 1e-300))


def _choices(
    Z: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    splits: list[Split],
    kept: BoolArray,
    chosen: list[tuple[FloatArray, BoolArray, float]],
) -> Iterator[float]:
    """Append each fold's best model, its columns and its mean log loss to ``chosen``."""
    for train, test in splits:
        betas, _ = fit_all(Z[train], y[train], weights[train], kept)
        losses = log_losses(betas, Z[test], y[test], weights[test])
        first = int(np.flatnonzero(losses <= losses.min() * (1 + TIE) + 1e-300)[0])
        loss = float(losses[first]) / max(float(weights[test].sum()), 1e-300)
        chosen.append((betas[first], kept[first], loss))
        yield len(chosen) / len(splits)
