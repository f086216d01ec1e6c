"""Shortcuts for LinearRegression and Ridge, bare or behind a StandardScaler."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.atoms import Atoms, atoms_of
from foldwise.learners.blocks import predict_blocks
from foldwise.learners.fitted import learned_by
from foldwise.learners.matrix import Matrix, matrix_of
from foldwise.learners.moments import (
    AtomMoments,
    NodeMoments,
    atom_moments,
    fits_in_memory,
    node_moments,
)
from foldwise.learners.prepare import prepared
from foldwise.learners.solve import (
    EPSILON,
    Problem,
    Scaling,
    least_squares,
    problem_of,
    ridge,
    scaling_of,
)
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData


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
    problem: Problem
    solution: Solution

    def constant(self) -> FloatArray:
        """Return the prediction at the centre of the moments."""
        level: FloatArray = self.problem.level - self.problem.point @ self.solution.coefficients
        return level


# Given the last step, the equations and the node's rows: the solution, None if not sure.
Solver = Callable[[Any, Problem, IntArray], Solution | None]


def handles_least_squares(learner: Any, data: TrainingData) -> bool:
    """Tell whether a LinearRegression is one that moments are enough for."""
    return not learner.positive and is_plain_target(data)


def handles_ridge(learner: Any, data: TrainingData) -> bool:
    """Tell whether a Ridge is one that moments are enough for."""
    alpha = np.asarray(learner.alpha)
    n_targets = 1 if data.y.ndim == 1 else data.y.shape[1]
    return (
        not learner.positive
        and learner.solver in ("auto", "cholesky", "svd")
        and (isinstance(learner.alpha, Real) or alpha.shape in {(1,), (n_targets,)})
        and alpha.dtype.kind in "fiu"
        and bool(np.isfinite(alpha).all() and (alpha >= 0).all())
        and is_plain_target(data)
    )


def is_plain_target(data: TrainingData) -> bool:
    """Tell whether y is finite numbers."""
    return data.y.dtype.kind in "fiu" and bool(np.isfinite(data.y).all())


def fit_least_squares(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit LinearRegression at all nodes from per-atom moments."""

    def solve(last: Any, problem: Problem, rows: IntArray) -> Solution | None:
        found = least_squares(problem, getattr(last, "tol", 1e-6))
        if found is None or len(rows) <= len(problem.gram):
            return None
        coefficients, singular = found
        rank = int(np.count_nonzero(singular))
        return Solution(coefficients, {"rank_": rank, "singular_": singular}, flat=False)

    return fit_linear(learner, data, tasks, method, solve)


