"""The transformer: a table of any columns -> the numbers a learner can use."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.auto.tables.cleaning import BLOCK_CELLS, SCALES, NumberCleaner
from foldwise.auto.tables.frames import as_frame, is_frame, named_alike
from foldwise.auto.tables.kinds import DROPPED, ColumnKind, Kinds, kinds_of
from foldwise.auto.tables.levels import Levels, is_quantity, random_folds, target_columns
from foldwise.auto.tables.sources import (
    Codes,
    ColumnSource,
    DateParts,
    HashedText,
    Kept,
    Numbers,
    OneHot,
    Ordinal,
    TargetMeans,
)
from foldwise.checks import check_lengths, check_whole, check_word
from foldwise.errors import Plain, invalid_data, invalid_parameter, listing
from foldwise.learners.encoded import Encode, column_blocks
from foldwise.learners.rows import Matrix

OWNER = "TableEncoder"
N_FOLDS = 5
CHOICES = {
    "numbers": ("impute", "keep"),
    "categories": ("onehot", "ordinal", "target", "keep", "codes"),
    "task": ("auto", "regression", "classification"),
}


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, words, dates and texts into numbers for a learner.

    Put it first in a Pipeline: the stack then fits it inside every node, and learners with the
    same encoder share it. Missing cells and levels never seen are handled by every setting.

    Parameters
    ----------
    kinds : Kinds, dict of str to str, or None, default=None
        What the columns are: from :func:`column_kinds`; or kinds of some columns, by name; None
        to tell it from the rows of ``fit``.
    numbers : {"impute", "keep"}, default="impute"
        "impute": missing numbers become the median of the column, and columns of zeros and ones
        say where; nothing is missing afterwards. "keep": missing numbers stay NaN, for learners
        that know what to do with them (LightGBM, histogram boosting, forests).
    categories : {"onehot", "ordinal", "target", "keep", "codes"}, default="onehot"
        "onehot": a column of zeros and ones a level, missing a level of its own where it was
        seen; for linear models, neighbours, kernels, nets. "ordinal": one column, the number of
        the level (an ordered categorical's own order), for forests; missing and unknown are -1,
        or NaN with ``numbers="keep"``. "target": one column, the mean target of the level (one a
        class, if there are more than two). "keep": a pandas categorical, for LightGBM; the
        output is then a frame, whose columns are called c0, c1, ..., since boosters refuse
        some characters in names. (LightGBM leaves levels of fewer than 100 rows together unless
        its ``min_data_per_group`` is lowered; on five tables that made no difference.)
        "codes": whole numbers in columns called k0, k1, ..., after all others of a frame, for
        CatBoost, which is told their names; -1 for what was not seen.
        Unless it is "codes", categories of more than ``high_cardinality`` levels are encoded as
        by "target".
    scale : {None, "standard", "squash", "quantile"}, default=None
        For everything but zeros and ones. "standard": mean 0, deviation 1. "squash": median 0,
        quartiles as of a normal, extremes bent smoothly into (-3, 3). "quantile": normal scores.
    high_cardinality : int, default=40
        Most levels that are not encoded by the target.
    text_width : int, default=16
        Numbers a column of free text becomes, besides its length.
    task : {"auto", "regression", "classification"}, default="auto"
        What the target is. "auto": floats, and whole numbers of more than 30 values, are a
        quantity, all else classes.
    random_state : int, default=0
        How rows are dealt for encoding by the target, and the start of decompositions. It is
        not None by default, so that learners with equal encoders can share one.

    Attributes
    ----------
    kinds_ : Kinds
        What the columns are.
    sources_ : ndarray of str, shape (n_features_out,)
        The input column each output column comes from.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    column_kinds : Tells the kinds.

    Notes
    -----
    Encoding by the target cannot leak: ``fit_transform`` encodes each training row by rows of
    other folds, dealt without looking at the target, so that no entry depends on its own row's
    target; ``transform`` uses all training rows, for rows that were not among them. The means
    are shrunk by how much levels differ: levels of pure noise all get the overall mean.

    Dates become days since 2000, year, month, day, weekday, day of the year, hour and minute,
    as far as they differ. Identifiers and constants are dropped.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31.5, None, 54.0], "town": ["Bonn", "Rome", "Bonn"]})
    >>> encoder = TableEncoder()
    >>> encoder.fit_transform(frame)
    array([[31.5 ,  0.  ,  0.  ],
           [42.75,  1.  ,  1.  ],
           [54.  ,  0.  ,  0.  ]])
    >>> list(encoder.get_feature_names_out())
    ['age', 'age (missing)', 'town = Rome']
    """

    kinds: Kinds | dict[str, str] | None = None
    _: KW_ONLY
    numbers: str = "impute"
    categories: str = "onehot"
    scale: str | None = None
    high_cardinality: int = 40
    text_width: int = 16
    task: str = "auto"
    random_state: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn levels, medians, scales and means.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), or None
            The target; needed where categories are encoded by it.

        Returns
        -------
        Self
            The fitted encoder.
        """
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn, and return the training rows encoded; by the target, out of fold.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), or None
            The target; needed where categories are encoded by it.

        Returns
        -------
        ndarray or DataFrame of shape (n_samples, n_features_out)
            Not the same as ``fit(X, y).transform(X)`` where categories are encoded by the
            target: that would show each row its own target.
        """
        return self._learn(X, y)

    def transform(self, X: Any) -> Any:
        """Return rows that were not among the training rows, encoded.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray or DataFrame of shape (n_samples, n_features_out)
            A frame for ``categories="keep"`` or ``"codes"``, if there are any.
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        matrix = _measured(self._measured, frame, "transform")
        return self._output(self._cleaner.transform(matrix), frame)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return what the columns are called.

        Parameters
        ----------
        input_features : None
            Ignored; as in scikit-learn.

        Returns
        -------
        ndarray of str
            One a column.
        """
        check_is_fitted(self)
        return np.array(_distinct(self._names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _learn(self, X: Any, y: Any) -> Any:
        self._check_parameters()
        frame = self._frame(X, reset=True)
        self.kinds_ = self._kinds(frame)
        used = [column for column in self.kinds_ if column.kind not in DROPPED]
        if not used:
            must = "hold a column that is neither constant nor an identifier"
            got = Plain(f"{len(frame)} sample{'s' if len(frame) > 1 else ''} of none")
            fix = "Give more rows or columns, or say in kinds what a column is."
            raise invalid_data(OWNER, "X", must=must, got=got, fix=fix)
        target = None if y is None else _checked_target(y, len(frame))
        sources = self._sources(used, frame, target)
        self._binary = [source for source in sources if isinstance(source, OneHot)]
        self._kept = [source for source in sources if isinstance(source, Kept | Codes)]
        coded: list[ColumnSource] = [*self._binary, *self._kept]
        self._measured = [source for source in sources if source not in coded]
        matrix = _measured(self._measured, frame, "fit_transform")
        self._cleaner = NumberCleaner(self.numbers == "impute", self.scale, self._seed)
        cleaned = self._cleaner.fit_transform(matrix)
        self._name(coded)
        return self._output(cleaned, frame)

    def _fit_in_parts(self, X: Any, values: Matrix, rows: IntArray) -> Encode | None:
        """Learn from some rows what ``fit`` would, and return what encodes some by themselves.

        None where they must be given whole. ``values``: All cells of X.
        """
        told = isinstance(self.kinds, Kinds) and type(self) is TableEncoder
        plain = get_config()["transform_output"] == "default" and self.scale in (None, "squash")
        if not told or not plain or hasattr(self, "_sklearn_output_config"):
            return None
        self._check_parameters()
        self.kinds_ = self._kinds(self._frame(X, reset=True))
        used = [j for j, column in enumerate(self.kinds_) if column.kind not in DROPPED]
        columns = list(self.kinds_)
        if not used or any(columns[j].kind not in ("number", "boolean") for j in used):
            return None
        self._measured, self._binary, self._kept = [Numbers(columns[j]) for j in used], [], []
        self._cleaner = NumberCleaner(self.numbers == "impute", self.scale, self._seed)
        places = np.array(used)
        self._cleaner.fit_columns(column_blocks(values, rows, places, BLOCK_CELLS))
        self._name([])
        clean, every = self._cleaner.transform, len(used) == values.shape[1]
        return clean if every else lambda taken: clean(np.take(taken, places, axis=1))

    def _name(self, coded: list[ColumnSource]) -> None:
        """Note what the columns that come out are called, and where they come from."""
        named = [(name, source.name) for source in self._measured for name in source.names]
        named += [(f"{named[j][1]} (missing)", named[j][1]) for j in self._cleaner.marked]
        named += [(name, source.name) for source in coded for name in source.names]
        self._names = [name for name, _ in named]
        self.sources_ = np.array([source for _, source in named], dtype=object)

    @property
    def _seed(self) -> int:
        return self.random_state or 0

    def _sources(
        self, columns: list[ColumnKind], frame: pd.DataFrame, y: Array | None
    ) -> list[ColumnSource]:
        """Return what is done with each column."""
        sources: list[ColumnSource] = []
        by_target: tuple[FloatArray, list[str], IntArray] | None = None
        for column in columns:
            if column.kind == "date":
                sources.append(DateParts(column))
            elif column.kind == "text":
                sources.append(HashedText(column.name, self.text_width, self._seed))
            elif column.kind != "category":
                sources.append(Numbers(column))
            else:
                levels = Levels(frame[column.name])
                many = self.categories != "codes" and len(levels) > self.high_cardinality
                if many or self.categories == "target":
                    by_target = by_target or self._by_target(column.name, levels, y)
                    sources.append(TargetMeans(column.name, levels, *by_target))
                else:
                    sources.append(self._coded(column.name, levels))
        return sources

    def _coded(self, name: str, levels: Levels) -> ColumnSource:
        if self.categories == "ordinal":
            return Ordinal(name, levels, -1.0 if self.numbers == "impute" else np.nan)
        if self.categories == "codes":
            return Codes(name, levels)
        return OneHot(name, levels) if self.categories == "onehot" else Kept(name, levels)

    def _by_target(
        self, name: str, levels: Levels, y: Array | None
    ) -> tuple[FloatArray, list[str], IntArray]:
        """Return what is averaged in each level, its names, and the fold of each row."""
        if y is None:
            must = f"be given to encode the {len(levels)} levels of {name!r} by the target"
            fix = "Pass y to fit, or raise high_cardinality."
            raise invalid_data(OWNER, "y", must=must, got=None, fix=fix)
        columns, titles = target_columns(y, is_quantity(y, self.task))
        folds = random_folds(len(y), max(1, min(N_FOLDS, len(y))), self._seed)
        return columns, titles, folds

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        if not reset and self._is_plain(X):
            return X
        frame = as_frame(X, OWNER)
        validate_data(
            self, X if is_frame(X) else frame.to_numpy(), reset=reset, skip_check_array=True
        )
        if len(frame) == 0:
            must = "have at least one row (0 samples given, minimum of 1 is required)"
            fix = "Check how the table was read."
            raise invalid_data(OWNER, "X", must=must, got=Plain("0"), fix=fix)
        return frame if reset else named_alike(frame, X, self)

    def _is_plain(self, X: Any) -> bool:
        """Tell whether nothing can be wrong with a table; to look closely takes a millisecond."""
        return (
            isinstance(X, pd.DataFrame)
            and len(X) > 0
            and list(X.columns) == list(getattr(self, "feature_names_in_", ()))
            and not any(is_object_dtype(dtype) or dtype.kind == "c" for dtype in X.dtypes)
        )

    def _kinds(self, frame: pd.DataFrame) -> Kinds:
        if not isinstance(self.kinds, Kinds):
            return kinds_of(frame, self.kinds, type(self).__name__)
        columns = {column.name: column for column in self.kinds}
        missing = [name for name in frame.columns if name not in columns]
        if missing:
            must, got = "tell the kind of every column", Plain(f"none for {listing(missing)}")
            fix = "Call column_kinds on the same table."
            raise invalid_parameter(OWNER, "kinds", must=must, got=got, fix=fix)
        return Kinds(tuple(columns[str(name)] for name in frame.columns), self.kinds.n_rows)

    def _output(self, cleaned: FloatArray, frame: pd.DataFrame) -> Any:
        binary = [source.transform(frame[source.name]) for source in self._binary]
        values = np.column_stack([cleaned, *binary]) if binary else cleaned
        if not self._kept:
            return values
        names = [f"c{j}" for j in range(values.shape[1] + len(self._kept))]
        if self.categories == "codes":
            names[values.shape[1] :] = category_names(len(self._kept))
        table = pd.DataFrame(values)
        for source in self._kept:
            table[source.name] = source.transform(frame[source.name])
        return table.set_axis(names, axis=1)

    def _check_parameters(self) -> None:
        for name, words in CHOICES.items():
            check_word(OWNER, name, getattr(self, name), words)
        if self.scale is not None:
            check_word(OWNER, "scale", self.scale, SCALES, also="None")
        check_whole(OWNER, "high_cardinality", self.high_cardinality, 1, try_=40)
        check_whole(OWNER, "text_width", self.text_width, 1, try_=16)


def _measured(sources: list[ColumnSource], frame: pd.DataFrame, method: str) -> FloatArray:
    """Return what sources make of a frame, numbers without a copy of their own in between."""
    parts = [None if isinstance(s, Numbers) else getattr(s, method)(frame[s.name]) for s in sources]
    widths = [1 if part is None else part.shape[1] for part in parts]
    matrix, end = np.empty((len(frame), sum(widths))), 0
    for source, part, width in zip(sources, parts, widths, strict=True):
        start, end = end, end + width
        matrix[:, start:end] = source.transform(frame[source.name]) if part is None else part
    return matrix


def category_names(number: int) -> list[str]:
    """Return what columns of codes are called."""
    return [f"k{j}" for j in range(number)]


def _checked_target(y: Any, n_rows: int) -> Array:
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    check_lengths(OWNER, n_rows, y=target)
    return target


def _distinct(names: list[str]) -> list[str]:
    """Return the names, with a number behind those that were there before."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} [{seen[name]}]")
    return out
