"""Means and scatter of the classes: once a cell (atom and class), merged for each node.

Rows are measured from the mean of their own cell, so nothing cancels when cells are merged,
and the moments of a node depend on no class label outside of it, not even in their last bits.
"""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.learners.atoms import Atoms
from foldwise.learners.matrix import Matrix, centre_of
from foldwise.learners.moments import blocks_of_atoms
from foldwise.learners.tasks import TrainingData


@dataclass(frozen=True)
class CellMoments:
    """Moments of each cell."""

    centre: FloatArray  # subtracted from the rows of X before anything else
    count: FloatArray  # (n_atoms, n_classes): number of rows, and their weight
    weight: FloatArray  # (n_atoms, n_classes): number of rows, and their weight
    mean: FloatArray  # (n_atoms, n_classes, n_features): weighted means, less the centre
    scatter: FloatArray  # weighted products about the cell means; its shape depends on their kind
    plain: (
        FloatArray  # (n_atoms, 2, n_features): unweighted sums and sums of squares about the centre
    )


@dataclass(frozen=True)
class ClassMoments:
    """Moments of the classes present at one node."""

    classes: IntArray  # the classes that have rows
    count: FloatArray  # number of rows, and their weight
    weight: FloatArray  # number of rows, and their weight
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
    scatter = np.zeros(_scatter_shape(shape, kind))
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


def _scatter_shape(shape: tuple[int, int, int], kind: str) -> tuple[int, ...]:
    n_atoms, _, n_features = shape
    if kind == "pooled":
        return n_atoms, n_features, n_features
    return (*shape, n_features) if kind == "each" else shape


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
