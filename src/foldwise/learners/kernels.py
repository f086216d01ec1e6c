"""Shortcuts for kernel ridge and Gaussian processes with a fixed kernel: one kernel matrix."""

import time
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from foldwise.arrays import FloatArray
from foldwise.learners.moments import factored, solved_by
from foldwise.learners.prepare import fitted, n_targets_of, take_rows
from foldwise.learners.rows import holds_numbers, is_for_targets, matrix_of
from foldwise.learners.tasks import NodeFit, NodeTask, Tasks, TrainingData, Tried

KERNELS = ("linear", "rbf", "laplacian", "poly", "polynomial", "sigmoid", "cosine")
MAX_BYTES = 2**28

# Given kernel matrix and task: the dual coefficients (n_train, n_targets), what to add to and
# multiply the predictions with, and the fitted attributes; None if eight digits are not sure.
Dual = tuple[FloatArray, Any, Any, dict[str, Any]]
Solve = Callable[[FloatArray, NodeTask], "Dual | None"]


def handles_kernel_ridge(learner: Any, data: TrainingData) -> bool:
    """Tell whether a KernelRidge has a kernel known by name and few enough rows."""
    return (
        isinstance(learner.kernel, str)
        and learner.kernel in KERNELS
        and is_for_targets(learner.alpha, data)
        and bool((np.asarray(learner.alpha) >= 0).all())
        and _small_and_plain(data)
    )


def handles_gaussian_process(learner: Any, data: TrainingData) -> bool:
    """Tell whether a GaussianProcessRegressor has a fixed kernel and few enough rows."""
    return (
        learner.optimizer is None
        and (learner.kernel is None or learner.kernel.requires_vector_input)
        and isinstance(learner.alpha, Real)
        and float(learner.alpha) >= 0
        and learner.n_targets in (None, n_targets_of(data))
        and data.sample_weight is None
        and _small_and_plain(data)
    )


def _small_and_plain(data: TrainingData) -> bool:
    return (
        8 * len(data.y) ** 2 <= MAX_BYTES
        and np.asarray(take_rows(data.X, np.arange(1))).dtype == np.float64
        and holds_numbers(data)
    )


def fit_kernel_ridge(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit KernelRidge at all nodes from one kernel matrix."""
    X = _finite_rows(data)
    if X is None:
        return None
    parameters = {"gamma": learner.gamma, "degree": learner.degree, "coef0": learner.coef0}
    start = time.perf_counter()
    kernel = pairwise_kernels(X, metric=learner.kernel, filter_params=True, **parameters)
    gamma = 1.0 / X.shape[1] if learner.gamma is None else learner.gamma
    # Distances of the rbf kernel are differences of squared norms.
    growth = gamma * np.einsum("ij,ij->i", X, X).max() if learner.kernel == "rbf" else 1.0
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    alpha = np.broadcast_to(np.asarray(learner.alpha, dtype=np.float64), (y.shape[1],))

    def solve(kernel: FloatArray, task: NodeTask) -> Dual | None:
        targets = y[task.train]
        root = np.ones(len(targets))
        if data.sample_weight is not None:
            root = np.sqrt(data.sample_weight[task.train])
            kernel *= np.outer(root, root)
        dual = np.empty_like(targets)
        for penalty in np.unique(alpha):
            chosen = alpha == penalty
            system = kernel if chosen.all() else kernel.copy()
            system.flat[:: len(system) + 1] += penalty
            factor = factored(system, max(growth, 1.0))
            if factor is None:
                return None
            dual[:, chosen] = solved_by(factor, targets[:, chosen] * root[:, None])
        dual *= root[:, None]
        learned = {"dual_coef_": dual.ravel() if data.y.ndim == 1 else dual}
        return dual, 0.0, 1.0, learned | {"X_fit_": X[task.train]}

    return _fit_dual(learner, data, tasks, method, (kernel, start), solve)


def fit_gaussian_process(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit GaussianProcessRegressor at all nodes from one kernel matrix."""
    X = _finite_rows(data)
    if X is None:
        return None
    start = time.perf_counter()
    function = ConstantKernel() * RBF() if learner.kernel is None else clone(learner.kernel)
    kernel = function(X)

    def solve(kernel: FloatArray, task: NodeTask) -> Dual | None:
        if np.intersect1d(task.train, task.test).size:
            # A white kernel is on the diagonal of the rows it was fitted on only.
            return None
        y = data.y[task.train].astype(np.float64)
        mean: Any = np.zeros(y.shape[1:] or 1)
        std: Any = np.ones(y.shape[1:] or 1)
        if learner.normalize_y:
            mean, std = y.mean(axis=0), y.std(axis=0)
            if (std < 1e-9 * np.abs(y).max()).any():
                return None
            y = (y - mean) / std
        kernel.flat[:: len(kernel) + 1] += learner.alpha
        found = factored(kernel, 1.0)
        if found is None:
            return None
        dual = solved_by(found, y.reshape(len(y), -1)).reshape(y.shape)
        factor = found[0] / found[1][:, None]
        learned = {
            "kernel_": clone(function),
            "_rng": check_random_state(learner.random_state),
            "_y_train_mean": mean,
            "_y_train_std": std,
            "X_train_": X[task.train],
            "y_train_": y,
            "L_": factor,
            "alpha_": dual,
            "log_marginal_likelihood_value_": _log_likelihood(factor, y, dual),
        }
        return dual.reshape(len(y), -1), mean, std, learned

    return _fit_dual(learner, data, tasks, method, (kernel, start), solve)


def _finite_rows(data: TrainingData) -> FloatArray | None:
    matrix = matrix_of(data.X)
    if matrix is None:
        return None
    X = np.ascontiguousarray(matrix.take(slice(None)))
    return X if np.isfinite(X).all() else None


def _log_likelihood(factor: FloatArray, y: FloatArray, dual: FloatArray) -> float:
    """Return the log-marginal likelihood, summed over the targets."""
    n_targets = 1 if y.ndim == 1 else y.shape[1]
    constant = np.log(np.diagonal(factor)).sum() + len(y) / 2 * np.log(2 * np.pi)
    return float(-0.5 * np.sum(y * dual) - n_targets * constant)


def _fit_dual(
    learner: Any,
    data: TrainingData,
    tasks: Tasks,
    method: str,
    shared: tuple[FloatArray, float],
    solve: Solve,
) -> Tried:
    """Solve and predict at each node with its part of the kernel matrix."""
    kernel, start = shared
    if method != "predict" or not np.isfinite(kernel).all():
        return None
    share = (time.perf_counter() - start) / max(len(tasks), 1)
    results: list[NodeFit | None] = []
    for task in tasks:
        start = time.perf_counter()
        found = solve(kernel[np.ix_(task.train, task.train)], task)
        if found is None:
            results.append(None)
            continue
        dual, level, spread, learned = found
        model = fitted(learner, data.X, task.seed, learned) if task.keep_model else None
        solved_at = time.perf_counter()
        values = spread * (kernel[np.ix_(task.test, task.train)] @ dual) + level
        values = values if len(task.test) else np.empty((0, 0))
        predict_seconds = time.perf_counter() - solved_at
        results.append(NodeFit(values, model, share + solved_at - start, predict_seconds))
    return results
