"""Shortcuts for LinearRegression and Ridge, bare or behind a StandardScaler."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline

from foldwise.arrays import FloatArray, IntArray
from foldwise.engine.executor import MAPPED
from foldwise.learners.moments import (
    EPSILON,
    AtomMoments,
    NodeMoments,
    NormalEquations,
    Scaling,
    atom_moments,
    fits_in_memory,
    least_squares,
    node_moments,
    normal_equations,
    ridge,
    scaling_of,
)
from foldwise.learners.prepare import fitted, prepared
from foldwise.learners.rows import (
    BLOCK_BYTES,
    Atoms,
    Matrix,
    atoms_of,
    centre_of,
    holds_numbers,
    is_for_targets,
    matrix_of,
    node_fits,
    predict_blocks,
    slices,
)
from foldwise.learners.tasks import NodeTask, Tasks, TrainingData, Tried


@dataclass(frozen=True)
class Solution:
    """A linear model of one node."""

    coefficients: FloatArray  # (n_features, n_targets): of the columns before any scaling
    # fitted attributes beside the coefficients and the intercept
    learned: dict[str, Any] = field(default_factory=dict)
    flat: bool = True  # whether ``coef_`` of one target is a vector even if y was a matrix


@dataclass(frozen=True)
class LinearFit:
    """A linear model at one node: what was solved, and the solution."""

    moments: NodeMoments
    scaling: Scaling | None
    problem: NormalEquations
    solution: Solution


# Given the last step, the equations and the node's rows: the solution, None if not sure.
Solver = Callable[[Any, NormalEquations, IntArray], Solution | None]
# Some rows of a node less the centre of the moments, their targets, and their weights as a column.
NodeRows = tuple[FloatArray, FloatArray, FloatArray]


def handles_least_squares(learner: Any, data: TrainingData) -> bool:
    """Tell whether a LinearRegression is one that moments are enough for."""
    return not learner.positive and holds_numbers(data)


def handles_ridge(learner: Any, data: TrainingData) -> bool:
    """Tell whether a Ridge is one that moments are enough for."""
    alpha = np.asarray(learner.alpha)
    return (
        not learner.positive
        and learner.solver in ("auto", "cholesky", "svd")
        and is_for_targets(learner.alpha, data)
        and alpha.dtype.kind in "fiu"
        and bool(np.isfinite(alpha).all() and (alpha >= 0).all())
        and holds_numbers(data)
    )


def fit_least_squares(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit LinearRegression at all nodes from per-atom moments."""

    def solve(last: Any, problem: NormalEquations, rows: IntArray) -> Solution | None:
        found = least_squares(problem, getattr(last, "tol", 1e-6))
        if found is None or len(rows) <= len(problem.gram):
            return None
        coefficients, singular = found
        rank = int(np.count_nonzero(singular))
        return Solution(coefficients, {"rank_": rank, "singular_": singular}, flat=False)

    return fit_linear(learner, data, tasks, method, solve)


