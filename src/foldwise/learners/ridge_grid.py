"""Shortcut for RidgeCV with its leave-one-out choice of the penalty."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.linear import Solution, fit_linear, is_plain_target
from foldwise.learners.matrix import BLOCK_BYTES, Matrix, centre_of, matrix_of
from foldwise.learners.solve import Problem, ridge
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

# The best penalty must win by this share of its score, or rounding might have chosen it.
CLEAR_WIN = 1e-7
SMALLEST_LEFT = 1e-6


def handles_ridge_grid(learner: Any, data: TrainingData) -> bool:
    """Tell whether a RidgeCV chooses by squared leave-one-out errors among positive penalties."""
    alphas = np.asarray(learner.alphas)
    return (
        learner.cv is None
        and learner.scoring is None
        and not learner.store_cv_results
        and not (learner.alpha_per_target and data.y.ndim == 2 and data.y.shape[1] == 1)
        and learner.gcv_mode in (None, "auto", "eigen", "svd")
        and alphas.ndim <= 1
        and alphas.size > 0
        and alphas.dtype.kind in "fiu"
        and bool(np.isfinite(alphas).all() and (alphas > 0).all())
        and is_plain_target(data)
    )


def fit_ridge_grid(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit RidgeCV at all nodes: one eigendecomposition a node serves all penalties."""
    matrix = matrix_of(data.X)
    if matrix is None:
        return None
    centre = centre_of(matrix)
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)

    def solve(last: Any, problem: Problem, rows: IntArray) -> Solution | None:
        alphas = np.asarray(last.alphas, dtype=np.float64).reshape(-1)
        losses = leave_one_out_losses(
            problem, alphas, _Rows(matrix, centre, y, data.sample_weight, rows), last.fit_intercept
        )
        if losses is None:
            return None
        each = last.alpha_per_target and y.shape[1] > 1
        chosen = _clear_winners(losses if each else losses.mean(axis=1, keepdims=True))
        if chosen is None:
            return None
        coefficients = ridge(problem, np.broadcast_to(alphas[chosen], problem.level.shape))
        if coefficients is None:
            return None
        best = -losses[chosen, np.arange(len(chosen))] if each else -losses[chosen[0]].mean()
        alpha = alphas[chosen] if each else float(alphas[chosen[0]])
        return Solution(coefficients, {"alpha_": alpha, "best_score_": best})

    return fit_linear(learner, data, tasks, method, solve)


class _Rows:
    """The rows of a node, read a block at a time."""

    def __init__(
        self,
        matrix: Matrix,
        centre: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
        rows: IntArray,
    ) -> None:
        self.matrix, self.centre, self.y, self.rows = matrix, centre, y, rows
        self.weight = np.ones(len(y)) if weight is None else weight
        self.total = float(self.weight[rows].sum())
        step = max(64, BLOCK_BYTES // (8 * matrix.shape[1]))
        self.parts = [rows[start : start + step] for start in range(0, len(rows), step)]


def leave_one_out_losses(
    problem: Problem, alphas: FloatArray, node: _Rows, fit_intercept: bool
) -> FloatArray | None:
    """Return the mean squared leave-one-out error for each penalty and target.

    In the basis of eigenvectors, the leverage of a row is a sum of its squared coordinates,
    so that a penalty costs O(n * p) after O(n * p ** 2) for the basis.

    Shapes: returns (n_alphas, n_targets).
    """
    eigenvalues, vectors = np.linalg.eigh(problem.gram)
    shrink = 1.0 / (np.maximum(eigenvalues, 0.0)[:, None] + alphas)
    coordinates = (vectors.T @ problem.right)[:, None, :] * shrink[:, :, None]
    basis = vectors / problem.scale[:, None]
    losses = np.zeros((len(alphas), problem.right.shape[1]))
    for part in node.parts:
        q = (node.matrix.take(part) - node.centre - problem.point) @ basis
        weight = node.weight[part][:, None]
        fitted = (q @ coordinates.reshape(len(basis), -1)).reshape(len(part), *losses.shape)
        left = 1.0 - weight * (np.square(q, out=q) @ shrink)
        if fit_intercept:
            left -= weight / node.total
        if left.min() < SMALLEST_LEFT:
            return None
        errors = ((node.y[part] - problem.level)[:, None, :] - fitted) / left[:, :, None]
        losses += np.einsum("i,ijk->jk", weight[:, 0], np.square(errors, out=errors))
    return losses / len(node.rows)


def _clear_winners(losses: FloatArray) -> IntArray | None:
    """Return the row of the smallest loss in each column, None if one is nearly tied."""
    chosen = np.argmin(losses, axis=0)
    best = losses[chosen, np.arange(losses.shape[1])]
    tied = np.count_nonzero(losses <= best * (1 + CLEAR_WIN), axis=0)
    return chosen if (tied == 1).all() else None
