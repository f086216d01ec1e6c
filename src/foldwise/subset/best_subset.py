"""The linear model on the best subset of columns."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.subset.coefficients import least_squares
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Score, TargetSummary, criterion
from foldwise.subset.linear import LinearRegressor, splits_of
from foldwise.subset.moments import ScaledGram, all_rows, by_split
from foldwise.subset.search import (
    Searcher,
    all_subsets,
    best_of_each_size,
    best_within,
    describe,
    sweep,
)
from foldwise.subset.sinks import TIE, BestBySize, Everything, members

CRITERIA = ["aic", "aicc", "bic", "cp", "adjusted_r2"]
# Up to this many columns "auto" finds the best of each size too.
CHEAP_COLUMNS = 35
MOST_SUBSETS = 200_000


@dataclass(eq=False, repr=False)
class BestSubsetRegressor(LinearRegressor):
    """Linear regression on the subset of columns that a criterion likes best.

    The search is exact: every subset is tried, or proven not to be the best. Use it when
    few of a moderate number of columns matter and you want to say which. When many columns
    matter a little each, choosing any subset hurts: use ridge regression or
    :class:`AveragedCVRegressor`; when the choice is uncertain,
    :class:`BayesianModelAveragingRegressor` predicts better and says how uncertain.

    Parameters
    ----------
    criterion : {"bic", "aic", "aicc", "cp", "adjusted_r2", "cv"}, default="bic"
        What to choose by. "cv" is the squared error of K-fold cross-validation of every
        subset; the others weigh the fit against the number of columns.
    cv : int, splitter or iterable, default=5
        Folds for ``criterion="cv"``. An int deals that many shuffled folds, always the same
        ones; groups stay together. For others give a splitter or the splits: ``KFold(5)`` makes
        contiguous folds.
    max_size : int or None, default=None
        Largest number of columns. None is all of them, or, where the columns are linearly
        dependent, as many as can be searched.
    forced : list of int or str, optional
        Columns in every model, by position or name. They do not count in ``max_size``.
    column_groups : list of lists of int or str, optional
        Columns that come and go together, such as the dummies of a category.
    empty_model : bool, default=True
        Whether the model without any column is a candidate.
    fit_intercept : bool, default=True
        Whether every model has an intercept.
    each_size : bool or "auto", default="auto"
        Whether to find the best of each size too, for ``best_by_size_``. "auto" does up to 35
        columns; the single best takes a fraction of the time.
    keep_all : bool, default=False
        Whether to keep the table of all subsets in ``all_subsets_``.
    time_limit : float or None, default=600.0
        Seconds. A sweep that would take longer is refused; branch and bound stops with the best
        so far.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients; zero for columns that were not chosen.
    intercept_ : float
        Intercept.
    support_ : ndarray of bool of shape (n_features,)
        Which columns were chosen.
    best_score_ : float
        The criterion of the chosen model; for "cv" the mean squared error over held-out rows,
        which is the least of many and so too good: for choosing, never a score.
    best_by_size_ : DataFrame
        The best model of each size, its columns and criteria; for "cv" the mean squared error
        over held-out rows and its standard error from the folds, curves for choosing.
    all_subsets_ : DataFrame
        With ``keep_all``: one row a subset, a column a feature, its size and its residual sum
        of squares (``rss``) or its held-out mean squared error (``mse``).
    complete_ : bool
        False when time or patience ran out before the search was finished.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    Notes
    -----
    ``criterion="cv"`` sweeps all 2^p subsets, about 20 million fold-models a second: p = 20 with
    ten folds takes half a second, p = 25 a quarter of a minute. The others are found by branch
    and bound: p = 40 in milliseconds for the best, seconds for the best of each size.

    Whole weights count rows: a weight of 2 is the row twice. Other weights only compare rows,
    which count once on average, so that their unit means nothing; divide whole weights by their
    mean where they are meant like that. Rows of weight zero are left out before all else.

    Ties go to the smaller model, then to the one whose columns come first. A column that is a
    linear combination of chosen ones before it gets a zero coefficient, as in R.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> best = BestSubsetRegressor().fit(X, y)
    >>> best.feature_names_in_[best.support_].tolist()
    ['sex', 'bmi', 'bp', 's3', 's5']
    >>> best.best_by_size_.loc[:3, ["size", "columns", "bic"]].round(1)
       size        columns     bic
    0     0             ()  5106.5
    1     1         (bmi,)  4926.3
    2     2      (bmi, s5)  4846.8
    3     3  (bmi, bp, s5)  4835.7
    """

    _instead = "Set max_size, choose by criterion='bic', or raise time_limit."
    _instead_of_sweeping = "Set max_size, drop keep_all and column_groups, or raise time_limit."

    criterion: str = "bic"
    _: KW_ONLY
    cv: Any = 5
    column_groups: Iterable[Iterable[Any]] | None = None
    empty_model: bool = True
    fit_intercept: bool = True
    each_size: bool | str = "auto"
    keep_all: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the best subset and fit it on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, in whole numbers, or else what it weighs beside others.
        groups : array-like of shape (n_samples,), optional
            Groups that an int ``cv`` keeps together, or for the splitter in ``cv``.

        Returns
        -------
        Self
            The fitted estimator.
        """
        searcher = self._searcher()
        check_word(searcher.owner, "criterion", self.criterion, [*CRITERIA, "cv"])
        given = self._read(X, y, sample_weight, groups)
        rows = given.rows
        moments = all_rows(rows, centred=self.fit_intercept)
        choice = self._searchable(moments)
        wanted = Wanted(self.empty_model, self._finds_each_size(choice), self.keep_all)
        if self.criterion == "cv":
            splits = splits_of(searcher.owner, self.cv, given)
            train, test = by_split(rows, splits, centred=self.fit_intercept)
            selected = by_cross_validation(train, test, choice, wanted, searcher)
        else:
            searcher = replace(searcher, instead=self._instead_of_sweeping)
            selected = by_criterion(self.criterion, moments, choice, wanted, searcher)
        names = self._names()
        beta = least_squares(moments, choice.columns(selected.kept))
        self.intercept_, self.coef_ = float(beta[0]), beta[1:]
        self.support_ = choice.support(selected.kept[None], len(names))[0]
        self.best_score_ = selected.score
        self.best_by_size_ = named_table(selected, choice, names)
        self.__dict__.pop("all_subsets_", None)
        if selected.every is not None:
            kept, errors = selected.every
            inside = choice.support(kept, len(names))
            every = pd.DataFrame(inside, columns=names)
            self.all_subsets_ = every.assign(size=inside.sum(axis=1), **errors)
        self.complete_ = selected.complete
        return self

    def _finds_each_size(self, choice: Choice) -> bool:
        if self.each_size not in (True, False, "auto"):
            must, got, fix = "be True, False or 'auto'", self.each_size, "Leave it at 'auto'."
            raise invalid_parameter(type(self).__name__, "each_size", must=must, got=got, fix=fix)
        few = len(choice.units) <= CHEAP_COLUMNS
        return few if self.each_size == "auto" else bool(self.each_size)

    def _searchable(self, moments: ScaledGram) -> Choice:
        """Return what to choose from, up to a size that can be searched."""
        choice = self._choice(moments, MOST_SUBSETS)
        if not self.empty_model and choice.max_size == 0:
            must = "have rows and columns for a model when empty_model is False"
            got, fix = Plain(f"{moments.n_columns} columns"), "Set empty_model=True."
            raise invalid_data(type(self).__name__, "X", must=must, got=got, fix=fix)
        return choice


