"""Reading the table: from the learners' responses to what a stacker is given."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import starmap
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn import config_context, get_config

from foldwise._sklearn import one_against_rest
from foldwise.arrays import ROW_NUMBER, Array, FloatArray, IntArray
from foldwise.engine.executor import one_thread
from foldwise.errors import Plain, unsupported
from foldwise.folds import Block, Node, Ref
from foldwise.learners import AskedRows, share_steps, take_rows
from foldwise.scores.metric import Response
from foldwise.stack.problem import Entry, StackProblem, numbers_of

Cell = tuple[str, Node, int | None]
# Fewer new rows are answered sooner than threads begin; of more than these, some at a time, so
# that threads have work even where a stack has one node.
MANY_ROWS, BLOCK_ROWS = 500, 20_000


@dataclass
class NodeTable:
    """Predictions and models by learner, node and, for tuned learners, grid point."""

    # maps (name, node, grid point) to sorted rows and their compact predictions
    predictions: dict[Cell, tuple[IntArray, FloatArray]] = field(default_factory=dict)
    # maps the same cells to fitted models, where these are needed
    models: dict[Cell, Any] = field(default_factory=dict)
    # for a tuned learner, the grid point each owner chose; where rounds are tuned, the owner
    choices: dict[str, dict[int | None, int | None]] = field(default_factory=dict)
    # time spent, by learner
    fit_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
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
        found = self._found.get(key)
        if found is None:
            # The arrays are held, so that no other array can get their identity.
            places = np.searchsorted(rows, wanted).astype(ROW_NUMBER)
            self._found[key] = found = (rows, wanted, places)
        return found[2]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": {}}

    def drop(self, name: str, reason: str) -> None:
        """Forget a learner that failed."""
        self.failures[name] = reason
        self.choices.pop(name, None)
        for cells in (self.predictions, self.models):
            for cell in [cell for cell in cells if cell[0] == name]:
                del cells[cell]

    def keep_models(self, cells: Iterable[Cell]) -> None:
        """Forget the models of all other cells."""
        wanted = set(cells)
        self.models = {cell: model for cell, model in self.models.items() if cell in wanted}

    def model(self, cell: Cell) -> Any:
        """Return the model of a cell, if it was kept."""
        if cell not in self.models:
            must, got = "be kept to predict new rows with it", Plain(f"{cell[0]!r}, left out")
            fix = "Ask the stack that compact() was called on."
            raise unsupported("compact", "learner", must=must, got=got, fix=fix)
        return self.models[cell]

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell was fitted."""
        return cell in self.predictions or cell in self.models

    def take_over(self, other: "NodeTable", cells: Iterable[Cell]) -> None:
        """Take cells from a table fitted before, with their share of time and count."""
        there = [cell for cell in cells if other.has(cell)]
        self.predictions |= {c: other.predictions[c] for c in there if c in other.predictions}
        self.models |= {cell: other.models[cell] for cell in there if cell in other.models}
        for name in {cell[0] for cell in there}:
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
    numbers = np.arange(len(blocks), dtype=ROW_NUMBER)
    return np.repeat(numbers, [len(block.rows) for block in blocks])


def clip_amount(n_rows: float) -> float:
    """Return how near to 0 and 1 a probability may come before its logarithm is taken."""
    return 0.5 / (n_rows + 1)


def compact(values: FloatArray, kind: str, n_classes: int | None = None) -> FloatArray:
    """Return a response so that means of it make sense, in as few columns as that takes.

    Of two probabilities the second is kept. Labels of several classes become one column a
    class, so that the mean over models is the share of their votes.
    """
    if kind == "probability" and values.shape[1] == 2:
        return values[:, 1:]
    if kind == "label" and n_classes is not None and n_classes > 2:
        return np.eye(n_classes)[values[:, 0].astype(np.intp)]
    return values


def as_logits(values: FloatArray, clip: float) -> FloatArray:
    """Return centred log-probabilities; one logit for two classes.

    Shapes: ``values`` (n_samples, 1) or (n_samples, n_classes).
    """
    clipped = np.clip(values, clip, 1.0 - clip)
    if values.shape[1] == 1:
        return logit(clipped)
    logs = np.log(clipped)
    return logs - logs.mean(axis=1, keepdims=True)


def as_probabilities(values: FloatArray, kind: str, n_classes: int) -> FloatArray:
    """Return any response of a learner as probabilities, compact for two classes.

    Decision values go through the logistic function, labels become certainties, and a
    regressor's value is the probability of the second of two classes or the nearest class.
    """
    if kind == "probability" or (kind == "label" and n_classes > 2):
        return values
    if kind == "decision":
        if values.shape[1] == 1:
            return expit(values)
        if values.shape[1] != n_classes:
            values = one_against_rest(values < 0, -values, n_classes)
        return softmax(values, axis=1)
    if n_classes == 2:
        return np.clip(values, 0.0, 1.0)
    nearest = np.clip(np.rint(values[:, 0]), 0, n_classes - 1).astype(np.intp)
    return np.eye(n_classes)[nearest]