def fit_ridge(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit Ridge at all nodes from per-atom moments."""

    def solve(last: Any, problem: NormalEquations, _rows: IntArray) -> Solution | None:
        alpha = np.broadcast_to(np.asarray(last.alpha, dtype=np.float64), problem.level.shape)
        coefficients = ridge(problem, alpha)
        if coefficients is None:
            return None
        solver = "cholesky" if last.solver == "auto" else last.solver
        return Solution(coefficients, {"n_iter_": None, "solver_": solver})

    return fit_linear(learner, data, tasks, method, solve)


def fit_linear(learner: Any, data: TrainingData, tasks: Tasks, method: str, solve: Solver) -> Tried:
    """Fit a linear model at all nodes."""
    matrix = matrix_of(data.X)
    if matrix is None or method != "predict":
        return None
    start, (scaler, last) = time.perf_counter(), split(learner)
    atoms, moments = _shared_moments(data, matrix, tasks)
    if atoms is None or moments is None:
        return None

    def solve_node(number: int) -> LinearFit | None:
        node = node_moments(moments, atoms.members[number])
        if node is None:
            return None
        scaling = None if scaler is None else scaling_of(node, scaler.with_std)
        if scaler is not None and scaling is None:
            return None
        with_mean = scaler is not None and scaler.with_mean
        problem = normal_equations(node, last.fit_intercept, scaling, with_mean)
        solution = solve(last, problem, tasks[number].train)
        if solution is None or not _level_is_harmless(node, problem, solution):
            return None
        return LinearFit(node, scaling, problem, solution)

    predict, model_of = partial(_predicted, matrix), partial(_model, learner, data)
    return node_fits(tasks, start, solve_node, predict, model_of)


def _shared_moments(
    data: TrainingData, matrix: Matrix, tasks: Tasks
) -> tuple[Atoms | None, AtomMoments | None]:
    """Return the atoms of the nodes and their moments, worked out once for all linear learners."""
    trains = [task.train for task in tasks]
    known = data.shared.get("linear moments")
    if known is not None and [id(rows) for rows in known[0]] == [id(rows) for rows in trains]:
        return known[1], known[2]
    atoms, moments = atoms_of(trains, len(data.y)), None
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    width = matrix.shape[1] + y.shape[1] + 1
    if atoms is not None and fits_in_memory(atoms.n_atoms + 2, width, matrix):
        moments = atom_moments(matrix, y, data.sample_weight, atoms)
    # The rows of a task that came from another process are no other's: they would only be held.
    if not MAPPED:
        data.shared["linear moments"] = (trains, atoms, moments)
    return atoms, moments


def _level_is_harmless(moments: NodeMoments, problem: NormalEquations, solution: Solution) -> bool:
    """Tell whether the rounding of a column's mean cannot be seen in the predictions.

    Without an intercept, the mean that a scaler subtracts meets the level of y.
    """
    if not moments.y_mean.any() or (problem.level == moments.y_mean).all():
        return True
    far = np.abs((moments.centre + problem.point) / problem.scale).max()
    coefficients = solution.coefficients * problem.scale[:, None]
    spread = np.sqrt(np.einsum("ij,ik,kj->j", coefficients, problem.gram, coefficients))
    error = 100 * EPSILON * far * np.abs(moments.y_mean) * np.sqrt(moments.weight)
    return bool((error <= 1e-9 * spread).all())


def split(learner: Any) -> tuple[Any, Any]:
    """Return the StandardScaler, None if there is none, and the model behind it."""
    if isinstance(learner, Pipeline):
        return learner.steps[0][1], learner.steps[-1][1]
    return None, learner


def _predicted(matrix: Matrix, tasks: Tasks, fits: Sequence[Any]) -> list[FloatArray]:
    if not fits:
        return []
    centre = fits[0].moments.centre
    coefficients = np.stack([fit.solution.coefficients for fit in fits])
    at_centre = [fit.problem.level - fit.problem.point @ fit.solution.coefficients for fit in fits]
    constants = np.stack(at_centre)

    def respond(rows: IntArray, numbers: list[int]) -> list[FloatArray]:
        x = matrix.take(rows) - centre
        wide = np.concatenate(coefficients[numbers], axis=1)
        values = (x @ wide).reshape(len(rows), len(numbers), -1) + constants[numbers]
        return list(values.transpose(1, 0, 2))

    return predict_blocks(tasks, matrix.shape, respond)


def _model(learner: Any, data: TrainingData, task: NodeTask, fit: LinearFit) -> Any:
    """Return the learner's clone with the fitted attributes scikit-learn would give it."""
    (scaler, last), seed = split(learner), task.seed
    problem, point = fit.problem, fit.moments.centre + fit.problem.point
    coefficients = fit.solution.coefficients.T * problem.scale
    X = data.X.take(slice(1)) if isinstance(data.X, Matrix) else data.X
    if scaler is not None and fit.scaling is not None:
        mean = fit.moments.centre + fit.scaling.mean
        scaler = fitted(scaler, X, seed, _scaler_attributes(scaler, fit, mean))
        point = (point - mean if scaler.with_mean else point) / problem.scale
        X = np.empty((1, len(point)))
    intercept: Any = 0.0
    if last.fit_intercept:
        intercept = problem.level - coefficients @ point
        intercept = intercept[0] if data.y.ndim == 1 else intercept
    flat = data.y.ndim == 1 or (len(coefficients) == 1 and fit.solution.flat)
    learned = {"coef_": coefficients.ravel() if flat else coefficients, "intercept_": intercept}
    last = fitted(last, X, seed, learned | fit.solution.learned)
    if scaler is None:
        return last
    model = prepared(learner, seed)
    names = [name for name, _ in model.steps]
    model.steps = list(zip(names, (scaler, last), strict=True))
    return model


def _scaler_attributes(scaler: Any, fit: LinearFit, mean: FloatArray) -> dict[str, Any]:
    scaled = scaler.with_std
    return {
        "mean_": mean if scaler.with_mean or scaled else None,
        "var_": fit.scaling.var if scaled and fit.scaling else None,
        "scale_": fit.problem.scale if scaled else None,
        "n_samples_seen_": np.int64(fit.moments.count),
    }


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
        and holds_numbers(data)
    )


