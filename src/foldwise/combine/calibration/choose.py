"""Choosing a calibration method by its log-loss on rows it was not fitted on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import CalibrationMap
from foldwise.combine.calibration.named import fit_calibrator

NONE = "none"
# Beyond, the squared number of slopes costs more time than it is worth.
MOST_CLASSES_FOR_MATRIX = 30


@dataclass(frozen=True, eq=False)
class Calibration:
    """The chosen method, and why.

    Attributes
    ----------
    method : str
        Its name; "none" where the predictions are best left as they are.
    map : CalibrationMap or None
        Fitted on all rows; None for "none".
    losses : dict
        The log-loss of every method on rows it was not fitted on; empty if there was no choice.
    """

    method: str
    map: CalibrationMap | None
    losses: dict[str, float]


def default_methods(n_classes: int) -> tuple[str, ...]:
    """Return the methods that "auto" chooses from, the simplest first.

    Parameters
    ----------
    n_classes : int
        Number of classes.

    Returns
    -------
    tuple of str
        Methods that hardly ever do harm, "none" included.

    Examples
    --------
    >>> default_methods(2)
    ('none', 'temperature', 'platt', 'beta', 'quadratic')
    """
    if n_classes == 2:
        return (NONE, "temperature", "platt", "beta", "quadratic")
    if n_classes <= MOST_CLASSES_FOR_MATRIX:
        return (NONE, "temperature", "vector", "matrix")
    return (NONE, "temperature", "vector")


def choose_calibration(
    logits: FloatArray,
    y: IntArray,
    methods: Sequence[str],
    fold: IntArray,
    *,
    plain: FloatArray | None = None,
    sample_weight: FloatArray | None = None,
    unit: IntArray | None = None,
    in_order: bool = False,
) -> Calibration:
    """Choose a method by cross-validated log-loss and fit it on all rows.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        Of predictions made by models that had not seen the rows.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    methods : sequence of str
        What to choose from, the simplest first; "none" changes nothing.
    fold : ndarray of int of shape (n_samples,)
        A method is tested on each fold in turn, fitted on the others.
    plain : ndarray of shape (n_samples, n_classes) or None
        The predictions that "none" leaves as they are.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    unit : ndarray of int of shape (n_samples,) or None
        Groups of rows that depend on each other, for the standard error.
    in_order : bool, default=False
        Whether a fold is tested by what was fitted on the folds before it only.

    Returns
    -------
    Calibration
        The best method, unless a simpler one is within one standard error of the paired
        difference of their losses.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(scale=2, size=500)
    >>> y = (rng.uniform(size=500) < 1 / (1 + np.exp(-z))).astype(int)
    >>> sure = 1 / (1 + np.exp(-3 * z))
    >>> plain = np.column_stack([1 - sure, sure])
    >>> found = choose_calibration(
    ...     3 * z, y, ("none", "temperature", "beta"), np.arange(500) % 5, plain=plain
    ... )
    >>> found.method, round(1 / found.map.slope, 1)
    ('temperature', 2.5)
    """
    method, losses = methods[0], {}
    if len(methods) > 1:
        how: dict[str, Any] = {"plain": plain, "sample_weight": sample_weight, "in_order": in_order}
        held = {name: cross_calibrated(name, logits, y, fold, **how) for name in methods}
        rows = held[method][0]
        weight = row_weights(len(y), sample_weight)[rows]
        if len(rows) and weight.sum() > 0:
            each = {name: _log_losses(p, y[rows]) for name, (_, p) in held.items()}
            share = weight / weight.sum()
            losses = {name: float(share @ loss) for name, loss in each.items()}
            method = _simplest_good(losses, each, share, None if unit is None else unit[rows])
    if method == NONE:
        return Calibration(NONE, None, losses)
    return Calibration(method, fit_calibrator(method, logits, y, sample_weight), losses)


def cross_calibrated(
    method: str,
    logits: FloatArray,
    y: IntArray,
    fold: IntArray,
    *,
    plain: FloatArray | None = None,
    sample_weight: FloatArray | None = None,
    in_order: bool = False,
) -> tuple[IntArray, FloatArray]:
    """Return rows, and their probabilities by maps that were fitted on other folds.

    Parameters
    ----------
    method : str
        The name of a method, or "none".
    logits, y, fold, plain, sample_weight, in_order
        As in :func:`choose_calibration`.

    Returns
    -------
    rows : ndarray of int
        All of them; forward in time those after the first fold.
    probabilities : ndarray of shape (n_rows, n_classes)
        In the order of ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> logits, y = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 2), np.array([0, 1, 0, 1] * 2)
    >>> rows, p = cross_calibrated("temperature", logits, y, np.repeat([0, 1], 4))
    >>> rows.tolist(), p.shape
    ([0, 1, 2, 3, 4, 5, 6, 7], (8, 2))
    """
    rows, parts = [np.empty(0, dtype=np.intp)], []
    for train, test in _splits(fold, in_order):
        rows.append(test)
        if method == NONE:
            assert plain is not None
            parts.append(plain[test])
            continue
        weight = None if sample_weight is None else sample_weight[train]
        parts.append(fit_calibrator(method, logits[train], y[train], weight).predict(logits[test]))
    return np.concatenate(rows), np.concatenate(parts) if parts else np.empty((0, 0))


def _splits(fold: IntArray, in_order: bool) -> Iterator[tuple[IntArray, IntArray]]:
    for one in np.unique(fold):
        train = np.flatnonzero(fold < one if in_order else fold != one)
        if len(train):
            yield train, np.flatnonzero(fold == one)


def _log_losses(probabilities: FloatArray, y: IntArray) -> FloatArray:
    tiny = np.finfo(np.float64).eps
    return -np.log(np.clip(probabilities[np.arange(len(y)), y], tiny, 1.0 - tiny))


def _simplest_good(
    losses: dict[str, float], each: dict[str, FloatArray], share: FloatArray, unit: IntArray | None
) -> str:
    best = min(losses, key=lambda name: losses[name])
    place = np.arange(len(share)) if unit is None else np.unique(unit, return_inverse=True)[1]
    n = int(place.max()) + 1
    for name, loss in losses.items():
        by_row = share * (each[name] - each[best] - (loss - losses[best]))
        difference = np.bincount(place, weights=by_row)
        error = np.sqrt(np.sum(difference**2) * n / (n - 1)) if n > 1 else np.inf
        if loss - losses[best] <= error:
            return name
    return best
