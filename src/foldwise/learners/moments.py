"""Sums, squares and products of the columns, once an atom, added up for each node.

Columns of X are centred by one point for all rows, which does not depend on y; targets by
the mean of their own atom. So the moments of a node depend on no target outside of it, not
even in their last bits.
"""

from dataclasses import dataclass

import numpy as np

from foldwise.learners.atoms import Atoms
from foldwise.learners.matrix import Floats, Matrix, centre_of

MEMORY_SHARE = 0.25
MEMORY_FLOOR = 2**26


@dataclass(frozen=True)
class AtomMoments:
    """Moments of each atom.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
        Subtracted from the rows of X.
    gram : ndarray of shape (n_atoms, width, width)
        Products of the columns (X, y, 1), weighted, where X and y are centred.
    y_mean : ndarray of shape (n_atoms, n_targets)
        What was subtracted from the targets: their weighted mean in each atom.
    plain : ndarray of shape (n_atoms, 2, n_features)
        Unweighted sums and sums of squares of X, centred.
    count : ndarray of shape (n_atoms,)
        Number of rows.
    """

    centre: Floats
    gram: Floats
    y_mean: Floats
    plain: Floats
    count: Floats


@dataclass(frozen=True)
class NodeMoments:
    """Moments of the rows of one node, X centred by ``centre``, y by its mean.

    Attributes
    ----------
    xx, xy : ndarray of shape (n_features, n_features), (n_features, n_targets)
        Weighted products.
    x, y_mean : ndarray of shape (n_features,), (n_targets,)
        Weighted mean of X less the centre, and of y.
    weight, count : float
        Sum of the weights, number of rows.
    plain_mean, plain_var : ndarray of shape (n_features,)
        Unweighted mean of X less the centre, and variance.
    plain_square : ndarray of shape (n_features,)
        Unweighted mean square about the centre.
    centre : ndarray of shape (n_features,)
        Subtracted from the rows of X.
    """

    xx: Floats
    xy: Floats
    x: Floats
    y_mean: Floats
    weight: float
    count: float
    plain_mean: Floats
    plain_var: Floats
    plain_square: Floats
    centre: Floats


def fits_in_memory(n_matrices: int, width: int, matrix: Matrix) -> bool:
    """Tell whether so many square matrices are small beside X, or small at all."""
    return 8 * n_matrices * width**2 <= max(
        MEMORY_FLOOR, MEMORY_SHARE * 8 * matrix.shape[0] * matrix.shape[1]
    )


def atom_moments(
    matrix: Matrix, y: Floats, weight: Floats | None, atoms: Atoms
) -> AtomMoments | None:
    """Return the moments of each atom, None if a number is not finite.

    Parameters
    ----------
    matrix : Matrix
        Features.
    y : ndarray of shape (n_rows, n_targets)
        Targets.
    weight : ndarray of shape (n_rows,) or None
        Weights, not negative.
    atoms : Atoms
        The partition of the rows.

    Notes
    -----
    O(n_rows * n_features ** 2) time; one block of rows in memory at a time.
    """
    n_features, n_targets = matrix.shape[1], y.shape[1]
    width = n_features + n_targets + 1
    centre = centre_of(matrix)
    y_mean = _atom_means(y, weight, atoms)
    gram = np.zeros((atoms.n_atoms, width, width))
    plain = np.zeros((atoms.n_atoms, 2, n_features))
    for where, block in matrix.blocks():
        label = atoms.label[where]
        for atom in np.unique(label[label >= 0]):
            inside = np.flatnonzero(label == atom)
            columns = np.empty((len(inside), width))
            x = columns[:, :n_features]
            np.subtract(block[inside], centre, out=x)
            columns[:, n_features:-1] = y[where][inside] - y_mean[atom]
            columns[:, -1] = 1.0
            if weight is not None:
                plain[atom, 0] += x.sum(axis=0)
                plain[atom, 1] += np.einsum("ij,ij->j", x, x)
                columns *= np.sqrt(weight[where][inside])[:, None]
            gram[atom] += columns.T @ columns
    if weight is None:
        plain[:, 0] = gram[:, -1, :n_features]
        plain[:, 1] = np.diagonal(gram, axis1=1, axis2=2)[:, :n_features]
    if not (np.isfinite(gram).all() and np.isfinite(plain).all()):
        return None
    count = np.bincount(atoms.label[atoms.label >= 0], minlength=atoms.n_atoms)
    return AtomMoments(centre, gram, y_mean, plain, count.astype(np.float64))


def _atom_means(y: Floats, weight: Floats | None, atoms: Atoms) -> Floats:
    """Return the weighted mean of the targets in each atom, zero where it has no weight."""
    held = atoms.label >= 0
    label = atoms.label[held]
    w = np.ones(len(label)) if weight is None else weight[held]
    total = np.bincount(label, w, minlength=atoms.n_atoms)
    sums = [np.bincount(label, w * column[held], minlength=atoms.n_atoms) for column in y.T]
    return np.column_stack(sums) / np.where(total > 0, total, 1.0)[:, None]


def node_moments(moments: AtomMoments, members: np.ndarray) -> NodeMoments | None:
    """Return the moments of a union of atoms, None if it has no weight."""
    n_features = len(moments.centre)
    inside = np.flatnonzero(members)
    gram = moments.gram[inside].sum(axis=0)
    weight = float(gram[-1, -1])
    if not weight > 0:
        return None
    weights = moments.gram[inside, -1, -1]
    # The atoms' own means are rounded; what that left over is in the sums.
    y_mean = (weights @ moments.y_mean[inside] + gram[-1, n_features:-1]) / weight
    shift = moments.y_mean[inside] - y_mean
    sums = moments.gram[inside, -1, :n_features]
    count = float(moments.count[inside].sum())
    plain_mean, plain_square = moments.plain[inside].sum(axis=0) / count
    return NodeMoments(
        xx=gram[:n_features, :n_features],
        xy=gram[:n_features, n_features:-1] + sums.T @ shift,
        x=gram[-1, :n_features] / weight,
        y_mean=y_mean,
        weight=weight,
        count=count,
        plain_mean=plain_mean,
        plain_var=plain_square - plain_mean**2,
        plain_square=plain_square,
        centre=moments.centre,
    )
