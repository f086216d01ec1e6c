"""The checked input of a path: rows, their loss, and what the coefficients pay."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.errors import invalid_data, invalid_parameter
from foldwise.losses import Absolute, Huber, Logistic, Loss, Multinomial, Squared
from foldwise.losses.numbers import HUBER_CONSTANT, CappedPoisson, robust_spread
from foldwise.paths.gram import CentredMoments, moments_without_folds

LOSSES = ("squared", "logistic", "multinomial", "poisson", "huber")


@dataclass(frozen=True)
class PathRows:
    """Checked input of a path: a dictionary, its target, weights and offset."""

    D: Any
    y: NDArray
    weights: FloatArray
    offset: FloatArray
    loss: str
    scale: Loss

    def take(self, rows: NDArray) -> "PathRows":
        """Return some of the rows."""
        D = self.D.tocsr()[rows] if sparse.issparse(self.D) else self.D[rows]
        y, weights, offset = self.y[rows], self.weights[rows], self.offset[..., rows]
        return replace(self, D=D, y=y, weights=weights, offset=offset)

    def moments(self) -> CentredMoments:
        """Return the moments of all rows."""
        return next(self.moments_without(np.zeros(len(self.y), dtype=int)))

    def moments_without(self, folds: IntArray) -> Iterator[CentredMoments]:
        """Yield the moments of all rows, then of all rows but each held-out fold."""
        return moments_without_folds(self.D, self.y - self.offset, folds, self.weights)

    def losses(self, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictors ``eta``."""
        return self.scale.value(self.y, self._turned(eta))

    def slopes(self, eta: FloatArray) -> FloatArray:
        """Return the slope of every row's loss in each of the predictors ``eta``, shape (C, n)."""
        slopes = self._turned(self.scale.gradient(self.y, self._turned(eta)))
        return np.ascontiguousarray(slopes)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        """Return the curvature of every row's loss in each of the predictors ``eta``."""
        return self._turned(self.scale.curvature(self.y, self._turned(eta)))

    def _turned(self, eta: FloatArray) -> FloatArray:
        # Losses of several outputs have rows first, the paths have them last.
        return np.swapaxes(eta, -1, -2) if self.loss == "multinomial" else eta

    def from_moments(self) -> bool:
        """Tell whether moments alone are the cheapest way: squared error, and not too wide."""
        n, p = self.D.shape
        return self.loss == "squared" and p <= max(2 * n, 1000)


def checked_rows(
    D: Any,
    y: Any,
    loss: str,
    sample_weight: Any,
    offset: Any,
    huber_delta: float | None,
    n_classes: int | None = None,
) -> PathRows:
    """Return the input as arrays of the right kind, or say what is wrong with it.

    ``n_classes``: of "multinomial", where y may lack some; None to take it from y.
    """
    check_word("penalised_path", "loss", loss, LOSSES)
    D = D if sparse.issparse(D) else np.asarray(D, dtype=float)
    n = D.shape[0]
    target = np.asarray(y, dtype=int if loss == "multinomial" else float)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    n_classes = n_classes or (int(target.max()) + 1 if loss == "multinomial" else 1)
    shape = (n_classes, n) if loss == "multinomial" else (n,)
    moved = np.zeros(shape) if offset is None else np.asarray(offset, dtype=float)
    if len(target) != n or moved.shape != shape or weights.shape != (n,):
        names, must = "y, sample_weight and offset", f"have one entry for each of the {n} rows of D"
        got = [target.shape, weights.shape, moved.shape]
        fix = "Drop or repeat rows in all of them alike."
        raise invalid_data("penalised_path", names, must=must, got=got, fix=fix)
    if loss == "huber" and huber_delta is None:
        huber_delta = robust_delta(target, weights)
    made: dict[str, Loss] = {
        "squared": Squared(),
        "logistic": Logistic(),
        "multinomial": Multinomial(n_classes),
        "poisson": CappedPoisson(),
        "huber": Huber(threshold=huber_delta),
    }
    return PathRows(D, target, weights, moved, loss, made[loss])


def check_counts(owner: str, y: FloatArray, *, some: bool = False) -> None:
    """Raise unless y can be counts, with ``some`` not all of them zero."""
    if (y < 0).any() or (some and not y.any()):
        kind = "none negative and not all zero" if some else "none negative"
        must = f"hold counts, {kind}, with loss='poisson'"
        fix = "Use loss='squared' for numbers of either sign."
        raise invalid_data(owner, "y", must=must, got=float(y.min()), fix=fix)


def robust_delta(y: FloatArray, weights: FloatArray) -> float:
    """Return where Huber's loss turns linear by default: 1.345 robust standard deviations."""
    spread = robust_spread(y, weights)
    if spread == 0:
        away = y - Absolute().constant(y, weights)
        spread = float(np.sqrt(weights @ away**2 / weights.sum()))
    return HUBER_CONSTANT * (spread or 1.0)


def checked_folds(fold_of: Any, n: int) -> IntArray:
    """Return the fold of each row, or say what is wrong with it."""
    folds = np.asarray(fold_of)
    if folds.shape != (n,) or folds.dtype.kind not in "iu" or len(np.unique(folds)) < 2:
        must = f"be {n} integers, at least two of them different"
        fix = "Number the folds 0, 1, 2, ..."
        raise invalid_parameter("cross_validated_path", "fold_of", must=must, got=fold_of, fix=fix)
    return folds
