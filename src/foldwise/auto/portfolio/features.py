"""Columns made for learners: kernel features, splines, arithmetic, and crosses of categories."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.auto.portfolio.member import MOST_LEVELS
from foldwise.auto.tables.encoder import N_FOLDS
from foldwise.auto.tables.levels import (
    between_share,
    level_means,
    out_of_fold_means,
    random_folds,
    target_columns,
)


@dataclass(eq=False, repr=False)
class KernelFeatures(TransformerMixin, BaseEstimator):
    """Similarity to some training rows by a Gaussian kernel, decorrelated (Nyström).

    ``width``: Squared width of the kernel, relative to the number of columns times their variance.

    References
    ----------
    .. [1] Williams and Seeger (2001). Using the Nyström method to speed up kernel machines.
    """

    width: float = 1.0
    n_components: int = 300
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw rows and decorrelate their kernel."""
        X = validate_data(self, X, dtype=np.float64)
        spread = X.shape[1] * X.var()
        self.kernel_ = Nystroem(
            gamma=1.0 / (self.width * spread) if spread > 0 else 1.0,
            n_components=min(self.n_components, max(len(X) // 2, 1)),
            random_state=self.random_state,
        ).fit(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features. Shapes: returns (n_samples, n_components)."""
        check_is_fitted(self, "kernel_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.kernel_.transform(X))


FEW_VALUES = 10


@dataclass(eq=False, repr=False)
class SplineColumns(TransformerMixin, BaseEstimator):
    """Spread columns of many values over cubic splines; leave the others as they are.

    ``n_knots``: Knots of each column, evenly spaced over its range; outside the splines stay as
    they end.
    """

    n_knots: int = 8

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns and their knots."""
        X = validate_data(self, X, dtype=np.float64)
        self.many_ = np.array([len(np.unique(column)) > FEW_VALUES for column in X.T], dtype=bool)
        self.splines_ = None
        if self.many_.any():
            splines = SplineTransformer(self.n_knots, extrapolation="constant")
            self.splines_ = splines.fit(X[:, self.many_])
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return all columns, and after them the splines of those with many values.

        Shapes: returns (n_samples, n_out).
        """
        check_is_fitted(self, "many_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.splines_ is None:
            return X
        return np.hstack([X, self.splines_.transform(X[:, self.many_])])


OPERATIONS = (np.add, np.subtract, np.multiply, np.divide)


@dataclass(eq=False, repr=False)
class ArithmeticColumns(TransformerMixin, BaseEstimator):
    """Sums, differences, products and ratios of two columns of numbers, drawn without the target.

    ``n_new``: Most columns that are added to those there are. What is divided by zero is missing.

    References
    ----------
    .. [1] TabPrep (2026), arXiv 2606.02384: the arithmetic part of it.
    """

    n_new: int = 150
    random_state: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw pairs of columns and what is done with them."""
        validate_data(self, X, skip_check_array=True)
        numbers = [j for j in range(X.shape[1]) if _is_measured(_cells(X, j))]
        first, second = (
            np.array(numbers, dtype=np.intp)[k] for k in np.triu_indices(len(numbers), 1)
        )
        each = len(first) * len(OPERATIONS)
        drawn = np.random.default_rng(self.random_state).permutation(each)[: self.n_new]
        pairs = drawn // len(OPERATIONS)
        self.terms_ = np.column_stack([drawn % len(OPERATIONS), first[pairs], second[pairs]])
        return self

    def transform(self, X: Any) -> Any:
        """Return all columns, and after them the new ones; a frame stays one."""
        check_is_fitted(self, "terms_")
        new = np.empty((X.shape[0], len(self.terms_)))
        with np.errstate(all="ignore"):
            for k, (operation, i, j) in enumerate(self.terms_):
                OPERATIONS[operation](_cells(X, i), _cells(X, j), out=new[:, k])
        new[~np.isfinite(new)] = np.nan
        if not isinstance(X, pd.DataFrame):
            return np.hstack([X, new])
        names = [f"a{k}" for k in range(new.shape[1])]
        return pd.concat([X, pd.DataFrame(new, X.index, names)], axis=1)


def _cells(X: Any, j: int) -> Any:
    return X.iloc[:, j].to_numpy() if isinstance(X, pd.DataFrame) else X[:, j]


def _is_measured(column: Any) -> bool:
    """Tell whether a column holds numbers of more than two values."""
    return getattr(column.dtype, "kind", "O") == "f" and len(np.unique(column[:1000])) > 2


class Crossed(NamedTuple):
    """A pair of columns, or one (twice), whose levels have a mean target and a count."""

    pair: tuple[int, int]
    known: IntArray  # the levels there are: code of the first times base plus that of the second
    base: int
    means: FloatArray  # the last row is for levels never seen
    counts: FloatArray

    def codes(self, levels: IntArray) -> IntArray:
        """Return which of the known levels each row has, -1 for none of them."""
        return _places(_joint(levels, self.pair, self.base), self.known)


@dataclass(eq=False, repr=False)
class CrossedLevels(TransformerMixin, BaseEstimator):
    """Add to a table of codes what crosses of its categories say about the target.

    Takes what ``TableEncoder(categories="codes")`` returns. Categories of few levels stay
    categories; of those with many, and of pairs of the most telling ones, the mean target of the
    level (of training rows: out of fold) and the logarithm of its count are added; and numbers
    minus the mean of their level.

    ``n_crosses``: Most pairs. ``n_beside``: Most pairs of a category and a number. ``quantity``:
    Whether the target is a number.

    References
    ----------
    .. [1] TabPrep (2026), arXiv 2606.02384.
    """

    n_crosses: int = 28
    n_beside: int = 30
    quantity: bool = True
    random_state: int = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Learn levels, means and counts."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Learn, and return the training rows with means of other folds."""
        validate_data(self, X, skip_check_array=True)
        names = [str(name) for name in X.columns]
        self.coded_ = np.array([name.startswith("k") for name in names])
        levels = X.loc[:, self.coded_].to_numpy(dtype=np.intp)
        self.n_levels_ = levels.max(axis=0, initial=-1) + 1
        targets, _ = target_columns(np.asarray(y), self.quantity)
        folds = random_folds(len(levels), min(N_FOLDS, len(levels)), self.random_state)
        telling = np.argsort(
            [-between_share(c, targets, n) for c, n in zip(levels.T, self.n_levels_, strict=True)],
            kind="stable",
        )
        self.crossed_ = []
        means = []
        for pair in self._pairs(telling, targets.shape[1]):
            found, codes = _learned(levels, pair, int(self.n_levels_[pair[1]]), targets)
            self.crossed_.append(found)
            means.append(out_of_fold_means(codes, targets, len(found.known), folds))
        self._learn_beside(X, levels, telling)
        return self._joined(X, levels, means)

    def transform(self, X: Any) -> pd.DataFrame:
        """Return new rows with the means of all training rows."""
        check_is_fitted(self, "crossed_")
        levels = X.loc[:, self.coded_].to_numpy(dtype=np.intp)
        return self._joined(X, levels, [c.means[c.codes(levels)] for c in self.crossed_])

    def _pairs(self, telling: IntArray, n_targets: int) -> list[tuple[int, int]]:
        """Return the columns of many levels, and pairs of the most telling columns."""
        many = [(j, j) for j in np.flatnonzero(self.n_levels_ > MOST_LEVELS).tolist()]
        most = self.n_crosses // n_targets
        few = int((1 + np.sqrt(1 + 8 * most)) / 2)
        pairs = [(min(p), max(p)) for p in combinations(telling[:few].tolist(), 2)]
        return [*many, *sorted(pairs[:most])]

    def _learn_beside(self, X: Any, levels: IntArray, telling: IntArray) -> None:
        """Learn the mean of numbers in each level of the most telling categories."""
        numbers = np.flatnonzero(~self.coded_)
        pairs = [(k, j) for k in telling.tolist() for j in numbers.tolist()][: self.n_beside]
        self.beside_ = []
        for k, j in pairs:
            cells = X.iloc[:, j].to_numpy()
            there = np.isfinite(cells)
            if there.any():
                means = level_means(levels[there, k], cells[there, None], int(self.n_levels_[k]))
                self.beside_.append((k, j, means[:, 0]))

    def _joined(self, X: Any, levels: IntArray, means: list[FloatArray]) -> pd.DataFrame:
        columns: dict[str, Any] = {}
        for j in np.flatnonzero(~self.coded_):
            columns[str(X.columns[j])] = X.iloc[:, j].to_numpy()
        for k, n_levels in enumerate(self.n_levels_):
            if n_levels <= MOST_LEVELS:
                columns[f"k{k}"] = pd.Categorical.from_codes(levels[:, k], pd.RangeIndex(n_levels))
        for i, (crossed, values) in enumerate(zip(self.crossed_, means, strict=True)):
            for t, column in enumerate(values.T):
                columns[f"m{i}" if values.shape[1] == 1 else f"m{i}_{t}"] = column
            columns[f"n{i}"] = crossed.counts[crossed.codes(levels)]
        for i, (category, number, kept) in enumerate(self.beside_):
            columns[f"b{i}"] = X.iloc[:, number].to_numpy() - kept[levels[:, category]]
        return pd.DataFrame(columns, index=X.index)


def _learned(
    levels: IntArray, pair: tuple[int, int], base: int, targets: FloatArray
) -> tuple[Crossed, IntArray]:
    joint = _joint(levels, pair, base)
    known = np.unique(joint[joint >= 0])
    codes = _places(joint, known)
    counts = np.log1p(np.bincount(codes[codes >= 0], minlength=len(known)))
    means = level_means(codes, targets, len(known))
    return Crossed(pair, known, base, means, np.append(counts, 0.0)), codes


def _joint(levels: IntArray, pair: tuple[int, int], base: int) -> IntArray:
    first, second = levels[:, pair[0]], levels[:, pair[1]]
    joint = second if pair[0] == pair[1] else first * base + second
    return np.where((first < 0) | (second < 0), -1, joint)


def _places(joint: IntArray, known: IntArray) -> Array:
    if not len(known):
        return np.full(len(joint), -1)
    found = np.minimum(np.searchsorted(known, joint), len(known) - 1)
    return np.where(known[found] == joint, found, -1)
