"""Shortcuts for the Gaussian classifiers: LDA, QDA and naive Bayes."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import lapack

from foldwise.arrays import FloatArray
from foldwise.learners.atoms import atoms_of
from foldwise.learners.class_moments import ClassMoments, cell_moments, class_moments
from foldwise.learners.fitted import fitted, predicted_by_models
from foldwise.learners.matrix import matrix_of
from foldwise.learners.moments import fits_in_memory
from foldwise.learners.solve import EPSILON, MAX_GROWTH
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

SAFE = 1e-9

# Fitted attributes from a node's moments, None if eight digits are not sure.
Learn = Callable[[Any, ClassMoments], "dict[str, Any] | None"]


def handles_lda(learner: Any, data: TrainingData) -> bool:
    """Tell whether an LDA is the plain one: by SVD, priors from the data."""
    return (
        learner.solver == "svd"
        and learner.shrinkage is None
        and learner.covariance_estimator is None
        and learner.n_components is None
        and not learner.store_covariance
        and _plain_classes(learner, data)
        and data.sample_weight is None
    )


def handles_qda(learner: Any, data: TrainingData) -> bool:
    """Tell whether a QDA is the plain one: by SVD, priors from the data."""
    return (
        getattr(learner, "solver", "svd") == "svd"
        and getattr(learner, "shrinkage", None) is None
        and getattr(learner, "covariance_estimator", None) is None
        and not learner.store_covariance
        and 0 <= learner.reg_param <= 1
        and _plain_classes(learner, data)
        and data.sample_weight is None
    )


def handles_naive_bayes(learner: Any, data: TrainingData) -> bool:
    """Tell whether a GaussianNB takes its priors from the data."""
    return learner.var_smoothing >= 0 and _plain_classes(learner, data)


def _plain_classes(learner: Any, data: TrainingData) -> bool:
    return (
        learner.priors is None
        and data.n_classes is not None
        and data.y.ndim == 1
        and data.y.dtype.kind in "iu"
    )


def fit_lda(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit LinearDiscriminantAnalysis at all nodes from means and pooled scatter."""
    return _fit_classes(learner, data, tasks, method, "pooled", learn_lda)


