"""The table learner × node: every prediction and every kept model of one deal."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.folds import Block, Node, Ref

Cell = tuple[str, Node, int | None]


@dataclass
class NodeTable:
    """Predictions and models by learner, node and, for tuned learners, grid point."""

    # maps (name, node, grid point) to sorted rows and their compact predictions
    predictions: dict[Cell, tuple[IntArray, FloatArray]] = field(default_factory=dict)
    # maps the same cells to fitted models, where these are needed
    models: dict[Cell, Any] = field(default_factory=dict)
    # for a tuned learner, the grid point each owner chose
    choices: dict[str, dict[int | None, int]] = field(default_factory=dict)
    # time spent, by learner
    fit_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    # time spent, by learner
    predict_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    n_fits: Counter[str] = field(default_factory=Counter)  # number of fits, by learner
    failures: dict[str, str] = field(default_factory=dict)  # why a learner was dropped
    _found: dict[tuple[int, int], tuple[IntArray, IntArray, IntArray]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def forget_places(self) -> None:
        """Give back the memory that repeated reading was made quicker by."""
        self._found = {}

    def cell(self, name: str, ref: Ref) -> Cell:
        """Return the cell of the table a reference points to."""
        point = self.choices[name][ref.owner] if name in self.choices else None
        return name, ref.node, point

    def cells(self, name: str, refs: Iterable[Ref]) -> Counter[Cell]:
        """Return the distinct cells that references point to, and how often each."""
        return Counter(self.cell(name, ref) for ref in refs)

    def read(self, name: str, block: Block) -> FloatArray:
        """Return a learner's predictions for a block: the mean over its nodes.

        Shapes: returns (n_rows, width).
        """
        cells = self.cells(name, block.refs)
        total: Any = 0.0
        for cell, times in cells.items():
            rows, values = self.predictions[cell]
            total = total + times * values[self._places(rows, block.rows)]
        return total / cells.total()

    def _places(self, rows: IntArray, wanted: IntArray) -> IntArray:
        """Return where the wanted rows stand; folds are asked for again and again."""
        key = (id(rows), id(wanted))
        if key not in self._found:
            # The arrays are held, so that no other array can get their identity.
            self._found[key] = (rows, wanted, np.searchsorted(rows, wanted))
        return self._found[key][2]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": {}}

    def drop(self, name: str, reason: str) -> None:
        """Forget a learner that failed."""
        self.failures[name] = reason
        for cells in (self.predictions, self.models):
            for cell in [cell for cell in cells if cell[0] == name]:
                del cells[cell]

    def keep_models(self, cells: Iterable[Cell]) -> None:
        """Forget the models of all other cells."""
        wanted = set(cells)
        self.models = {cell: model for cell, model in self.models.items() if cell in wanted}

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell was fitted."""
        return cell in self.predictions or cell in self.models

    def take_over(self, other: "NodeTable", cells: Iterable[Cell]) -> None:
        """Take cells from a table fitted before, with their share of time and count."""
        names = set()
        for cell in cells:
            if other.has(cell):
                names.add(cell[0])
                if cell in other.predictions:
                    self.predictions[cell] = other.predictions[cell]
                if cell in other.models:
                    self.models[cell] = other.models[cell]
        for name in names:
            self.fit_seconds[name] = other.fit_seconds[name]
            self.predict_seconds[name] = other.predict_seconds[name]
            self.n_fits[name] = other.n_fits[name]

    def take_over_tuned(self, other: "NodeTable", name: str) -> bool:
        """Take a tuned learner with its choices from a table fitted before, if it is there."""
        if name not in other.choices:
            return False
        self.choices[name] = other.choices[name]
        cells = {*other.predictions, *other.models}
        self.take_over(other, [cell for cell in cells if cell[0] == name])
        return True


def rows_of(blocks: Sequence[Block]) -> IntArray:
    """Return the rows of all blocks, one block after the other."""
    return np.concatenate([block.rows for block in blocks])


def weights_of(blocks: Sequence[Block], sample_weight: FloatArray | None) -> FloatArray | None:
    """Return the weights of the blocks' rows, None if there are none."""
    return None if sample_weight is None else sample_weight[rows_of(blocks)]


def fold_numbers(blocks: Sequence[Block]) -> IntArray:
    """Return, for each row of the blocks, the number of its block."""
    return np.repeat(np.arange(len(blocks)), [len(block.rows) for block in blocks])