def all_classes(values: FloatArray) -> FloatArray:
    """Return probabilities with the first of two classes written out.

    Shapes: ``values`` (..., 1) or (..., n_classes).
    """
    if values.shape[-1] > 1:
        return values
    return np.concatenate([1.0 - values, values], axis=-1)


@dataclass(frozen=True)
class Features:
    """What the learners say about some rows."""

    outputs: list[FloatArray]  # (n_samples, width): one response a learner, compact
    names: tuple[str, ...]  # the learners
    kinds: tuple[str, ...]  # what each response means
    labels: Array | None  # the classes; None for regression
    # number of rows the stack was fitted on; it decides how probabilities are clipped
    amount: float
    extra: Any = None  # columns passed through
    # makes numbers of the rows, where boosting may go on from the stacker
    encode: Callable[[], FloatArray] | None = None

    @cached_property
    def numbers(self) -> FloatArray:
        """The rows as numbers, of shape (n_samples, n_columns)."""
        assert self.encode is not None
        return self.encode()

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None for regression."""
        return None if self.labels is None else len(self.labels)

    @cached_property
    def members(self) -> FloatArray:
        """Predictions of shape (n_samples, n_learners, width), probabilities for classes."""
        outputs = self.outputs
        if self.n_classes is not None:
            outputs = [
                as_probabilities(values, kind, self.n_classes)
                for values, kind in zip(outputs, self.kinds, strict=True)
            ]
        return np.stack(outputs, axis=1)

    @cached_property
    def logits(self) -> FloatArray:
        """Centred log-probabilities of shape (n_samples, n_learners, width)."""
        clip = clip_amount(self.amount)
        each = [as_logits(self.members[:, m], clip) for m in range(len(self.outputs))]
        return np.stack(each, axis=1)

    @cached_property
    def _parts(self) -> list[FloatArray]:
        clip = clip_amount(self.amount)
        return [
            as_logits(values, clip) if kind == "probability" else values
            for values, kind in zip(self.outputs, self.kinds, strict=True)
        ]

    def alone(self, learner: int) -> Response:
        """Return what one learner would answer without the others."""
        values = self.members[:, learner]
        if self.labels is None:
            return Response("value", values)
        return Response("probability", all_classes(values))

    def of(self, names: Sequence[str]) -> "Features":
        """Return the features of some learners only, in the order of the names; of all for none."""
        if not names or tuple(names) == self.names:
            return self
        places = [self.names.index(name) for name in names]
        return replace(
            self,
            outputs=[self.outputs[place] for place in places],
            names=tuple(names),
            kinds=tuple(self.kinds[place] for place in places),
        )

    @property
    def widths(self) -> list[int]:
        """Number of columns of each learner in the matrix."""
        return [part.shape[1] for part in self._parts]

    @cached_property
    def matrix(self) -> Any:
        """What an estimator reads: logits for probabilities, all else as it is.

        An array, sparse matrix or data frame of shape (n_samples, n_columns), the predictions
        first, then the columns passed through.
        """
        names = [
            column
            for name, width in zip(self.names, self.widths, strict=True)
            for column in column_names(name, width, self.labels)
        ]
        return beside(np.ascontiguousarray(np.hstack(self._parts)), names, self.extra)


def beside(own: FloatArray, names: Sequence[str], extra: Any) -> Any:
    """Return columns with what is passed through to their right.

    Shapes: ``own`` (n_samples, n_columns).
    """
    if extra is None:
        return own
    if isinstance(extra, pd.DataFrame):
        frame = pd.DataFrame(own, index=extra.index, columns=list(names))
        return pd.concat([frame, extra.rename(columns=str)], axis=1)
    if sparse.issparse(extra):
        return sparse.hstack([own, extra], format="csr")
    return np.hstack([own, extra])


def column_names(name: str, width: int, labels: Any) -> list[str]:
    """Return the names of a learner's compact columns: `name`, or `name__class`."""
    if width == 1:
        return [name]
    if labels is not None and len(labels) == width:
        return [f"{name}__{label}" for label in labels]
    return [f"{name}__{index}" for index in range(width)]


