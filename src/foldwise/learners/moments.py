"""Sums, squares and products of the columns, once an atom, added up for each node.

Columns of X are centred by one point for all rows, which does not depend on y; targets by
the mean of their own atom. So the moments of a node depend on no target outside of it, not
even in their last bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.atoms import Atoms
from foldwise.learners.matrix import Matrix, centre_of

MEMORY_SHARE = 0.25
MEMORY_FLOOR = 2**26


@dataclass(frozen=True)
class AtomMoments:
    """Moments of each atom."""

    centre: FloatArray  # subtracted from the rows of X
    # (n_atoms, n_features, n_features): weighted products of the columns of X, centred
    gram: FloatArray
    # (n_atoms, n_features, n_targets + 1): weighted products of the columns of X with those of y,
    # centred, and 1
    side: FloatArray
    left: FloatArray  # weighted sums of the columns of y, centred, and 1
    # (n_atoms, n_targets): what was subtracted from the targets: their weighted mean in each atom
    y_mean: FloatArray
    plain: FloatArray  # (n_atoms, 2, n_features): unweighted sums and sums of squares of X, centred
    count: FloatArray  # number of rows


@dataclass(frozen=True)
class NodeMoments:
    """Moments of the rows of one node, X centred by ``centre``, y by its mean."""

    xx: FloatArray  # (n_features, n_features): weighted products
    xy: FloatArray  # (n_features, n_features): weighted products
    x: FloatArray  # weighted mean of X less the centre, and of y
    y_mean: FloatArray  # weighted mean of X less the centre, and of y
    weight: float  # sum of the weights, number of rows
    count: float  # sum of the weights, number of rows
    plain_mean: FloatArray  # unweighted mean of X less the centre, and variance
    plain_var: FloatArray  # unweighted mean of X less the centre, and variance
    plain_square: FloatArray  # unweighted mean square about the centre
    centre: FloatArray  # subtracted from the rows of X


def blocks_of_atoms(matrix: Matrix, atoms: Atoms) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """Yield atom, rows and a scratch copy of these rows of X, until all atoms are read.

    The rows of X are read in order, a block at a time: those of a data frame lie apart.
    """
    scratch = np.empty(0)
    for where, block in matrix.blocks():
        if scratch.size < block.size:
            scratch = np.empty(block.shape)
        label = atoms.label[where]
        for atom in np.flatnonzero(np.bincount(label + 1, minlength=2)[1:]):
            inside = np.flatnonzero(label == atom)
            x = scratch[: len(inside)]
            np.take(block, inside, axis=0, out=x, mode="clip")
            yield int(atom), inside + where.start, x


def fits_in_memory(n_matrices: int, width: int, matrix: Matrix) -> bool:
    """Tell whether so many square matrices are small beside X, or small at all."""
    return 8 * n_matrices * width**2 <= max(
        MEMORY_FLOOR, MEMORY_SHARE * 8 * matrix.shape[0] * matrix.shape[1]
    )


@np.errstate(invalid="ignore", over="ignore")
def atom_moments(
    matrix: Matrix, y: FloatArray, weight: FloatArray | None, atoms: Atoms
) -> AtomMoments | None:
    """Return the moments of each atom, None if a number is not finite.

    O(n_rows * n_features ** 2) time; one block of rows in memory at a time.

    Shapes: ``y`` (n_rows, n_targets).
    """
    n_atoms, n_features = atoms.n_atoms, matrix.shape[1]
    centre, y_mean = centre_of(matrix), _atom_means(y, weight, atoms)
    gram = np.zeros((n_atoms, n_features, n_features))
    side = np.zeros((n_atoms, n_features, y.shape[1] + 1))
    left = np.zeros((n_atoms, y.shape[1] + 1))
    plain = np.zeros((n_atoms, 2, n_features))
    for atom, rows, x in blocks_of_atoms(matrix, atoms):
        x -= centre
        others = np.column_stack([y[rows] - y_mean[atom], np.ones(len(rows))])
        left[atom] += others.sum(axis=0) if weight is None else weight[rows] @ others
        if weight is not None:
            plain[atom] += x.sum(axis=0), np.einsum("ij,ij->j", x, x)
            root = np.sqrt(weight[rows])[:, None]
            x *= root
            others *= root
        gram[atom] += x.T @ x
        side[atom] += x.T @ others
    if weight is None:
        plain[:, 0] = side[:, :, -1]
        plain[:, 1] = np.diagonal(gram, axis1=1, axis2=2)
    if not (np.isfinite(gram).all() and np.isfinite(side).all() and np.isfinite(plain).all()):
        return None
    return AtomMoments(centre, gram, side, left, y_mean, plain, atoms.counts())


def _atom_means(y: FloatArray, weight: FloatArray | None, atoms: Atoms) -> FloatArray:
    """Return the weighted mean of the targets in each atom, zero where it has no weight."""
    held = atoms.label >= 0
    label = atoms.label[held]
    w = np.ones(len(label)) if weight is None else weight[held]
    total = np.bincount(label, w, minlength=atoms.n_atoms)
    sums = [np.bincount(label, w * column[held], minlength=atoms.n_atoms) for column in y.T]
    return np.column_stack(sums) / np.where(total > 0, total, 1.0)[:, None]


def node_moments(moments: AtomMoments, members: np.ndarray) -> NodeMoments | None:
    """Return the moments of a union of atoms, None if it has no weight."""
    inside = np.flatnonzero(members)
    weights = moments.left[inside, -1]
    weight = float(weights.sum())
    if not weight > 0:
        return None
    gram, side = moments.gram[inside].sum(axis=0), moments.side[inside].sum(axis=0)
    # The atoms' own means are rounded; what that left over is added.
    left = moments.left[inside, :-1].sum(axis=0)
    y_mean = (weights @ moments.y_mean[inside] + left) / weight
    count = float(moments.count[inside].sum())
    plain_mean, plain_square = moments.plain[inside].sum(axis=0) / count
    return NodeMoments(
        xx=gram,
        xy=side[:, :-1] + moments.side[inside, :, -1].T @ (moments.y_mean[inside] - y_mean),
        x=side[:, -1] / weight,
        y_mean=y_mean,
        weight=weight,
        count=count,
        plain_mean=plain_mean,
        plain_var=plain_square - plain_mean**2,
        plain_square=plain_square,
        centre=moments.centre,
    )