class Wanted(NamedTuple):
    """How thoroughly to choose."""

    empty_model: bool = True  # whether the subset without any unit may win
    each_size: bool = True  # whether the best of every size is wanted
    keep_all: bool = False  # whether all subsets are wanted


class Selected(NamedTuple):
    """The chosen subset and its rivals."""

    kept: BoolArray  # the chosen units
    score: float  # its criterion
    rivals: BoolArray  # (n_rivals, n_units): the best subset of each size, or the chosen one alone
    rivals_table: pd.DataFrame  # their criteria
    every: tuple[BoolArray, pd.DataFrame] | None  # all subsets and their errors
    complete: bool  # whether the search was finished


def by_criterion(
    name: str, moments: ScaledGram, choice: Choice, wanted: Wanted, searcher: Searcher
) -> Selected:
    """Return the best subset by an information criterion, Cp or adjusted R²."""
    sample = describe(moments, choice)
    if name == "cp" and not sample.noise > 0:
        must = "leave rows and noise to spare with all columns for criterion 'cp'"
        got = Plain(f"{moments.n_columns} columns and {sample.n_rows:g} rows")
        raise invalid_data(searcher.owner, "X", must=must, got=got, fix="Use criterion='bic'.")
    score = criterion(name, sample)
    if not wanted.empty_model:
        score = _without_empty(score, choice)
    every = None
    if wanted.keep_all:
        subsets = all_subsets(moments, choice, searcher)
        every = subsets.kept, pd.DataFrame({"rss": subsets.rss})
    if wanted.each_size:
        found = best_of_each_size(moments, choice, searcher)
    else:
        found = best_within(moments, choice, score, searcher)
    sizes = choice.sizes(found.kept)
    scores = score(found.rss, sizes)
    best = _first_lowest(scores)
    table = criteria_table(found.rss, sizes, sample)
    listed = np.isfinite(scores) | wanted.empty_model
    chosen, lowest = found.kept[best], float(table[name][best])
    return Selected(chosen, lowest, found.kept[listed], table[listed], every, found.complete)