def fit_qda(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit QuadraticDiscriminantAnalysis at all nodes from means and scatter of each class."""
    return _fit_classes(learner, data, tasks, method, "each", learn_qda)


def fit_naive_bayes(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None] | None:
    """Fit GaussianNB at all nodes from means and variances of each class."""
    return _fit_classes(learner, data, tasks, method, "diagonal", learn_naive_bayes)


def _fit_classes(
    learner: Any,
    data: TrainingData,
    tasks: Sequence[NodeTask],
    method: str,
    kind: str,
    learn: Learn,
) -> list[NodeFit | None] | None:
    matrix = matrix_of(data.X)
    atoms = atoms_of([task.train for task in tasks], len(data.y))
    if matrix is None or atoms is None or not hasattr(learner, method):
        return None
    per_atom = int(data.n_classes or 0) if kind == "each" else 1
    if not fits_in_memory((atoms.n_atoms + 1) * per_atom, matrix.shape[1], matrix):
        return None
    start = time.perf_counter()
    cells = cell_moments(matrix, data, atoms, kind)
    if cells is None:
        return None
    shared = (time.perf_counter() - start) / max(len(tasks), 1)
    models, seconds = [], []
    for task, members in zip(tasks, atoms.members, strict=True):
        start = time.perf_counter()
        moments = class_moments(cells, members, kind)
        learned = None
        if moments is not None and len(moments.classes) > 1 and not _lost_in_rounding(moments):
            learned = learn(learner, moments)
        models.append(None if learned is None else fitted(learner, data.X, task.seed, learned))
        seconds.append(shared + time.perf_counter() - start)
    return predicted_by_models(models, data, tasks, method, seconds)


def _lost_in_rounding(moments: ClassMoments) -> bool:
    """Tell whether means are so far out that scikit-learn's own sums lose digits we keep."""
    spread = np.sqrt(moments.variance)
    lost = 10 * EPSILON * np.sqrt(moments.count.sum()) * moments.reach > SAFE * spread
    return bool((lost & (spread > 0)).any())


def learn_naive_bayes(learner: Any, moments: ClassMoments) -> dict[str, Any] | None:
    """Return what GaussianNB learns from a node's moments."""
    epsilon = learner.var_smoothing * moments.variance.max()
    variance = moments.scatter / moments.weight[:, None] + epsilon
    if not (variance > 0).all():
        return None
    return {
        "classes_": moments.classes,
        "class_count_": moments.weight,
        "class_prior_": moments.weight / moments.weight.sum(),
        "theta_": moments.mean,
        "var_": variance,
        "epsilon_": epsilon,
    }


def learn_qda(learner: Any, moments: ClassMoments) -> dict[str, Any] | None:
    """Return what QuadraticDiscriminantAnalysis learns from a node's moments."""
    scalings, rotations = [], []
    for scatter, count in zip(moments.scatter, moments.count, strict=True):
        axes = _principal_axes(scatter / count)
        if axes is None or count < 2:
            return None
        variance = (1 - learner.reg_param) * axes[0] + learner.reg_param
        if not (variance > 1.01 * learner.tol).all():
            return None
        scalings.append(variance)
        rotations.append(axes[1])
    return {
        "classes_": moments.classes,
        "priors_": moments.count / moments.count.sum(),
        "means_": moments.mean,
        "scalings_": scalings,
        "rotations_": rotations,
    }


def _principal_axes(covariance: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return variances and directions, None if eight digits are not sure.

    The singular values of a Cholesky factor are as accurate as those of the rows: their
    errors do not grow with the square of the ratio of the columns' units.
    """
    unit = np.sqrt(np.diagonal(covariance))
    if not (unit > 0).all():
        return None
    correlation = covariance / np.outer(unit, unit)
    factor, failed = lapack.dpotrf(correlation, lower=1, clean=1)
    if failed:
        return None
    rcond, _ = lapack.dpocon(factor, np.abs(correlation).sum(axis=0).max(), uplo="L")
    if not rcond * MAX_GROWTH > 1:
        return None
    _, singular, directions = np.linalg.svd(factor.T * unit, full_matrices=False)
    if not singular[-1] * MAX_GROWTH > singular[0]:
        return None
    return singular**2, directions.T


def learn_lda(learner: Any, moments: ClassMoments) -> dict[str, Any] | None:
    """Return what LinearDiscriminantAnalysis learns from a node's moments.

    Follows scikit-learn's SVD solver, with the eigenvectors of the pooled correlations for
    the singular vectors of the scaled rows.
    """
    n_rows, n_classes = moments.count.sum(), len(moments.classes)
    priors = moments.count / n_rows
    scalings = _whitening(moments, learner.tol)
    if scalings is None or not scalings.size or n_rows <= n_classes:
        return None
    middle = priors @ moments.mean
    apart = moments.mean - middle
    between = np.sqrt(n_rows * priors / (n_classes - 1))[:, None] * apart @ scalings
    _, spread, directions = np.linalg.svd(between, full_matrices=False)
    share = spread / spread[0] if spread[0] > SAFE else np.full_like(spread, np.nan)
    if not ((share > 1.01 * learner.tol) | (share < 0.99 * learner.tol)).all():
        return None
    scalings = scalings @ directions[share > learner.tol].T
    projected = apart @ scalings
    coefficients = projected @ scalings.T
    intercept = np.log(priors) - 0.5 * np.square(projected).sum(axis=1) - coefficients @ middle
    if n_classes == 2:
        coefficients, intercept = coefficients[1:] - coefficients[:1], intercept[1:] - intercept[:1]
    n_components = min(n_classes - 1, moments.mean.shape[1])
    return {
        "classes_": moments.classes,
        "priors_": priors,
        "means_": moments.mean,
        "xbar_": middle,
        "scalings_": scalings,
        "explained_variance_ratio_": (spread**2 / (spread**2).sum())[:n_components],
        "coef_": coefficients,
        "intercept_": intercept,
        "_max_components": n_components,
        "_n_features_out": n_components,
    }


def _whitening(moments: ClassMoments, tol: float) -> FloatArray | None:
    """Return the columns that make the pooled covariance one, None if digits are lost."""
    std = np.sqrt(np.diagonal(moments.scatter) / moments.count.sum())
    constant = std == 0
    # A constant is taken for one only if scikit-learn's mean of it is exact, as it is for
    # whole numbers; otherwise it divides rounding errors by rounding errors.
    if (moments.mean[:, constant] != np.round(moments.mean[0, constant])).any():
        return None
    if (~constant & (std < SAFE * moments.reach)).any():
        return None
    std = np.where(constant, 1.0, std)
    correlation = moments.scatter / (moments.count.sum() * np.outer(std, std))
    variance, directions = np.linalg.eigh(correlation)
    used = variance > tol**2
    largest = variance[-1]
    if (variance[used] * MAX_GROWTH < largest).any() or (variance[~used] > tol**2 / 4).any():
        return None
    return (directions[:, used] / std[:, None] / np.sqrt(variance[used]))[:, ::-1]
