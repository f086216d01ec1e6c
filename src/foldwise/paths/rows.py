"""The checked input of a path: rows, their loss, and what the coefficients pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.errors import did_you_mean, invalid_data, invalid_parameter
from foldwise.paths.losses import LEAST_CURVATURE, Huber, Logistic, Loss, Poisson, Squared
from foldwise.paths.multinomial import multinomial_loss
from foldwise.paths.penalty import Penalty

LOSSES = ("squared", "logistic", "multinomial", "poisson", "huber")
# Huber's constant for 95 % efficiency under normal errors.
HUBER_CONSTANT = 1.345
NORMAL_CONSISTENT = 1.4826


@dataclass(frozen=True)
class Rows:
    """Checked input of a path: a dictionary, its target, weights and offset."""

    D: Any
    y: NDArray
    weights: FloatArray
    offset: FloatArray
    loss: str
    scale: Loss
    n_classes: int

    def take(self, rows: NDArray) -> Rows:
        """Return some of the rows."""
        D = self.D.tocsr()[rows] if sparse.issparse(self.D) else self.D[rows]
        offset = self.offset[..., rows]
        return Rows(
            D, self.y[rows], self.weights[rows], offset, self.loss, self.scale, self.n_classes
        )

    def losses(self, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictors ``eta``."""
        if self.loss == "multinomial":
            return multinomial_loss(self.y, eta)
        return self.scale.value(self.y, eta)

    def slopes(self, eta: FloatArray) -> FloatArray:
        """Return the slope of every row's loss in each of the predictors ``eta``, shape (C, n)."""
        if self.loss == "multinomial":
            return softmax(eta, axis=0) - (self.y == np.arange(self.n_classes)[:, None])
        return self.scale.slope(self.y, eta)

    def curvatures(self, eta: FloatArray) -> FloatArray:
        """Return the curvature of every row's loss in each of the predictors ``eta``."""
        if self.loss == "multinomial":
            p = softmax(eta, axis=0)
            return np.maximum(p * (1.0 - p), LEAST_CURVATURE)
        return self.scale.curvature(self.y, eta)

    def from_moments(self) -> bool:
        """Tell whether moments alone are the cheapest way: squared error, and not too wide."""
        n, p = self.D.shape
        return self.loss == "squared" and p <= max(2 * n, 1000)


def checked_rows(
    D: Any, y: Any, loss: str, sample_weight: Any, offset: Any, huber_delta: float | None
) -> Rows:
    """Return the input as arrays of the right kind, or say what is wrong with it."""
    if loss not in LOSSES:
        raise invalid_parameter(
            "penalised_path",
            "loss",
            must="be a loss of the paths",
            got=loss,
            fix=did_you_mean(loss, LOSSES),
        )
    D = D if sparse.issparse(D) else np.asarray(D, dtype=float)
    n = D.shape[0]
    target = np.asarray(y, dtype=int if loss == "multinomial" else float)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    n_classes = int(target.max()) + 1 if loss == "multinomial" else 1
    shape = (n_classes, n) if loss == "multinomial" else (n,)
    moved = np.zeros(shape) if offset is None else np.asarray(offset, dtype=float)
    if len(target) != n or moved.shape != shape or weights.shape != (n,):
        raise invalid_data(
            "penalised_path",
            "y, sample_weight and offset",
            must=f"have one entry for each of the {n} rows of D",
            got=[target.shape, weights.shape, moved.shape],
            fix="Drop or repeat rows in all of them alike.",
        )
    return Rows(
        D, target, weights, moved, loss, _scale(loss, target, weights, huber_delta), n_classes
    )


def _scale(loss: str, y: NDArray, weights: FloatArray, huber_delta: float | None) -> Loss:
    if loss == "huber":
        return Huber(robust_delta(y, weights) if huber_delta is None else huber_delta)
    if loss == "poisson":
        return Poisson()
    return Squared() if loss == "squared" else Logistic()


def robust_delta(y: FloatArray, weights: FloatArray) -> float:
    """Return where Huber's loss turns linear by default: 1.345 robust standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> round(robust_delta(np.array([1.0, 2.0, 3.0, 4.0, 100.0]), np.ones(5)), 3)
    1.994
    """
    away = np.abs(y - _weighted_median(y, weights))
    spread = NORMAL_CONSISTENT * _weighted_median(away, weights)
    if spread == 0:
        spread = float(np.sqrt(weights @ away**2 / weights.sum()))
    return HUBER_CONSTANT * (spread or 1.0)


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values)
    passed = np.cumsum(weights[order]) / weights.sum()
    low = int(np.searchsorted(passed, 0.5, "left"))
    high = min(int(np.searchsorted(passed, 0.5, "right")), len(order) - 1)
    return float(values[order[low]] + values[order[high]]) / 2


def checked_penalty(
    l1_ratio: float, penalty_factor: Any, non_negative: bool, n_columns: int
) -> Penalty:
    """Return the penalty, or say what is wrong with it."""
    if not 0 <= l1_ratio <= 1:
        raise invalid_parameter(
            "penalised_path",
            "l1_ratio",
            must="lie between 0 (ridge) and 1 (lasso)",
            got=l1_ratio,
            fix="Try 1.0, the lasso.",
        )
    factor = (
        np.ones(n_columns) if penalty_factor is None else np.asarray(penalty_factor, dtype=float)
    )
    if factor.shape != (n_columns,) or (factor < 0).any():
        raise invalid_parameter(
            "penalised_path",
            "penalty_factor",
            must=f"be {n_columns} numbers, none of them negative",
            got=penalty_factor,
            fix="Leave it out to penalise all columns alike.",
        )
    allowed = np.isfinite(factor)
    return Penalty(float(l1_ratio), np.where(allowed, factor, 1.0), allowed, non_negative)


def checked_folds(fold_of: Any, n: int) -> IntArray:
    """Return the fold of each row, or say what is wrong with it."""
    folds = np.asarray(fold_of)
    if folds.shape != (n,) or folds.dtype.kind not in "iu" or len(np.unique(folds)) < 2:
        raise invalid_parameter(
            "cross_validated_path",
            "fold_of",
            must=f"be {n} integers, at least two of them different",
            got=fold_of,
            fix="Number the folds 0, 1, 2, ...",
        )
    return folds
