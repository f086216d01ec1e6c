"""Shortcuts for the Gaussian classifiers (LDA, QDA, naive Bayes): means and scatter of the classes.

They are taken once a cell (atom and class) and merged for each node. Rows are measured from the
mean of their own cell, so nothing cancels when cells are merged, and the moments of a node depend
on no class label outside of it, not even in their last bits.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import lapack

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.learners.moments import EPSILON, MAX_GROWTH, fits_in_memory
from foldwise.learners.prepare import fitted, respond, take_rows
from foldwise.learners.rows import (
    Atoms,
    Matrix,
    atoms_of,
    blocks_of_atoms,
    centre_of,
    holds_codes,
    matrix_of,
    node_fits,
    predict_blocks,
)
from foldwise.learners.tasks import NodeTask, Tasks, TrainingData, Tried

SAFE = 1e-9
# What a plain one leaves at None, as far as it has it.
UNSET = ("priors", "shrinkage", "covariance_estimator", "n_components")


@dataclass(frozen=True)
class CellMoments:
    """Moments of each cell."""

    centre: FloatArray  # subtracted from the rows of X before anything else
    count: FloatArray  # (n_atoms, n_classes): number of rows
    weight: FloatArray  # (n_atoms, n_classes): their weight
    mean: FloatArray  # (n_atoms, n_classes, n_features): weighted means, less the centre
    scatter: FloatArray  # weighted products about the cell means; its shape depends on their kind
    # (n_atoms, 2, n_features): unweighted sums and sums of squares about the centre
    plain: FloatArray


@dataclass(frozen=True)
class ClassMoments:
    """Moments of the classes present at one node."""

    classes: IntArray  # the classes that have rows
    count: FloatArray  # number of rows
    weight: FloatArray  # their weight
    mean: FloatArray  # (n_present, n_features): weighted means
    # weighted products about the class means: (n_present, n_features, n_features), pooled
    # (n_features, n_features), or of each column alone (n_present, n_features)
    scatter: FloatArray
    variance: FloatArray  # unweighted variance of all rows
    # size of the numbers that were subtracted from each other, or by scikit-learn are
    reach: FloatArray


@np.errstate(invalid="ignore", over="ignore")
def cell_moments(matrix: Matrix, data: TrainingData, atoms: Atoms, kind: str) -> CellMoments | None:
    """Return the moments of each cell, None if a number is not finite.

    ``kind``: Whether scatter matrices are kept for each class, for all of them together, or for
    each class without products of different columns.
    """
    n_classes, n_features = int(data.n_classes or 0), matrix.shape[1]
    shape = (atoms.n_atoms, n_classes, n_features)
    centre = centre_of(matrix)
    count, weight, mean = np.zeros(shape[:2]), np.zeros(shape[:2]), np.zeros(shape)
    plain = np.zeros((shape[0], 2, n_features))
    w = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    for atom, rows, x in blocks_of_atoms(matrix, atoms):
        x -= centre
        codes = data.y[rows]
        count[atom] += np.bincount(codes, minlength=n_classes)
        weight[atom] += np.bincount(codes, w[rows], minlength=n_classes)
        mean[atom] += _one_hot(codes, n_classes, w[rows]).T @ x
        plain[atom] += x.sum(axis=0), np.einsum("ij,ij->j", x, x)
    mean /= np.where(weight > 0, weight, 1.0)[:, :, None]
    if not (np.isfinite(mean).all() and np.isfinite(plain).all()):
        return None
    square = (shape[0], n_features, n_features)
    shapes = {"pooled": square, "each": (*shape, n_features), "diagonal": shape}
    scatter = np.zeros(shapes[kind])
    for atom, rows, x in blocks_of_atoms(matrix, atoms):
        x -= centre
        codes = data.y[rows]
        x -= mean[atom, codes]
        _add_scatter(scatter[atom], x, codes, w[rows], kind)
    return CellMoments(centre, count, weight, mean, scatter, plain)


def _one_hot(codes: IntArray, n_classes: int, weight: FloatArray) -> FloatArray:
    hot = np.zeros((len(codes), n_classes))
    hot[np.arange(len(codes)), codes] = weight
    return hot


def _add_scatter(
    scatter: FloatArray, x: FloatArray, codes: IntArray, weight: FloatArray, kind: str
) -> None:
    """Add the products of rows measured from the means of their cells."""
    if kind == "diagonal":
        scatter += _one_hot(codes, len(scatter), weight).T @ np.square(x, out=x)
        return
    x *= np.sqrt(weight)[:, None]
    if kind == "pooled":
        scatter += x.T @ x
        return
    for label in np.unique(codes):
        inside = x[codes == label]
        scatter[label] += inside.T @ inside


def class_moments(cells: CellMoments, members: BoolArray, kind: str) -> ClassMoments | None:
    """Return the moments of the classes in a union of atoms, None if one has no weight."""
    inside = np.flatnonzero(members)
    count = cells.count[inside].sum(axis=0)
    classes = np.flatnonzero(count)
    weight = cells.weight[inside][:, classes]
    total = weight.sum(axis=0)
    if not (total > 0).all():
        return None
    means = cells.mean[inside][:, classes]
    mean = np.einsum("ak,akj->kj", weight, means) / total[:, None]
    apart = (means - mean) * np.sqrt(weight)[:, :, None]
    scatter = cells.scatter[inside].sum(axis=0)
    if kind == "pooled":
        flat = apart.reshape(-1, apart.shape[2])
        scatter += flat.T @ flat
    elif kind == "each":
        scatter = scatter[classes] + np.einsum("aki,akj->kij", apart, apart, optimize=True)
    else:
        scatter = scatter[classes] + np.square(apart).sum(axis=0)
    first, second = cells.plain[inside].sum(axis=0) / count.sum()
    variance = np.maximum(second - first**2, 0.0)
    mean = cells.centre + mean
    reach = np.maximum(np.abs(mean).max(axis=0), np.abs(cells.centre))
    return ClassMoments(classes, count[classes], total, mean, scatter, variance, reach)


# Fitted attributes from a node's moments, None if eight digits are not sure.
Learn = Callable[[Any, ClassMoments], "dict[str, Any] | None"]


def handles_discriminant(learner: Any, data: TrainingData) -> bool:
    """Tell whether an LDA or a QDA is the plain one: by SVD, priors from the data."""
    regular = 0 <= getattr(learner, "reg_param", 0) <= 1
    return regular and data.sample_weight is None and _is_plain(learner, data)


def handles_naive_bayes(learner: Any, data: TrainingData) -> bool:
    """Tell whether a GaussianNB takes its priors from the data."""
    return learner.var_smoothing >= 0 and _is_plain(learner, data)


def _is_plain(learner: Any, data: TrainingData) -> bool:
    unset = all(getattr(learner, name, None) is None for name in UNSET)
    by_svd = getattr(learner, "solver", "svd") == "svd"
    stores = getattr(learner, "store_covariance", False)
    return unset and by_svd and not stores and holds_codes(data)


def fit_classes(
    learner: Any, data: TrainingData, tasks: Tasks, method: str, kind: str, learn: Learn
) -> Tried:
    """Fit a Gaussian classifier at all nodes from means and scatter of the classes."""
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

    def solve(number: int) -> Any:
        moments = class_moments(cells, atoms.members[number], kind)
        if moments is None or len(moments.classes) < 2 or _lost_in_rounding(moments):
            return None
        learned = learn(learner, moments)
        return None if learned is None else fitted(learner, data.X, tasks[number].seed, learned)

    def predict(tasks: list[NodeTask], models: list[Any]) -> list[FloatArray]:
        def respond_block(rows: IntArray, numbers: list[int]) -> list[FloatArray]:
            X = take_rows(data.X, rows)
            return [respond(models[i], X, method, data, len(tasks[i].train)) for i in numbers]

        return predict_blocks(tasks, data.X.shape, respond_block)

    return node_fits(tasks, start, solve, predict, lambda _, model: model)


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


fit_lda = partial(fit_classes, kind="pooled", learn=learn_lda)
fit_qda = partial(fit_classes, kind="each", learn=learn_qda)
fit_naive_bayes = partial(fit_classes, kind="diagonal", learn=learn_naive_bayes)
