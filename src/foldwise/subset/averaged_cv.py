"""Averaging cross-validation: the mean of the models that did best on each fold."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.base import is_classifier

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.checks import check_word
from foldwise.errors import invalid_parameter
from foldwise.paths import lasso_path
from foldwise.subset.coefficients import least_squares_by_split, unscale
from foldwise.subset.columns import Choice
from foldwise.subset.linear import LinearClassifier, LinearModel, LinearRegressor, splits_of
from foldwise.subset.logistic import ClassRows, fit_all, scaled_rows, seconds_for
from foldwise.subset.moments import ScaledGram, Split, SubsetRows, all_rows, by_split
from foldwise.subset.search import Searcher, sweep
from foldwise.subset.sinks import TIE, BestByFold, members

# Fold-models of least squares that take about a second.
CHEAP = 20_000_000
# For logistic regression.
CHEAP_SECONDS = 2.0


class ChosenByFold(NamedTuple):
    """The models that the folds chose."""

    betas: FloatArray  # (n_folds, 1 + n_features): intercepts and coefficients
    support: BoolArray  # (n_folds, n_features)
    scores: FloatArray  # mean losses on the folds
    complete: bool  # whether the search was finished
    alphas: FloatArray | None = None  # penalties of the lasso


def _fold_by_fold(
    choices: Iterator[tuple[Any, ...]], n_folds: int, searcher: Searcher
) -> tuple[list[Array], bool]:
    """Return what is chosen on the folds, and whether all of them had their turn."""
    chosen: list[tuple[Any, ...]] = []

    def steps() -> Iterator[float]:
        for choice in choices:
            chosen.append(choice)
            yield len(chosen) / n_folds

    complete = searcher.drive(steps())
    if not chosen:
        raise KeyboardInterrupt
    return [np.array(part) for part in zip(*chosen, strict=True)], complete


@dataclass(eq=False, repr=False)
class AveragedCV(LinearModel):
    """What averaging cross-validation of linear and of logistic models have in common."""

    _loss: ClassVar[str]
    _instead = "Use candidates='lasso', set max_size, or raise time_limit."
    fit_intercept = True  # the classifier has no such parameter

    cv: Any = 10
    _: KW_ONLY
    refit: bool = True
    candidates: str = "auto"
    column_groups: Iterable[Iterable[Any]] | None = None
    empty_model: bool = True
    n_alphas: int = 50

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose a model on every fold and average them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets; of two classes for the classifier.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Their unit means nothing; rows of weight zero are left out
            before folds are dealt.
        groups : array-like of shape (n_samples,), optional
            Groups that an int ``cv`` keeps together, or for the splitter in ``cv``.

        Returns
        -------
        Self
            The fitted estimator.
        """
        searcher = self._searcher()
        check_word(searcher.owner, "candidates", self.candidates, ["auto", "subsets", "lasso"])
        given = self._read(X, y, sample_weight, groups)
        rows, choice = given.rows, self._choice()
        splits = splits_of(searcher.owner, self.cv, given, classifier=is_classifier(self))
        self.candidates_ = self._which(choice, len(splits), len(rows.y))
        if self.candidates_ == "subsets":
            found = self._best_subsets(rows, splits, choice, searcher)
        else:
            found = self._best_lassos(rows, splits, searcher)
        self.fold_intercept_, self.fold_coef_ = found.betas[:, 0], found.betas[:, 1:]
        self.fold_support_, self.fold_scores_ = found.support, found.scores
        self.complete_ = found.complete
        self.__dict__.pop("fold_alphas_", None)
        if found.alphas is not None:
            self.fold_alphas_ = found.alphas
        self.coef_ = self.fold_coef_.mean(axis=0)
        self.intercept_ = float(self.fold_intercept_.mean())
        self.selection_frequency_ = found.support.mean(axis=0)
        # One fold alone, where time or patience ran out, has no spread.
        alone, unknown = len(self.fold_coef_) == 1, np.full(self.n_features_in_, np.nan)
        self.coef_sd_ = unknown if alone else self.fold_coef_.std(axis=0, ddof=1)
        return self

    def _which(self, choice: Choice, n_folds: int, n_rows: int) -> str:
        """Return "subsets" or "lasso"."""
        plain = len(choice.units) == self.n_features_in_
        if self.candidates == "lasso" and not plain:
            must, got = "be 'subsets' where columns are forced or grouped", self.candidates
            fix = "Drop forced and column_groups, or search subsets."
            raise invalid_parameter(type(self).__name__, "candidates", must=must, got=got, fix=fix)
        if self.candidates != "auto":
            return self.candidates
        few = choice.n_subsets * n_folds <= self._cheap(n_rows)
        return "subsets" if few or not plain else "lasso"

    def _best_lassos(
        self, rows: SubsetRows, splits: list[Split], searcher: Searcher
    ) -> ChosenByFold:
        """Return each fold's best penalty and what it gives."""
        best = (best_lasso(rows, split, self.n_alphas, self._loss) for split in splits)
        (alphas, betas, scores), complete = _fold_by_fold(best, len(splits), searcher)
        if self.refit:
            # Folds that chose alike are refitted once; a path wants its penalties falling.
            rising, back = np.unique(-alphas, return_inverse=True)
            betas = lasso(rows, -rising, self._loss)[back]
        return ChosenByFold(betas, betas[:, 1:] != 0, scores, complete, alphas)