def by_cross_validation(
    train: ScaledGram, test: ScaledGram, choice: Choice, wanted: Wanted, searcher: Searcher
) -> Selected:
    """Return the best subset by the squared error over held-out rows."""
    weights = test.gram[:, 0, 0]
    by_size, everything = BestBySize(choice.max_size), Everything()
    sinks = [by_size, everything] if wanted.keep_all else [by_size]
    complete = sweep(train.gram, test.gram, choice, searcher, *sinks)
    sizes = np.flatnonzero((by_size.ids > 0) | (by_size.ids == 0) & wanted.empty_model)
    if not len(sizes):
        raise KeyboardInterrupt
    kept = members(by_size.ids[sizes], len(choice.units))
    errors = np.array([by_size.fold_errors[int(size)] for size in sizes]) * train.scale[-1] ** 2
    means, mse = errors / weights, errors.sum(axis=1) / weights.sum()
    # The spread of the folds, heavier ones counting more, as along the paths of the lasso.
    spread = (means - mse[:, None]) ** 2 @ (weights / weights.sum())
    mse_se = np.sqrt(spread / (len(weights) - 1))
    table = pd.DataFrame({"size": choice.sizes(kept), "mse": mse, "mse_se": mse_se})
    best = _first_lowest(table["mse"].to_numpy())
    every = None
    if wanted.keep_all:
        subsets, totals = everything.table(len(choice.units))
        mse = np.maximum(totals, 0.0) * train.scale[-1] ** 2 / weights.sum()
        every = subsets, pd.DataFrame({"mse": mse})
    return Selected(kept[best], float(table["mse"][best]), kept, table, every, complete)


def criteria_table(rss: FloatArray, sizes: IntArray, sample: TargetSummary) -> pd.DataFrame:
    """Return the criteria of some models; Cp only where the full model has rows to spare."""
    table = pd.DataFrame({"size": sizes, "rss": rss, "r2": 1 - rss / (sample.total or 1.0)})
    for name in CRITERIA:
        table[name] = criterion(name, sample)(rss, sizes)
    table["adjusted_r2"] *= -1
    return table


def named_table(selected: Selected, choice: Choice, names: Array) -> pd.DataFrame:
    """Return the table of rivals with the names of their columns."""
    table = selected.rivals_table.reset_index(drop=True)
    inside = choice.support(selected.rivals, len(names))
    table.insert(1, "columns", [tuple(names[row].tolist()) for row in inside])
    return table


def _without_empty(score: Score, choice: Choice) -> Score:
    def checked(rss: FloatArray, size: IntArray) -> FloatArray:
        return np.where(np.asarray(size) > choice.n_always, score(rss, size), np.inf)

    return checked


def _first_lowest(scores: FloatArray) -> int:
    """Return the first of the lowest scores, rounding aside."""
    lowest = np.nanmin(scores)
    return int(np.flatnonzero(scores <= lowest + TIE * max(1e-300, abs(lowest)))[0])