def fit_ridge(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit Ridge at all nodes from per-atom moments."""

    def solve(last: Any, problem: Problem, _rows: IntArray) -> Solution | None:
        alpha = np.broadcast_to(np.asarray(last.alpha, dtype=np.float64), problem.level.shape)
        coefficients = ridge(problem, alpha)
        if coefficients is None:
            return None
        solver = "cholesky" if last.solver == "auto" else last.solver
        return Solution(coefficients, {"n_iter_": None, "solver_": solver})

    return fit_linear(learner, data, tasks, method, solve)


def fit_linear(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str, solve: Solver
) -> list[NodeFit | None] | None:
    """Fit a linear model at all nodes."""
    matrix = matrix_of(data.X)
    if matrix is None or method != "predict":
        return None
    start = time.perf_counter()
    atoms, moments = _shared_moments(data, matrix, tasks)
    if atoms is None or moments is None:
        return None
    shared = (time.perf_counter() - start) / max(len(tasks), 1)
    fits, seconds = [], []
    for task, members in zip(tasks, atoms.members, strict=True):
        start = time.perf_counter()
        fits.append(_fit_one(learner, node_moments(moments, members), solve, task.train))
        seconds.append(shared + time.perf_counter() - start)
    return _finished(learner, data, matrix, tasks, fits, seconds)


def _shared_moments(
    data: TrainingData, matrix: Matrix, tasks: Sequence[NodeTask]
) -> tuple[Atoms | None, AtomMoments | None]:
    """Return the atoms of the nodes and their moments, worked out once for all linear learners."""
    trains = [task.train for task in tasks]
    known = data.shared.get("linear moments")
    if known is not None and [id(rows) for rows in known[0]] == [id(rows) for rows in trains]:
        return known[1], known[2]
    atoms, moments = atoms_of(trains, len(data.y)), None
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    if atoms is not None and fits_in_memory(
        atoms.n_atoms + 2, matrix.shape[1] + y.shape[1] + 1, matrix
    ):
        moments = atom_moments(matrix, y, data.sample_weight, atoms)
    data.shared["linear moments"] = (trains, atoms, moments)
    return atoms, moments


def _fit_one(
    learner: Any, moments: NodeMoments | None, solve: Solver, rows: IntArray
) -> LinearFit | None:
    scaler, last = split(learner)
    if moments is None:
        return None
    scaling = None
    if scaler is not None:
        scaling = scaling_of(moments, scaler.with_std)
        if scaling is None:
            return None
    with_mean = scaler is not None and scaler.with_mean
    problem = problem_of(moments, last.fit_intercept, scaling, with_mean)
    solution = solve(last, problem, rows)
    if solution is None or not _level_is_harmless(moments, problem, solution):
        return None
    return LinearFit(moments, scaling, problem, solution)


def _level_is_harmless(moments: NodeMoments, problem: Problem, solution: Solution) -> bool:
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


def _finished(
    learner: Any,
    data: TrainingData,
    matrix: Matrix,
    tasks: Sequence[NodeTask],
    fits: Sequence[LinearFit | None],
    seconds: Sequence[float],
) -> list[NodeFit | None]:
    """Predict for the tasks that were fitted, and make their models."""
    done = [number for number, fit in enumerate(fits) if fit is not None]
    start = time.perf_counter()
    predictions = _predicted(matrix, [tasks[i] for i in done], [fits[i] for i in done])
    spent = (time.perf_counter() - start) / max(len(done), 1)
    results: list[NodeFit | None] = [None] * len(tasks)
    for number, values in zip(done, predictions, strict=True):
        model = None
        if tasks[number].keep_model:
            model = _model(learner, data, tasks[number].seed, fits[number])
        results[number] = NodeFit(values, model, seconds[number], spent)
    return results


def _predicted(matrix: Matrix, tasks: Sequence[NodeTask], fits: Sequence[Any]) -> list[FloatArray]:
    if not fits:
        return []
    centre = fits[0].moments.centre
    coefficients = np.stack([fit.solution.coefficients for fit in fits])
    constants = np.stack([fit.constant() for fit in fits])

    def respond(rows: IntArray, numbers: list[int]) -> list[FloatArray]:
        x = matrix.take(rows) - centre
        wide = np.concatenate(coefficients[numbers], axis=1)
        values = (x @ wide).reshape(len(rows), len(numbers), -1) + constants[numbers]
        return list(values.transpose(1, 0, 2))

    return predict_blocks(tasks, matrix.shape, respond)


def _model(learner: Any, data: TrainingData, seed: int | None, fit: Any) -> Any:
    """Return the learner's clone with the fitted attributes scikit-learn would give it."""
    model = prepared(learner, seed)
    scaler, last = split(model)
    problem, point = fit.problem, fit.moments.centre + fit.problem.point
    coefficients = fit.solution.coefficients.T * problem.scale
    X = data.X
    if scaler is not None:
        mean = fit.moments.centre + fit.scaling.mean
        learned_by(scaler, X, _scaler_attributes(scaler, fit, mean))
        point = (point - mean if scaler.with_mean else point) / problem.scale
        X = np.empty((1, len(point)))
    intercept: Any = 0.0
    if last.fit_intercept:
        intercept = problem.level - coefficients @ point
        intercept = intercept[0] if data.y.ndim == 1 else intercept
    flat = data.y.ndim == 1 or (len(coefficients) == 1 and fit.solution.flat)
    learned = {"coef_": coefficients.ravel() if flat else coefficients, "intercept_": intercept}
    learned_by(last, X, learned | fit.solution.learned)
    return model


def _scaler_attributes(scaler: Any, fit: LinearFit, mean: FloatArray) -> dict[str, Any]:
    scaled = scaler.with_std
    return {
        "mean_": mean if scaler.with_mean or scaled else None,
        "var_": fit.scaling.var if scaled and fit.scaling else None,
        "scale_": fit.problem.scale if scaled else None,
        "n_samples_seen_": np.int64(fit.moments.count),
    }
