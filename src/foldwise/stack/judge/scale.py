"""How far off a row is expected to be: the width that an interval needs there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from foldwise.arrays import Array, FloatArray
from foldwise.stack.stackers.means import MemberStacker
from foldwise.stack.table.read import Features

# Chosen on tables and simulations that benchmarks/coverage.py does not show.
KNOTS = ((0.02, 0.34, 0.66, 0.98), (0.02, 0.98))  # of the mean, of the spread
TRIM = 0.99
RIDGE = 1.0
LEAST = 1e-3  # of the mean error: what an exact prediction counts as, since it may be luck
MOST_ROWS = 20_000  # five coefficients need no more
FURTHEST = 3.0  # a scale is at most exp(3) times as large or small as the mean error


@dataclass(frozen=True)
class ErrorScale:
    """How far off a row is expected to be, by the learners' mean and how far they are apart.

    The logarithm is piecewise linear in the mean and linear in the logarithm of the spread,
    constant beyond the rows it was fitted on. The mean is the learners' own, better ones with more
    weight: no stacker need answer rows it was fitted on, and intervals need the scale up to a
    factor only.
    """

    heard: tuple[int, ...]  # the learners that the stacker listens to
    shares: FloatArray  # their weights
    usual: float  # the mean absolute error
    knots: tuple[FloatArray, ...]  # of the mean and of the log spread
    coefficients: FloatArray

    def of(self, features: Features) -> FloatArray:
        """Return how far off each row is expected to be."""
        inputs = _inputs(features.members[:, self.heard, 0], self.shares, self.usual)
        eta = _design(inputs, self.knots) @ self.coefficients
        return self.usual * np.exp(np.clip(eta, -FURTHEST, FURTHEST))


def error_scale(
    stacker: Any, features: Features, y: Array, weight: FloatArray | None = None
) -> ErrorScale:
    """Fit the scale to out-of-fold errors: a gamma regression with a slight ridge.

    A few outliers cannot move it: the largest hundredth of the errors is cut off. Of many rows,
    every second, third, ... is looked at.
    """
    some = slice(None, None, -(-len(y) // MOST_ROWS))
    weight = np.ones(len(y)) if weight is None else weight
    y, weight = y[some], weight[some]
    # Weights whose sum is smaller than their number are no counts.
    weight = weight * max(1.0, len(weight) / weight.sum())
    ignored = stacker.ignored(features.names) if isinstance(stacker, MemberStacker) else ()
    heard = tuple(m for m, name in enumerate(features.names) if name not in ignored)
    members = features.members[some][:, heard, 0]
    losses = np.average((members - y[:, None]) ** 2, axis=0, weights=weight)
    shares = 1.0 / (losses + (LEAST**2 * losses.max(initial=0.0) or 1.0))
    shares = shares / shares.sum()
    errors = np.abs(members @ shares - y)
    usual = float(np.average(errors, weights=weight)) or 1.0
    inputs = _inputs(members, shares, usual)
    knots = tuple(_quantiles(own, weight, at) for own, at in zip(inputs.T, KNOTS, strict=True))
    (most,) = _quantiles(errors, weight, (TRIM,))
    errors = np.maximum(np.minimum(errors, most) / usual, LEAST)
    coefficients = _gamma_regression(_design(inputs, knots), errors, weight)
    return ErrorScale(heard, shares, usual, knots, coefficients)


def _inputs(members: FloatArray, shares: FloatArray, usual: float) -> FloatArray:
    """Return the learners' mean and the logarithm of their spread."""
    mean = members @ shares
    apart = np.sum((members - mean[:, None]) ** 2, axis=1) / max(len(shares), 1)
    return np.column_stack([mean, np.log(np.sqrt(apart) + 0.01 * usual)])


def _quantiles(values: FloatArray, weight: FloatArray, shares: Sequence[float]) -> FloatArray:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return values[order][np.searchsorted(below, np.asarray(shares) * below[-1])]


def _design(inputs: FloatArray, knots: Sequence[FloatArray]) -> FloatArray:
    """Return ones and, for each input, how far it is beyond each knot but the last."""
    columns = [np.ones(len(inputs))]
    for column, own in zip(inputs.T, knots, strict=True):
        width = (own[-1] - own[0]) or 1.0
        inside = np.clip(column, own[0], own[-1])
        columns += [np.maximum(inside - knot, 0.0) / width for knot in own[:-1]]
    return np.column_stack(columns)


def _gamma_regression(design: FloatArray, errors: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the coefficients of log E(error) with the least deviance and ridge."""
    ridge = np.full(design.shape[1], RIDGE)
    ridge[0] = 0.0  # the intercept

    def value(coefficients: FloatArray) -> float:
        eta = design @ coefficients
        return float(weight @ (eta + errors * np.exp(-eta)) + 0.5 * ridge @ coefficients**2)

    def gradient(coefficients: FloatArray) -> FloatArray:
        ratio = errors * np.exp(-design @ coefficients)
        return design.T @ (weight * (1.0 - ratio)) + ridge * coefficients

    def curvature(coefficients: FloatArray) -> FloatArray:
        ratio = errors * np.exp(-design @ coefficients)
        return (design.T * (weight * ratio)) @ design + np.diag(ridge)

    start = np.zeros(design.shape[1])
    found = minimize(value, start, jac=gradient, hess=curvature, method="trust-exact")
    return np.asarray(found.x)