@dataclass(eq=False, repr=False)
class AveragedCVRegressor(LinearRegressor, AveragedCV):
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
        An int deals that many shuffled folds, always the same ones; groups stay together. For
        others give a splitter or the splits: ``KFold(10)`` makes the contiguous folds of the
        note, ``RepeatedKFold()`` repeated ones, which are averaged all together.
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
        Mean squared error of each fold's choice on its fold: what was chosen by, the least of
        many and so too good, never a score.
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
    ['bp', 's5']
    >>> model.fold_coef_.shape
    (10, 10)
    """

    _loss = "squared"

    _: KW_ONLY
    fit_intercept: bool = True
    n_alphas: int = 100

    def _cheap(self, n_rows: int) -> float:
        return CHEAP

    def _best_subsets(
        self, rows: SubsetRows, splits: list[Split], choice: Choice, searcher: Searcher
    ) -> ChosenByFold:
        train, test = by_split(rows, splits, centred=self.fit_intercept)
        sink = BestByFold(len(splits), empty_model=self.empty_model)
        complete = sweep(train.gram, test.gram, choice, searcher, sink)
        if (sink.ids < 0).any():
            raise KeyboardInterrupt
        kept = members(sink.ids, len(choice.units))
        grams = train.gram
        if self.refit:
            whole = all_rows(rows, centred=self.fit_intercept).gram
            grams = np.broadcast_to(whole, grams.shape)
        moments = ScaledGram(grams, train.centre, train.scale)
        betas = least_squares_by_split(moments, [choice.columns(chosen) for chosen in kept])
        errors = np.maximum(sink.errors, 0.0) * train.scale[-1] ** 2
        scores = errors / test.gram[:, 0, 0]
        return ChosenByFold(betas, choice.support(kept, self.n_features_in_), scores, complete)


class AveragedCVClassifier(LinearClassifier, AveragedCV):
    """The mean of the logistic models that did best on each held-out fold.

    For every fold, the subset of columns with the lowest log loss on it is found among all
    subsets fitted without it; the coefficients of these subsets are averaged. When it helps and
    when it does not: see :class:`AveragedCVRegressor`.

    Parameters
    ----------
    cv : int, splitter or iterable, default=10
        An int deals that many shuffled folds, always the same ones; groups stay
        together. For others give a splitter or the splits.
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
        Mean log loss of each fold's choice on its fold: what was chosen by, the least of many
        and so too good, never a score.
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
    [0.8, 1.0, 0.8, 0.8, 1.0]
    """

    _loss = "logistic"
    _several_classes = False

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
        return self._linear(X)

    def _probabilities(self, X: Any) -> FloatArray:
        second = expit(self._linear(X))
        return np.column_stack([1 - second, second])

    def _cheap(self, n_rows: int) -> float:
        return CHEAP_SECONDS / seconds_for(1, n_rows, self.n_features_in_ + 1)

    def _best_subsets(
        self, rows: SubsetRows, splits: list[Split], choice: Choice, searcher: Searcher
    ) -> ChosenByFold:
        scaled, scales = scaled_rows(rows)
        seconds = seconds_for(choice.n_subsets * len(splits), *scaled.Z.shape)
        searcher.look_at_the_clock(choice, len(splits), seconds)
        kept = choice.with_intercept(choice.subsets(), self.n_features_in_)
        if not self.empty_model:
            kept = kept[1:]
        best = (_best_logistic(scaled, split, kept) for split in splits)
        (betas, support, scores), complete = _fold_by_fold(best, len(splits), searcher)
        if self.refit:
            betas, _ = fit_all(scaled, support)
        return ChosenByFold(unscale(betas, scales), support[:, 1:], scores, complete)


def _best_logistic(
    rows: ClassRows, split: Split, kept: BoolArray
) -> tuple[FloatArray, BoolArray, float]:
    """Return one fold's best model, its columns and its mean log loss."""
    train, test = map(rows.take, split)
    betas, _ = fit_all(train, kept)
    losses = test.losses(betas)
    # The first within rounding: the smallest, since that is the order of the subsets.
    first = int(np.flatnonzero(losses <= losses.min() * (1 + TIE) + 1e-300)[0])
    return betas[first], kept[first], float(losses[first] / test.weights.sum())