def fit_ridge_grid(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit RidgeCV at all nodes: one eigendecomposition a node serves all penalties."""
    matrix = matrix_of(data.X)
    if matrix is None:
        return None
    centre = centre_of(matrix)
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    weight = np.ones(len(y)) if data.sample_weight is None else data.sample_weight

    def solve(last: Any, problem: NormalEquations, rows: IntArray) -> Solution | None:
        alphas = np.asarray(last.alphas, dtype=np.float64).reshape(-1)
        parts = (rows[part] for part in slices(len(rows), matrix.shape[1], BLOCK_BYTES, fewest=64))
        read = ((matrix.take(part) - centre, y[part], weight[part, None]) for part in parts)
        total = weight[rows].sum() if last.fit_intercept else None
        losses = leave_one_out_losses(problem, alphas, read, total)
        if losses is None:
            return None
        losses /= len(rows)
        each = last.alpha_per_target and y.shape[1] > 1
        chosen, clear = _winners(losses if each else losses.mean(axis=1, keepdims=True))
        # A kind of our own need not choose as scikit-learn would.
        if type(last) is RidgeCV and not clear:
            return None
        coefficients = ridge(problem, np.broadcast_to(alphas[chosen], problem.level.shape))
        if coefficients is None:
            return None
        best = -losses[chosen, np.arange(len(chosen))] if each else -losses[chosen[0]].mean()
        alpha = alphas[chosen] if each else float(alphas[chosen[0]])
        return Solution(coefficients, {"alpha_": alpha, "best_score_": best})

    return fit_linear(learner, data, tasks, method, solve)


def leave_one_out_losses(
    problem: NormalEquations, alphas: FloatArray, parts: Iterable[NodeRows], total: float | None
) -> FloatArray | None:
    """Return the sum of the squared leave-one-out errors for each penalty and target.

    ``total``: The sum of all weights; None where there is no intercept.

    In the basis of eigenvectors, the leverage of a row is a sum of its squared coordinates,
    so that a penalty costs O(n * p) after O(n * p ** 2) for the basis.

    Shapes: returns (n_alphas, n_targets).
    """
    eigenvalues, vectors = np.linalg.eigh(problem.gram)
    shrink = 1.0 / (np.maximum(eigenvalues, 0.0)[:, None] + alphas)
    coordinates = (vectors.T @ problem.right)[:, None, :] * shrink[:, :, None]
    basis = vectors / problem.scale[:, None]
    losses = np.zeros((len(alphas), problem.right.shape[1]))
    for x, y, weight in parts:
        q = (x - problem.point) @ basis
        fitted = (q @ coordinates.reshape(len(basis), -1)).reshape(len(x), *losses.shape)
        left = 1.0 - weight * (np.square(q, out=q) @ shrink)
        if total is not None:
            left -= weight / total
        if left.min() < SMALLEST_LEFT:
            return None
        errors = ((y - problem.level)[:, None, :] - fitted) / left[:, :, None]
        losses += np.einsum("i,ijk->jk", weight[:, 0], np.square(errors, out=errors))
    return losses


def _winners(losses: FloatArray) -> tuple[IntArray, bool]:
    """Return the row of the smallest loss in each column, and whether none is nearly tied."""
    chosen = np.argmin(losses, axis=0)
    best = losses[chosen, np.arange(losses.shape[1])]
    tied = np.count_nonzero(losses <= best * (1 + CLEAR_WIN), axis=0)
    return chosen, bool((tied == 1).all())
