"""Reading features out of the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.folds import Block, Ref
from foldwise.learners import TrainingData, respond, take_rows
from foldwise.scores.metric import Target
from foldwise.stack.entries import Entry
from foldwise.stack.features import Features, compact
from foldwise.stack.table import Table


@dataclass(frozen=True)
class Problem:
    """The data of a stack."""

    data: TrainingData  # features, targets, weights, groups
    labels: Array | None = None  # the classes behind the codes; None for regression
    passthrough: Any = None  # none, or the columns that go past the learners (a full slice for all)
    unit: IntArray | None = None  # codes of the groups
    # targets and groups as the user gave them, for splitters of the user's
    given: tuple[Any, Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.data.y)

    @property
    def amount(self) -> float:
        """How many rows the weighted data amount to: an integer weight repeats its row."""
        weight = self.data.sample_weight
        if weight is None:
            return float(self.n_rows)
        return float(max(weight.sum(), np.count_nonzero(weight)))

    def extra(self, X: Any) -> Any:
        """Return the columns of X that go past the learners."""
        if self.passthrough is None:
            return None
        return as_pandas(
            X if isinstance(self.passthrough, slice) else take(X, self.passthrough, axis=1)
        )

    @property
    def passes_numbers_only(self) -> bool:
        """Whether a linear stacker can read what is passed through."""
        if self.passthrough is None:
            return True
        extra = self.extra(take_rows(self.data.X, np.arange(1)))
        if isinstance(extra, pd.DataFrame):
            return all(pd.api.types.is_numeric_dtype(kind) for kind in extra.dtypes)
        return not sparse.issparse(extra) and extra.dtype.kind in "biuf"

    def target(self, rows: IntArray, fold: IntArray) -> Target:
        """Return what predictions of some rows are compared with."""
        weight = self.data.sample_weight
        return Target(
            self.data.y[rows],
            self.labels,
            None if weight is None else weight[rows],
            fold,
            None if self.unit is None else self.unit[rows],
        )


@dataclass(frozen=True)
class Reader:
    """The learners of one layer, and the table to read them from."""

    entries: tuple[Entry, ...]
    table: Table
    problem: Problem

    def features(self, blocks: Sequence[Block]) -> Features:
        """Return the features of the blocks' rows, one block below the other."""
        outputs = [
            np.concatenate([self.table.read(entry.name, block) for block in blocks])
            for entry in self.entries
        ]
        extra = None
        if self.problem.passthrough is not None:
            extra = self.problem.extra(take_rows(self.problem.data.X, rows_of(blocks)))
        return self._features(outputs, extra)

    def fresh(
        self, X: Any, refs: Sequence[Ref], original: Any, idle: frozenset[str] = frozenset()
    ) -> Features:
        """Return the features of new rows, read from the kept models."""
        asked = {
            entry.name: self._mean_response(entry, X, refs)
            for entry in self.entries
            if entry.name not in idle
        }
        like = {entry.kind: asked[entry.name] for entry in self.entries if entry.name in asked}
        outputs = [
            asked[entry.name]
            if entry.name in asked
            else np.zeros_like(like[entry.kind])
            if entry.kind in like
            else self._mean_response(entry, X, refs)
            for entry in self.entries
        ]
        return self._features(outputs, self.problem.extra(original))

    def _mean_response(self, entry: Entry, X: Any, refs: Sequence[Ref]) -> FloatArray:
        """Return a learner's response to new rows, the mean over nodes."""
        cells = self.table.cells(entry.name, refs)
        total: Any = 0.0
        for cell, times in cells.items():
            values = respond(
                self.table.models[cell],
                X,
                entry.method,
                self.problem.data,
                int(self.problem.amount),
            )
            total = total + times * compact(values, entry.kind, self.problem.data.n_classes)
        return np.asarray(total / cells.total())

    def with_outputs(self, outputs: list[FloatArray], original: Any) -> Features:
        """Return features made of given outputs of this layer for new rows."""
        return self._features(outputs, self.problem.extra(original))

    def _features(self, outputs: list[FloatArray], extra: Any) -> Features:
        return Features(
            outputs,
            tuple(entry.name for entry in self.entries),
            tuple(entry.kind for entry in self.entries),
            self.problem.labels,
            self.problem.amount,
            extra,
        )


def as_pandas(X: Any) -> Any:
    """Return a data frame of another make as a pandas one; anything else as it is."""
    if hasattr(X, "columns") and not isinstance(X, pd.DataFrame):
        return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
    return X


def rows_of(blocks: Sequence[Block]) -> IntArray:
    """Return the rows of all blocks, one block after the other."""
    return np.concatenate([block.rows for block in blocks])


def weights_of(blocks: Sequence[Block], sample_weight: FloatArray | None) -> FloatArray | None:
    """Return the weights of the blocks' rows, None if all are one."""
    if sample_weight is None and all(block.share == 1.0 for block in blocks):
        return None
    each = [
        np.full(len(block.rows), block.share)
        if sample_weight is None
        else block.share * sample_weight[block.rows]
        for block in blocks
    ]
    return np.concatenate(each)