# Logistic paths are solved by Newton's method, to this share of the loss of the best constant;
# those of squared error are exact.
TOLERANCE = 1e-16


def best_lasso(
    rows: SubsetRows, split: Split, n_alphas: int, loss: str
) -> tuple[float, FloatArray, float]:
    """Return the best penalty for one fold, its coefficients and its mean loss on the test rows.

    ``loss`` is "squared" or, for targets 0 and 1, "logistic".
    """
    train, test = map(rows.take, split)
    alphas = penalties(train, n_alphas)
    betas = lasso(train, alphas, loss)
    Z = np.column_stack([np.ones(len(test.y)), test.X])
    if loss == "logistic":
        errors = ClassRows(Z, test.y, test.weights).losses(betas)
    else:
        errors = (test.y - betas @ Z.T) ** 2 @ test.weights
    best = int(np.argmin(errors))
    return float(alphas[best]), betas[best], errors[best] / test.weights.sum()


def standardised(rows: SubsetRows) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X centred and scaled, its means and its scales; constant columns become zero."""
    means = np.average(rows.X, axis=0, weights=rows.weights)
    X = rows.X - means
    scale = np.sqrt(np.average(X**2, axis=0, weights=rows.weights))
    scale[scale <= 1e-12 * np.abs(X).max(axis=0, initial=1.0)] = np.inf
    return X / scale, means, scale


def penalties(rows: SubsetRows, n_alphas: int) -> FloatArray:
    """Return penalties from the one that leaves the model empty down to a thousandth of it.

    With more columns than rows down to a hundredth: below, the model just repeats the target.
    """
    Z, _, _ = standardised(rows)
    y, total = rows.y - np.average(rows.y, weights=rows.weights), rows.weights.sum()
    largest = np.abs(Z.T @ (rows.weights * y)).max(initial=0.0) / total
    lowest = -3 if total > Z.shape[1] else -2
    return (largest or 1.0) * np.logspace(0, lowest, n_alphas)


def lasso(rows: SubsetRows, alphas: FloatArray, loss: str) -> FloatArray:
    """Return intercepts and coefficients (n_alphas, n_features + 1) at falling penalties."""
    Z, means, scale = standardised(rows)
    path = lasso_path(
        Z, rows.y, loss=loss, sample_weight=rows.weights, lambdas=alphas, tol=TOLERANCE
    )
    coefs = path.coefs / scale
    return np.column_stack([path.intercepts - coefs @ means, coefs])
