"""New coefficients for the trees of an ensemble: lasso, stagewise, or shrunk to the average."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.paths import cross_validated_path
from foldwise.paths.rows import checked_rows
from foldwise.paths.stagewise import walk, walker

STEPS, POINTS = 4000, 100
"""Stagewise steps taken, and the points of the path the folds choose from."""


@dataclass(frozen=True)
class Task:
    """What the coefficients are to do."""

    y: Array  # targets (classes are 0, 1, ...) and positive weights
    weight: FloatArray  # targets (classes are 0, 1, ...) and positive weights
    folds: IntArray  # fold of each row
    loss: str  # A loss of the paths
    huber_delta: float  # where the Huber loss turns linear
    n_outputs: int  # number of classes for "multinomial", else 1
    choose: str  # how the folds choose
    non_negative: bool  # whether coefficients below zero are ruled out


@dataclass(frozen=True)
class Reweighting:
    """Coefficients, and how they were chosen."""

    coefs: FloatArray  # (n_outputs, n_columns): coefficients of the columns
    intercepts: FloatArray  # intercepts
    cv_loss: FloatArray  # cross-validated loss along the path and its standard error
    cv_se: FloatArray  # cross-validated loss along the path and its standard error
    index: int  # point chosen


def reweigh(columns: FloatArray, task: Task, how: str) -> Reweighting:
    """Return new coefficients for the columns of a tree dictionary.

    Columns are not standardised: a tree that moves predictions little pays more for moving
    them much. Standardising keeps three times as many trees and predicts worse, since the late
    trees of a boosted dictionary fit noise.

    ``how``: "lasso" and "stagewise" drop trees. "shrink" penalises the distance of the coefficients
    from a common one, so that a large penalty gives back the plain average.

    Shapes: ``columns`` (n_rows, n_columns).
    """
    ways = {"lasso": _lasso, "stagewise": _stagewise, "shrink": _shrink}
    return ways[how](columns, task)


def chosen_index(cv_loss: FloatArray, cv_se: FloatArray, choose: str) -> int:
    """Return the position of the lowest loss, or of the first within one error of it.

    Examples
    --------
    >>> loss, se = np.array([3.0, 2.1, 2.0]), np.array([0.3, 0.2, 0.2])
    >>> chosen_index(loss, se, "min"), chosen_index(loss, se, "1se")
    (2, 1)
    """
    best = int(np.argmin(cv_loss))
    if choose == "min":
        return best
    return int(np.flatnonzero(cv_loss <= cv_loss[best] + cv_se[best])[0])


def penalty_grid(n_rows: int, n_terms: int) -> dict[str, Any]:
    """Return the length of a path: three decades of penalties, or two for many terms.

    With as many terms as half the rows, smaller penalties only follow the noise, slowly.
    """
    if 2 * n_terms < n_rows:
        return {"n_lambdas": 100, "lambda_min_ratio": 1e-3}
    return {"n_lambdas": 67, "lambda_min_ratio": 1e-2}


def _lasso(columns: FloatArray, task: Task, factor: FloatArray | None = None) -> Reweighting:
    path = cross_validated_path(
        columns,
        task.y,
        loss=task.loss,
        fold_of=task.folds,
        sample_weight=task.weight,
        huber_delta=task.huber_delta,
        **penalty_grid(*columns.shape),
        non_negative=task.non_negative,
        penalty_factor=factor,
    )
    index = chosen_index(path.cv_loss, path.cv_se, task.choose)
    coefs, intercepts = np.atleast_2d(path.coefs[index]), np.atleast_1d(path.intercepts[index])
    return Reweighting(coefs, intercepts, path.cv_loss, path.cv_se, index)


def _shrink(columns: FloatArray, task: Task) -> Reweighting:
    output_of = np.arange(columns.shape[1]) % task.n_outputs
    averaging = (output_of[:, None] == np.arange(task.n_outputs)).astype(float)
    averaging /= averaging.sum(axis=0)
    n_free = averaging.shape[1]
    factor = np.r_[np.zeros(n_free), np.ones(columns.shape[1])]
    found = _lasso(np.hstack([columns @ averaging, columns]), task, factor)
    coefs = found.coefs[:, n_free:] + found.coefs[:, :n_free] @ averaging.T
    return Reweighting(coefs, found.intercepts, found.cv_loss, found.cv_se, found.index)


def _stagewise(columns: FloatArray, task: Task) -> Reweighting:
    rows = checked_rows(columns, task.y, task.loss, task.weight, None, task.huber_delta)
    scale = float(np.std(task.y)) if task.loss in {"squared", "huber"} else 1.0
    epsilon = 0.01 * (scale or 1.0) / (float(columns.std(axis=0).max()) or 1.0)
    whole = walk(walker(rows, epsilon), STEPS, POINTS)
    losses, shares = [], []
    for fold in np.unique(task.folds):
        seen = task.folds != fold
        part = walk(walker(rows.take(seen), epsilon), STEPS, POINTS).at(whole.arc_length)
        held = rows.take(~seen)
        losses.append(held.losses(part.predictor(held.D)) @ held.weights / held.weights.sum())
        shares.append(held.weights.sum() / task.weight.sum())
    fold_loss, share = np.array(losses), np.array(shares)
    cv_loss = share @ fold_loss
    cv_se = np.sqrt(share @ (fold_loss - cv_loss) ** 2 / max(len(share) - 1, 1))
    index = chosen_index(cv_loss, cv_se, task.choose)
    coefs, intercepts = np.atleast_2d(whole.coefs[index]), np.atleast_1d(whole.intercepts[index])
    return Reweighting(coefs, intercepts, cv_loss, cv_se, index)
