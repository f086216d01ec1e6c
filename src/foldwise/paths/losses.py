"""Losses of a linear predictor: value, slope and curvature of every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import entr, expit, xlogy

from foldwise.arrays import FloatArray

# Curvatures below this are raised to it, as glmnet does, so that a row whose probability has
# reached 0 or 1 cannot make a Newton step infinite.
LEAST_CURVATURE = 1e-5
# exp() of a larger predictor only overflows.
LARGEST_EXPONENT = 30.0


class Loss(Protocol):
    """What the solvers need to know about a loss."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictor ``eta``."""
        ...

    def slope(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the derivative of every row's loss."""
        ...

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return a positive second derivative, or a bound on it, of every row's loss."""
        ...

    def least(self, y: FloatArray) -> FloatArray:
        """Return the smallest loss each row could have."""
        ...


class _Perfectible:
    def least(self, y: FloatArray) -> FloatArray:
        """Return the smallest loss each row could have: zero."""
        return np.zeros_like(y)


class Squared(_Perfectible):
    """Half the squared error, ``(y - eta)**2 / 2``."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictor ``eta``."""
        return 0.5 * (y - eta) ** 2

    def slope(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the derivative of every row's loss."""
        return eta - y

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return one for every row."""
        return np.ones_like(eta)


class Logistic:
    """Log-loss of a target in [0, 1] under the probability ``expit(eta)``."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictor ``eta``."""
        return np.logaddexp(0.0, eta) - y * eta

    def slope(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the derivative of every row's loss."""
        return expit(eta) - y

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return ``p (1 - p)`` for every row."""
        p = expit(eta)
        return np.maximum(p * (1.0 - p), LEAST_CURVATURE)

    def least(self, y: FloatArray) -> FloatArray:
        """Return the entropy of each target: zero for a class, more for a proportion."""
        return np.asarray(entr(y) + entr(1.0 - y))


class Poisson:
    """Poisson loss of a count under the mean ``exp(eta)``: ``exp(eta) - y eta``."""

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictor ``eta``."""
        return np.exp(np.minimum(eta, LARGEST_EXPONENT)) - y * eta

    def slope(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the derivative of every row's loss."""
        return np.exp(np.minimum(eta, LARGEST_EXPONENT)) - y

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the mean of every row."""
        return np.maximum(np.exp(np.minimum(eta, LARGEST_EXPONENT)), LEAST_CURVATURE)

    def least(self, y: FloatArray) -> FloatArray:
        """Return the loss of a mean equal to the count."""
        return y - xlogy(y, y)


@dataclass(frozen=True)
class Huber(_Perfectible):
    """Huber's loss: quadratic up to ``delta``, linear beyond."""

    delta: float

    def value(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictor ``eta``."""
        size = np.abs(y - eta)
        return np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))

    def slope(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the derivative of every row's loss."""
        return np.clip(eta - y, -self.delta, self.delta)

    def curvature(self, y: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the curvature of the parabola that touches the loss and lies above it."""
        return self.delta / np.maximum(np.abs(y - eta), self.delta)
