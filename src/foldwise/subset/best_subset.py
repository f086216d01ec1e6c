"""The linear model on the best subset of columns."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import pandas as pd

from foldwise.arrays import BoolArray
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.subset.coefficients import least_squares
from foldwise.subset.columns import choose_from
from foldwise.subset.linear import LinearRegressor, deal
from foldwise.subset.moments import Moments, all_rows, by_split
from foldwise.subset.search import largest_size
from foldwise.subset.selection import (
    CRITERIA,
    Task,
    by_criterion,
    by_cross_validation,
    named_table,
    whole_table,
)

CHEAP_COLUMNS = 35
MOST_SUBSETS = 200_000


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
        Folds for ``criterion="cv"``, as in scikit-learn.
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
        The criterion of the chosen model: the mean squared error over held-out rows for "cv".
    best_by_size_ : DataFrame
        The best model of each size, its columns and criteria.
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

    Weights count rows: a weight of 2 is the row twice. Ties go to the smaller model, then to the
    one whose columns come first. A column that is a linear combination of chosen ones before it
    gets a zero coefficient, as in R.

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

    support_: BoolArray
    best_score_: float
    best_by_size_: pd.DataFrame
    all_subsets_: pd.DataFrame
    complete_: bool

    _instead = "Set max_size, choose by criterion='bic', or raise time_limit."
    _instead_of_sweeping = "Set max_size, drop keep_all and column_groups, or raise time_limit."

    def __init__(
        self,
        criterion: str = "bic",
        *,
        cv: Any = 5,
        max_size: int | None = None,
        forced: Iterable[Any] | None = None,
        column_groups: Iterable[Iterable[Any]] | None = None,
        empty_model: bool = True,
        fit_intercept: bool = True,
        each_size: bool | str = "auto",
        keep_all: bool = False,
        time_limit: float | None = 600.0,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.cv = cv
        self.max_size = max_size
        self.forced = forced
        self.column_groups = column_groups
        self.empty_model = empty_model
        self.fit_intercept = fit_intercept
        self.each_size = each_size
        self.keep_all = keep_all
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the best subset and fit it on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Groups for the splitter in ``cv``.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_word("criterion", [*CRITERIA, "cv"])
        run = self._run()
        if self.criterion != "cv":
            run = replace(run, instead=self._instead_of_sweeping)
        X, y, weights = self._read(X, y, sample_weight)
        moments = all_rows(X, y, weights, centred=self.fit_intercept)
        task = self._task(moments)
        if self.criterion == "cv":
            splits = deal(run.owner, self.cv, X, y, groups)
            folds = by_split(X, y, weights, splits, centred=self.fit_intercept)
            selected = by_cross_validation(*folds, task, run)
        else:
            selected = by_criterion(self.criterion, moments, task, run)
        names = self._names()
        beta = least_squares(moments, task.choice.columns(selected.kept))
        self.intercept_, self.coef_ = float(beta[0]), beta[1:]
        self.support_ = task.choice.support(selected.kept[None], len(names))[0]
        self.best_score_ = selected.score
        self.best_by_size_ = named_table(selected, task.choice, names)
        if self.keep_all:
            self.all_subsets_ = whole_table(selected, task.choice, names)
        self.complete_ = selected.complete
        return self

    def _task(self, moments: Moments) -> Task:
        owner = type(self).__name__
        if self.each_size not in (True, False, "auto"):
            raise invalid_parameter(
                owner,
                "each_size",
                must="be True, False or 'auto'",
                got=self.each_size,
                fix="Leave it at 'auto'.",
            )
        choice = choose_from(
            owner,
            moments.n_columns,
            getattr(self, "feature_names_in_", None),
            self.forced,
            self.column_groups,
            intercept=self.fit_intercept,
        )
        most = largest_size(moments, choice, MOST_SUBSETS)
        max_size = self._checked_max_size(sum(choice.widths), most)
        if not self.empty_model and max_size == 0:
            raise invalid_data(
                owner,
                "X",
                must="have rows and columns for a model when empty_model is False",
                got=Plain(f"{moments.n_columns} columns"),
                fix="Set empty_model=True.",
            )
        few = len(choice.units) <= CHEAP_COLUMNS
        each_size = few if self.each_size == "auto" else bool(self.each_size)
        return Task(choice, max_size, self.empty_model, each_size, self.keep_all)
