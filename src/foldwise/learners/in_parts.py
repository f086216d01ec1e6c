"""LightGBM given its rows a few at a time: it keeps their bins, so no copy of them need be made."""

import threading
import weakref
from typing import Any

import lightgbm
import numpy as np
from lightgbm.basic import ZERO_THRESHOLD

from foldwise.arrays import FloatArray, IntArray
from foldwise.engine.executor import let_go
from foldwise.learners.encoded import EncodedRows
from foldwise.learners.prepare import BLOCK_BYTES, stops_early_on_given_rows

LEARNERS = (lightgbm.LGBMRegressor, lightgbm.LGBMClassifier)
# By the address of what stands for them.
_parts: dict[int | None, "RowsInParts"] = {}
_asked: weakref.WeakKeyDictionary[lightgbm.Booster, threading.Lock] = weakref.WeakKeyDictionary()


def asked_alone(booster: lightgbm.Booster) -> threading.Lock:
    """Return what a thread must hold that asks: LightGBM notes in the model which trees it asks."""
    return _asked.setdefault(booster, threading.Lock())


class RowsInParts(lightgbm.Sequence):
    """Some rows of an array, each read when LightGBM asks for it: the same bins as of a copy.

    ``encoded``: The same rows, if they are to be encoded first.
    """

    batch_size = 2**12

    def __init__(self, X: Any, rows: IntArray, encoded: EncodedRows | None = None) -> None:
        self.X, self.rows, self.encoded = X, rows, encoded
        self.shape = (len(rows), X.shape[1]) if encoded is None else encoded.shape

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> FloatArray:
        if self.encoded is not None:
            return self.encoded.take(index)
        let_go()
        return np.take(self.X, self.rows[index], axis=0)


def is_worth_it(X: Any, rows: IntArray) -> bool:
    """Tell whether a copy of these rows would be large, and LightGBM would not change them."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and X.itemsize * len(rows) * X.shape[1] > BLOCK_BYTES
    )


def stand_in(learner: Any, X: FloatArray, rows: IntArray) -> FloatArray | None:
    """Return what to fit one of LightGBM's learners with instead of a copy of the rows.

    None where a copy is needed. What is returned takes no memory; where LightGBM makes its own of
    it, it is given the rows in parts.
    """
    known = type(learner) in LEARNERS and not stops_early_on_given_rows(learner)
    if not known or not is_worth_it(X, rows):
        return None
    vars(lightgbm.sklearn)["Dataset"] = _Dataset
    standing = np.broadcast_to(np.zeros(1), (len(rows), X.shape[1]))
    address = standing.ctypes.data
    _parts[address] = RowsInParts(X, rows)
    weakref.finalize(standing.base, _parts.pop, address)
    return standing


def dataset_of(data: Any, **named: Any) -> lightgbm.Dataset:
    """Return what LightGBM makes of an array, or of rows in parts the same."""
    return (_Dataset if isinstance(data, RowsInParts) else lightgbm.Dataset)(data, **named)


class _Dataset(lightgbm.Dataset):
    def __init__(self, data: Any, *args: Any, **named: Any) -> None:
        address = data.ctypes.data if isinstance(data, np.ndarray) else None
        super().__init__(_parts.get(address, data), *args, **named)

    def get_params(self) -> dict[str, Any]:
        """Return all parameters while rows are read in parts: the bins of a copy are found by all.

        LightGBM leaves out the seed, which draws the rows that bins are found on, and how small a
        leaf may be, which decides what columns are left out.
        """
        reading = isinstance(self.data, RowsInParts) and not self._handle
        return dict(self.params or {}) if reading else super().get_params()

    def __sample(self, *, seqs: Any, total_nrow: int) -> tuple[list[Any], list[Any]]:
        """Return what LightGBM's own returns, without its copies: values that are not zero."""
        (rows,) = seqs
        drawn = self._create_sample_indices(total_nrow=total_nrow)
        table = np.empty((rows.shape[1], len(drawn)))
        for start in range(0, len(drawn), rows.batch_size):
            part = slice(start, start + rows.batch_size)
            table[:, part] = rows[drawn[part]].T
        every = np.arange(len(drawn), dtype=np.int32)
        values, places = [], []
        for column in table:
            some = (np.abs(column) > ZERO_THRESHOLD) | np.isnan(column)
            whole = bool(some.all())
            values.append(column if whole else column[some])
            places.append(every if whole else every[some])
        return values, places

    def _init_from_sample(self, sample_data: Any, sample_indices: Any, *numbers: int) -> Any:
        super()._init_from_sample(sample_data, sample_indices, *numbers)
        # The bins are known, and the rows are still to come.
        sample_data.clear()
        sample_indices.clear()
        return self
