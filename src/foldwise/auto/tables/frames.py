"""Any table -> a pandas frame with distinct names: pandas, polars, Arrow, arrays, lists."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from foldwise.errors import (
    Plain,
    did_you_mean,
    invalid_data,
    invalid_parameter,
    listing,
    unsupported,
)

NESTED = {dict, list, tuple, set, np.ndarray}
COMPLEX = {complex, np.complex64, np.complex128}


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a pandas, polars, Arrow or similar data frame."""
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def as_frame(X: Any, owner: str = "as_frame") -> pd.DataFrame:
    """Return a table as a pandas frame whose names are distinct strings."""
    if sparse.issparse(X):
        must = "be a dense table (sparse data is not supported)"
        fix = "Give sparse columns to the learners directly, or use X.toarray()."
        raise unsupported(owner, "X", must=must, got=Plain("a sparse matrix"), fix=fix)
    if isinstance(X, pd.DataFrame):
        frame = X
    elif is_frame(X):
        native = nw.from_native(X, eager_only=True)
        check_names(owner, list(native.columns))
        frame = pd.DataFrame({column.name: _column(column) for column in native.iter_columns()})
    else:
        array = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_features=1)
        frame = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])], copy=False)
    check_names(owner, list(frame.columns))
    for name in frame.columns[[dtype.kind in "cO" for dtype in frame.dtypes]]:
        _check_flat(owner, frame[name])
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def named_alike(frame: pd.DataFrame, X: Any, model: Any) -> pd.DataFrame:
    """Return a frame with a fitted model's names, told by place where either side had none."""
    if is_frame(X) and hasattr(model, "feature_names_in_"):
        return frame
    return frame.set_axis([column.name for column in model.kinds_], axis=1)


def factorised(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with columns of text as categoricals, whose few levels are read quickly."""
    made = {}
    for name, dtype in frame.dtypes.items():
        if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype):
            codes, distinct = pd.factorize(frame[name])
            # pandas will not take objects that are truth values for such any more.
            if pd.api.types.infer_dtype(distinct) == "boolean":
                distinct = distinct.astype(bool)
            made[str(name)] = pd.Categorical.from_codes(codes, categories=distinct)
    return frame.assign(**made) if made else frame


def _column(column: Any) -> Any:
    """Return a column of a frame that is not pandas; categories stay categories."""
    if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
        # NumPy knows no zones: the clock on the wall, as for pandas.
        return column.dt.replace_time_zone(None).to_numpy()
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        values = column.cast(nw.String).to_numpy()
        return pd.Categorical(values, categories=column.cat.get_categories().to_list())
    return column.to_numpy()


def check_names(owner: str, names: list[Any]) -> None:
    """Raise unless the columns have names that differ as text."""
    counts = Counter(str(name) for name in names)
    twice = [text for text, count in counts.items() if count > 1]
    if twice:
        got, fix = Plain(f"{listing(twice)} more than once"), "Rename or drop all but one."
        raise invalid_data(owner, "column names", must="differ", got=got, fix=fix)


def check_columns(owner: str, option: str, wanted: Iterable[str], names: Iterable[Any]) -> None:
    """Raise unless every wanted column is one of the table's."""
    known = [str(name) for name in names]
    unknown = [column for column in wanted if column not in known]
    if unknown:
        must, fix = "name a column of the table", did_you_mean(unknown[0], known)
        raise invalid_parameter(owner, option, must=must, got=listing(unknown), fix=fix)


def _check_flat(owner: str, column: "pd.Series[Any]") -> None:
    """Raise if a column of no plain type holds lists, dictionaries or complex numbers."""
    types = {type(value) for value in column} if column.dtype == object else set()
    if column.dtype.kind == "c" or types & COMPLEX:
        must = "hold real numbers (Complex data not supported)"
        got = Plain(f"complex numbers in column {column.name!r}")
        fix = "Give real and imaginary parts as columns of their own."
        raise invalid_data(owner, "X", must=must, got=got, fix=fix)
    if types & NESTED:
        must = "hold numbers or strings (each argument must be a string or a number)"
        got = Plain(f"a {(types & NESTED).pop().__name__} in column {column.name!r}")
        raise unsupported(owner, "X", must=must, got=got, fix="Spread it over columns of its own.")
