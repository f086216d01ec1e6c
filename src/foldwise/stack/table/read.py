"""Reading the table: from the learners' responses to what a stacker is given."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit, softmax

from foldwise._sklearn import one_against_rest
from foldwise.arrays import Array, FloatArray
from foldwise.folds import Block, Ref
from foldwise.learners import respond, take_rows
from foldwise.scores.metric import Response
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.table.table import NodeTable, rows_of


def clip_amount(n_rows: float) -> float:
    """Return how near to 0 and 1 a probability may come before its logarithm is taken.

    Examples
    --------
    >>> clip_amount(99)
    0.005
    """
    return 0.5 / (n_rows + 1)


def compact(values: FloatArray, kind: str, n_classes: int | None = None) -> FloatArray:
    """Return a response so that means of it make sense, in as few columns as that takes.

    Of two probabilities the second is kept. Labels of several classes become one column a
    class, so that the mean over models is the share of their votes.

    Examples
    --------
    >>> import numpy as np
    >>> compact(np.array([[2.0], [0.0]]), "label", 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    if kind == "probability" and values.shape[1] == 2:
        return values[:, 1:]
    if kind == "label" and n_classes is not None and n_classes > 2:
        return np.eye(n_classes)[values[:, 0].astype(np.intp)]
    return values


def as_logits(values: FloatArray, clip: float) -> FloatArray:
    """Return centred log-probabilities; one logit for two classes.

    Shapes: ``values`` (n_samples, 1) or (n_samples, n_classes).

    Examples
    --------
    >>> import numpy as np
    >>> as_logits(np.array([[0.5], [1.0]]), 0.01).round(1).tolist()
    [[0.0], [4.6]]
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
    names: tuple[str, ...]  # the learners, and what each response means
    kinds: tuple[str, ...]  # the learners, and what each response means
    labels: Array | None  # the classes; None for regression
    # number of rows the stack was fitted on; it decides how probabilities are clipped
    amount: float
    extra: Any = None  # columns passed through

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
        """Return the features of some learners only, in the order of the names."""
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
    """Return the names of a learner's compact columns: `name`, or `name__class`.

    Examples
    --------
    >>> column_names("lda", 3, ["a", "b", "c"])
    ['lda__a', 'lda__b', 'lda__c']
    """
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
        self, X: Any, refs: Sequence[Ref], original: Any, ignored: Collection[str] = ()
    ) -> Features:
        """Return the features of new rows, read from the kept models.

        Learners whose answer is ignored are not asked, if it is known how wide it would be.
        """
        outputs: dict[str, FloatArray] = {}
        like: dict[str, FloatArray] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.name in ignored):
            if entry.name in ignored and entry.kind in like:
                outputs[entry.name] = np.zeros_like(like[entry.kind])
            else:
                like[entry.kind] = outputs[entry.name] = self._mean_response(entry, X, refs)
        each = [outputs[entry.name] for entry in self.entries]
        return self._features(each, self.problem.extra(original))

    def _mean_response(self, entry: Entry, X: Any, refs: Sequence[Ref]) -> FloatArray:
        """Return a learner's response to new rows, the mean over nodes."""
        cells = self.table.cells(entry.name, refs)
        total: Any = 0.0
        for cell, times in cells.items():
            model, data = self.table.models[cell], self.problem.data
            values = respond(model, X, entry.method, data, int(self.problem.amount))
            total = total + times * compact(values, entry.kind, data.n_classes)
        return np.asarray(total / cells.total())

    def _features(self, outputs: list[FloatArray], extra: Any) -> Features:
        return Features(
            outputs,
            tuple(entry.name for entry in self.entries),
            tuple(entry.kind for entry in self.entries),
            self.problem.labels,
            self.problem.amount,
            extra,
        )
