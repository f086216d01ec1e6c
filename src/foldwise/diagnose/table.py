"""What diagnosis looks at: honest predictions of every model for every row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.errors import Plain, invalid_data, unsupported
from foldwise.scores.metric import Metric

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Claim:
    """A score somebody might report, beside the honest one.

    Attributes
    ----------
    name : str
        What it is called.
    score : float
        Greater is better.
    gap, gap_se : float
        How much better than the honest score on the same rows, and the standard error of
        that paired difference.
    why : str
        What makes it optimistic.

    Examples
    --------
    >>> Claim("fit seen", -0.7, 0.3, 0.07, "its stacker was trained on the rows").gap
    0.3
    """

    name: str
    score: float
    gap: float
    gap_se: float
    why: str


@dataclass(frozen=True)
class OutOfFoldTable:
    """Predictions of each model for rows it has not seen, and what they should have been.

    Attributes
    ----------
    names : tuple of str
        The models.
    predictions : ndarray of shape (n_repeats, n_rows, n_models, width)
        Values of each target, or probabilities of each class.
    y : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Targets, or class codes.
    classes : ndarray or None
        The classes behind the codes; None for regression.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    fold : ndarray of int of shape (n_rows,) or None
        The fold of each row in the first repeat.
    score_of : callable or None
        Maps a tuple of model numbers to the honest score, greater is better, of the ensemble
        that has only these; the empty tuple to that of a constant. None is the plain mean
        under squared error or log-loss.
    metric : str
        What is scored.
    claims : callable or None
        Gives the optimistic scores beside the honest one (see :func:`leak_audit`).
    score, score_se : float
        The honest score of the whole ensemble and its standard error, NaN if unknown.
    unit : ndarray of int of shape (n_rows,) or None
        The group of each row.
    scorer : Metric or None
        The metric itself.

    Examples
    --------
    >>> table = OutOfFoldTable.from_arrays([[1.0, 3.0], [2.0, 2.0]], [2.0, 2.0])
    >>> table.names, table.predictions.shape
    (('model 0', 'model 1'), (1, 2, 2, 1))
    """

    names: tuple[str, ...]
    predictions: FloatArray
    y: Array
    classes: Array | None = None
    weight: FloatArray | None = None
    fold: IntArray | None = None
    score_of: Callable[[Subset], float] | None = field(default=None, repr=False)
    metric: str = "score"
    claims: Callable[[], tuple[Claim, ...]] | None = field(default=None, repr=False)
    score: float = float("nan")
    score_se: float = float("nan")
    unit: IntArray | None = None
    scorer: Metric | None = field(default=None, repr=False)

    @classmethod
    def from_arrays(
        cls,
        predictions: Any,
        y: Any,
        *,
        names: Sequence[str] | None = None,
        classes: Any = None,
        sample_weight: Any = None,
        fold: Any = None,
    ) -> "OutOfFoldTable":
        """Build a table from predictions made elsewhere.

        Parameters
        ----------
        predictions : array-like of shape (n_rows, n_models) or (n_rows, n_models, width)
            Values; for classes labels (two dimensions) or probabilities (three). With one
            dimension more in front: repeats.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
            Targets or labels.
        names : sequence of str or None
            The models' names.
        classes : array-like or None
            All classes, in the order of the probabilities; None for regression.
        sample_weight : array-like of shape (n_rows,) or None
            Weights of the rows.
        fold : array-like of int of shape (n_rows,) or None
            The fold of each row.

        Returns
        -------
        OutOfFoldTable
            The checked table.
        """
        target, labels = np.asarray(y), None
        values = np.asarray(predictions)
        if classes is not None:
            labels = np.asarray(classes)
            target = _codes(target, labels, "y")
            if values.ndim == 2:
                values = np.eye(len(labels))[_codes(values, labels, "predictions")]
        elif values.ndim == 2:
            values = values[:, :, None]
        values = np.asarray(values if values.ndim == 4 else values[None], dtype=np.float64)
        _check_shape(values, target, labels)
        n_models = values.shape[2]
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        called = [f"model {m}" for m in range(n_models)] if names is None else names
        folds = None if fold is None else np.asarray(fold, dtype=np.intp)
        return cls(tuple(called), values, target, labels, weight, folds)

    @property
    def n_repeats(self) -> int:
        """Number of predictions of each row by each model."""
        return self.predictions.shape[0]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.predictions.shape[1]

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.predictions.shape[2]

    @cached_property
    def share(self) -> FloatArray:
        """Weights of the rows, summing to one."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return weight / weight.sum()

    @cached_property
    def target(self) -> FloatArray:
        """What predictions are compared with, of shape (n_rows, width): ones for the class."""
        if self.classes is not None:
            return np.eye(len(self.classes))[self.y]
        return self.y.reshape(self.n_rows, -1).astype(np.float64)

    @cached_property
    def correct(self) -> BoolArray:
        """Whether each model names the right class, of shape (n_repeats * n_rows, n_models)."""
        right = self.predictions.argmax(axis=3) == self.y[None, :, None]
        return right.reshape(-1, self.n_models)

    @cached_property
    def repeated_share(self) -> FloatArray:
        """The share of each row of ``correct``."""
        return np.tile(self.share, self.n_repeats) / self.n_repeats


def table_of(source: Any, owner: str) -> OutOfFoldTable:
    """Return the table of a fitted ensemble, or the table itself."""
    if isinstance(source, OutOfFoldTable):
        return source
    if hasattr(source, "out_of_fold_table"):
        table: OutOfFoldTable = source.out_of_fold_table()
        return table
    if hasattr(source, "stack_"):
        return table_of(source.stack_, owner)
    must = "be a fitted stack or an OutOfFoldTable"
    fix = "Fit a foldwise stack, or use OutOfFoldTable.from_arrays."
    raise unsupported(owner, "source", must=must, got=Plain(type(source).__name__), fix=fix)


def as_text(frame: pd.DataFrame, numbers: str = ".4g", *, index: bool = False) -> str:
    """Return a frame as people read it, numbers in the given format."""
    return frame.to_string(index=index, float_format=lambda value: format(value, numbers))


def classes_needed(table: OutOfFoldTable, owner: str, instead: str) -> None:
    """Complain about a table of numbers where only classes make sense."""
    if table.classes is None:
        must, got = "predict classes", Plain("numbers")
        raise unsupported(owner, "source", must=must, got=got, fix=instead)


def _codes(values: Array, labels: Array, name: str) -> IntArray:
    order = np.argsort(labels)
    places = np.clip(np.searchsorted(labels[order], values), 0, len(labels) - 1)
    codes = order[places]
    unknown = labels[codes] != values
    if unknown.any():
        must, got = "hold only the given classes", values[unknown][0].item()
        raise invalid_data("OutOfFoldTable", name, must=must, got=got, fix="Add it to classes.")
    return codes


def _check_shape(values: FloatArray, y: Array, labels: Array | None) -> None:
    width = (1 if y.ndim == 1 else y.shape[1]) if labels is None else len(labels)
    if values.ndim != 4 or values.shape[1] != len(y) or values.shape[3] != width:
        must = f"have {len(y)} rows and {width} columns a model"
        got = Plain(f"shape {values.shape[1:]}")
        fix = "Give an array of shape (n_rows, n_models) or (n_rows, n_models, width)."
        raise invalid_data("OutOfFoldTable", "predictions", must=must, got=got, fix=fix)
    if not np.isfinite(values).all():
        got, fix = Plain("NaN or infinity"), "Leave out rows without predictions."
        raise invalid_data("OutOfFoldTable", "predictions", must="be finite", got=got, fix=fix)
