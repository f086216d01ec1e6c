"""What arrays, sparse matrices and data frames contribute to a content key."""

import sys
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise.engine.code import Taker, add_class

BLOCK = 1 << 24
COMPRESSED = ("csr", "csc", "bsr")


def add_table(content: Taker, value: Any) -> bool:
    """Take in an array, sparse matrix or data frame; False if it is none of them."""
    polars = sys.modules.get("polars")
    if isinstance(value, np.ndarray):
        _add_array(content, value)
    elif isinstance(value, np.generic):
        content.say("scalar", value.dtype.str)
        content.add(value.tobytes() if value.dtype.kind != "O" else value.item())
    elif isinstance(value, np.dtype):
        content.say("dtype", value.str, value.descr if value.names else "")
    elif isinstance(value, np.ufunc):
        content.say("ufunc", value.__name__)
    elif sparse.issparse(value):
        _add_sparse(content, value)
    elif isinstance(value, pd.DataFrame | pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        _add_pandas(content, value)
    elif value is pd.NA or value is pd.NaT or isinstance(value, PANDAS_SCALARS):
        content.say("pandas", type(value).__name__, repr(value))
    elif polars is not None and isinstance(value, polars.DataFrame | polars.Series):
        _add_polars(content, value)
    else:
        return False
    return True


PANDAS_SCALARS = (pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval)


def _add_array(content: Taker, array: np.ndarray) -> None:
    # The last bits of a product depend on the order in memory, so it is part of the content.
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    content.say("array", array.dtype.str, array.dtype.names, array.shape, order)
    if isinstance(array, np.ma.MaskedArray):
        content.add(np.ma.getmaskarray(array))
        array = np.ma.getdata(array)
    elif type(array) not in (np.ndarray, np.memmap):
        add_class(content, type(array))
    if array.dtype.hasobject:
        _add_objects(content, array.ravel())
        return
    _add_numbers(content, array.T if order == "F" else array)


def _add_numbers(content: Taker, array: np.ndarray) -> None:
    """Take in the bytes of an array in C order, a block at a time, so that no copy is large."""
    rows = array.reshape(-1) if array.flags.c_contiguous else array
    step = max(1, BLOCK // max(1, rows.nbytes // max(1, len(rows))))
    content.say("bytes", array.nbytes)
    for start in range(0, len(rows), step):
        content.extend(np.ascontiguousarray(rows[start : start + step]).reshape(-1).view(np.uint8))


def _add_objects(content: Taker, values: np.ndarray) -> None:
    if all(type(value) is str for value in values):
        encoded = [value.encode("utf-8", "surrogatepass") for value in values]
        content.write("lengths", np.array([len(part) for part in encoded], dtype="<i8").tobytes())
        content.write("strings", b"".join(encoded))
        return
    for i, value in enumerate(values):
        content.add(value, f"[{i}]")


def _add_sparse(content: Taker, matrix: Any) -> None:
    content.say("sparse", matrix.format, matrix.shape, isinstance(matrix, sparse.sparray))
    if matrix.format not in COMPRESSED:
        matrix = matrix.tocsr()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        _add_array(content, part)


def _add_pandas(content: Taker, value: Any) -> None:
    content.say("pandas", type(value).__name__)
    if isinstance(value, pd.DataFrame):
        content.add(value.columns, ".columns")
        content.add(value.index, ".index")
        for i in range(value.shape[1]):
            content.add(value.iloc[:, i].array, f".iloc[:, {i}]")
    elif isinstance(value, pd.Series):
        content.add(value.name, ".name")
        content.add(value.index, ".index")
        content.add(value.array)
    elif isinstance(value, pd.RangeIndex):
        content.say("range", value.start, value.stop, value.step)
        content.add(value.name, ".name")
    elif isinstance(value, pd.MultiIndex):
        content.add(list(value.names), ".names")
        for level in range(value.nlevels):
            content.add(value.get_level_values(level).array)
    elif isinstance(value, pd.Index):
        content.add(value.name, ".name")
        content.add(value.array)
    else:
        _add_extension(content, value)


def _add_extension(content: Taker, array: Any) -> None:
    content.say("dtype", array.dtype)
    if isinstance(array, pd.Categorical):
        content.say("ordered", array.ordered)
        content.add(array.categories, ".categories")
        content.add(array.codes)
    elif isinstance(array.dtype, np.dtype):
        _add_array(content, np.asarray(array))
    elif isinstance(array.dtype, pd.DatetimeTZDtype):
        content.add(array.asi8)
    else:
        missing = np.asarray(array.isna())
        content.add(missing)
        content.add(array[~missing].to_numpy(dtype=_native(array.dtype)))


def _native(dtype: Any) -> Any:
    """Return the NumPy type that holds a column's values that are not missing."""
    native = getattr(dtype, "numpy_dtype", None)
    return native if isinstance(native, np.dtype) else object


def _add_polars(content: Taker, value: Any) -> None:
    if hasattr(value, "columns"):
        content.say("polars", value.shape)
        for column in value.get_columns():
            content.add(column, f"[{column.name!r}]")
        return
    content.say("polars", value.name, value.dtype, len(value))
    missing = value.is_null().to_numpy()
    content.add(missing)
    kept = value.drop_nulls()
    if value.dtype.is_numeric() or value.dtype.is_temporal():
        kept = kept.to_physical()
        _add_array(content, kept.to_numpy())
    else:
        content.add(kept.to_list())