@dataclass(frozen=True)
class Layer:
    """The learners of one layer, and the table to read them from."""

    entries: tuple[Entry, ...]
    table: NodeTable
    problem: StackProblem

    def of(self, names: Collection[str]) -> "Layer":
        """Return the layer of some learners only; of all for none."""
        kept = tuple(entry for entry in self.entries if entry.name in names)
        return replace(self, entries=kept) if kept else self

    def keep_models(self, refs: Sequence[Ref]) -> None:
        """Forget the models of other nodes; those of one node share transformers that are equal."""
        self.table.keep_models({c for e in self.entries for c in self.table.cells(e.name, refs)})
        by_node: dict[Node, list[Any]] = {}
        for (_, node, _), model in self.table.models.items():
            by_node.setdefault(node, []).append(model)
        for models in by_node.values():
            share_steps(models)

    def answering(self, refs: Sequence[Ref]) -> list[Entry]:
        """Return the learners whose models of some nodes are there, to be asked about new rows."""
        cells = {entry.name: self.table.cells(entry.name, refs) for entry in self.entries}
        return [e for e in self.entries if cells[e.name].keys() <= self.table.models.keys()]

    def features(self, blocks: Sequence[Block]) -> Features:
        """Return the features of the blocks' rows, one block below the other."""
        outputs = [
            np.concatenate([self.table.read(entry.name, block) for block in blocks])
            for entry in self.entries
        ]
        extra = None
        if self.problem.passthrough is not None:
            extra = self.problem.extra(take_rows(self.problem.data.X, rows_of(blocks)))
        return self._features(outputs, extra, partial(self._numbers, blocks))

    def _numbers(self, blocks: Sequence[Block]) -> FloatArray:
        assert self.problem.numbers is not None
        return self.problem.numbers[rows_of(blocks)]

    def fresh(
        self,
        X: Any,
        refs: Sequence[Ref],
        original: Any,
        ignored: Collection[str] = (),
        jobs: int = 1,
    ) -> Features:
        """Return the features of new rows, read from the kept models, some nodes at a time.

        Learners whose answer is ignored are not asked, if it is known how wide it would be.
        """
        asked: dict[str, str] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.name in ignored):
            if entry.name not in ignored or entry.kind not in asked:
                asked[entry.kind] = entry.name
        entries = [e for e in self.entries if e.name not in ignored or e.name in asked.values()]
        means = self._mean_responses(entries, X, refs, jobs)
        each = [
            means[entry.name] if entry.name in means else np.zeros_like(means[asked[entry.kind]])
            for entry in self.entries
        ]
        encode = partial(numbers_of, self.problem.encoder, original)
        return self._features(each, self.problem.extra(original), encode)

    def _mean_responses(
        self, entries: Sequence[Entry], X: Any, refs: Sequence[Ref], jobs: int
    ) -> dict[str, FloatArray]:
        """Return learners' responses to new rows, the means over nodes."""
        counts = {entry.name: self.table.cells(entry.name, refs) for entry in entries}
        totals = {name: cells.total() for name, cells in counts.items()}
        asked = [
            [(entry, cell, counts[entry.name].pop(cell, 0)) for entry, cell in cells]
            for cells in ([(e, self.table.cell(e.name, ref)) for e in entries] for ref in refs)
        ]

        def responses(
            rows: slice, cells: Sequence[tuple[Entry, Cell, int]]
        ) -> dict[str, FloatArray]:
            # At a node, learners share what was done to the rows.
            some = AskedRows(X if n_rows <= BLOCK_ROWS else take_rows(X, every[rows]))
            problem, found = self.problem, {}
            with config_context(**config), one_thread("openmp") if alone else nullcontext():
                for entry, cell, times in cells:
                    if times:
                        model = self.table.model(cell)
                        own = some.respond(model, entry.method, problem.data, int(problem.amount))
                        own = compact(own, entry.kind, problem.data.n_classes)
                        found[entry.name] = times * own
            return found

        n_rows, config = int(X.shape[0]), get_config()
        every = np.arange(n_rows)
        blocks = [slice(i, i + BLOCK_ROWS) for i in range(0, max(n_rows, 1), BLOCK_ROWS)]
        work = [(rows, cells) for rows in blocks for cells in asked]
        sums: dict[str, FloatArray] = {}
        divided = jobs > 1 and len(work) > 1 and n_rows >= MANY_ROWS
        # Threads that others begin within each of ours, or for few rows, cost more than they gain.
        alone = divided or n_rows < MANY_ROWS
        with one_thread("blas") if alone else nullcontext():
            each: Iterable[dict[str, FloatArray]] = starmap(responses, work)
            if divided:
                pool = Parallel(jobs, "threading", return_as="generator")
                each = pool(delayed(responses)(*args) for args in work)
            for (rows, _), found in zip(work, each, strict=True):
                for name, own in found.items():
                    if name not in sums:
                        sums[name] = np.zeros((n_rows, own.shape[1]))
                    sums[name][rows] += own
        return {name: total / totals[name] for name, total in sums.items()}

    def _features(
        self, outputs: list[FloatArray], extra: Any, encode: Callable[[], FloatArray]
    ) -> Features:
        return Features(
            outputs,
            tuple(entry.name for entry in self.entries),
            tuple(entry.kind for entry in self.entries),
            self.problem.labels,
            self.problem.amount,
            extra,
            None if self.problem.encoder is None else encode,
        )
