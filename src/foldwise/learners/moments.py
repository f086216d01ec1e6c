"""Linear models from moments: sums and products of the columns, scaling, solving.

Moments are taken once an atom and added up for each node.

Columns of X are centred by one point for all rows, which does not depend on y; targets by
the mean of their own atom. So the moments of a node depend on no target outside of it, not
even in their last bits.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from foldwise.arrays import FloatArray
from foldwise.learners.rows import Atoms, Matrix, blocks_of_atoms, centre_of

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
    xy: FloatArray  # (n_features, n_targets): weighted products
    x: FloatArray  # weighted mean of X less the centre
    y_mean: FloatArray  # weighted mean of y
    weight: float  # sum of the weights
    count: float  # number of rows
    plain_mean: FloatArray  # unweighted mean of X less the centre
    plain_var: FloatArray  # unweighted variance of X
    plain_square: FloatArray  # unweighted mean square about the centre
    centre: FloatArray  # subtracted from the rows of X


def fits_in_memory(n_matrices: int, width: int, matrix: Matrix) -> bool:
    """Tell whether so many square matrices are small beside X, or small at all."""
    beside = MEMORY_SHARE * 8 * matrix.shape[0] * matrix.shape[1]
    return 8 * n_matrices * width**2 <= max(MEMORY_FLOOR, beside)


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


# Rounding errors of about 1e-16 may grow this much before eight digits are in danger.
MAX_GROWTH = 1e6
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scaling:
    """What a StandardScaler does to the columns: subtract, then divide."""

    mean: FloatArray  # of the node's rows, less the centre of the moments
    var: FloatArray  # of the node's rows
    scale: FloatArray  # divisor


@dataclass(frozen=True)
class NormalEquations:
    """Normal equations of a linear model, X measured from ``point``, y from ``level``."""

    gram: FloatArray  # (n_features, n_features): products of the (scaled) columns
    right: FloatArray  # (n_features, n_targets): products of columns and targets
    point: FloatArray  # where X (less the centre of the moments) is measured from
    level: FloatArray  # where y is measured from
    scale: FloatArray  # divisors of the columns
    growth: float  # how much rounding errors grew when the columns were measured from ``point``


def scaling_of(moments: NodeMoments, with_std: bool) -> Scaling | None:
    """Return what StandardScaler learns from the node's rows, None if it cannot be told.

    Columns that scikit-learn takes for constant are divided by one. Whether a column is
    constant cannot be told from moments that cancelled to nothing.
    """
    if not with_std:
        return Scaling(moments.plain_mean, moments.plain_var, np.ones_like(moments.plain_var))
    mean = moments.centre + moments.plain_mean
    var = moments.plain_var
    constant = moments.plain_square == 0
    bound = (moments.count * mean * EPSILON) ** 2 + moments.count * EPSILON * var
    doubtful = (var <= 4 * bound) | (var * MAX_GROWTH <= moments.plain_square)
    if (doubtful & ~constant).any():
        return None
    return Scaling(moments.plain_mean, var, np.where(constant, 1.0, np.sqrt(var)))


def normal_equations(
    moments: NodeMoments, fit_intercept: bool, scaling: Scaling | None, with_mean: bool
) -> NormalEquations:
    """Return the normal equations of a linear model at a node."""
    scale = np.ones_like(moments.x) if scaling is None else scaling.scale
    if fit_intercept:
        point, level = moments.x, moments.y_mean
    else:
        point = scaling.mean if scaling is not None and with_mean else -moments.centre
        level = np.zeros_like(moments.y_mean)
    to_mean = moments.x - point
    gram = moments.xx - moments.weight * np.outer(moments.x, moments.x)
    gram += moments.weight * np.outer(to_mean, to_mean)
    right = moments.xy + moments.weight * np.outer(to_mean, moments.y_mean - level)
    before, after = np.diagonal(moments.xx), np.diagonal(gram)
    shrunk = before > 0
    with np.errstate(divide="ignore"):
        growth = np.max(before[shrunk] / np.maximum(after[shrunk], 0.0), initial=1.0)
    gram, right = gram / np.outer(scale, scale), right / scale[:, None]
    return NormalEquations(gram, right, point, level, scale, float(growth))


def solved(gram: FloatArray, right: FloatArray, growth: float) -> FloatArray | None:
    """Return the solution of a positive definite system, None if eight digits are not sure.

    Scaled to a unit diagonal first, as the accuracy of Cholesky's method does not depend
    on the units of the columns; the condition number is estimated in O(n ** 2).

    Shapes: ``gram`` (n, n), ``right`` (n, n_right).
    """
    found = factored(gram.copy(), growth)
    return None if found is None else solved_by(found, right)


def factored(gram: FloatArray, growth: float) -> tuple[FloatArray, FloatArray] | None:
    """Return the Cholesky factor of a matrix scaled to a unit diagonal, and the scaling.

    Shapes: ``gram`` (n, n).
    """
    diagonal = np.diagonal(gram)
    if not (diagonal > 0).all():
        return None
    unit = 1.0 / np.sqrt(diagonal)
    gram *= unit
    gram *= unit[:, None]
    norm = lapack.dlange("1", gram.T)
    # The transpose is the same matrix in the order that LAPACK can overwrite.
    factor, failed = lapack.dpotrf(gram.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return None
    rcond, _ = lapack.dpocon(factor, norm, uplo="L")
    return (factor, unit) if rcond * MAX_GROWTH > growth else None


def solved_by(factor: tuple[FloatArray, FloatArray], right: FloatArray) -> FloatArray:
    """Return the solution of the system whose factor is given."""
    lower, unit = factor
    solution: FloatArray = lapack.dpotrs(lower, right * unit[:, None], lower=1)[0]
    return solution * unit[:, None]


def ridge(problem: NormalEquations, alpha: FloatArray) -> FloatArray | None:
    """Return ridge coefficients of the unscaled columns, one column a target."""
    coefficients = np.empty_like(problem.right)
    for penalty in np.unique(alpha):
        gram = problem.gram.copy()
        gram.flat[:: len(gram) + 1] += penalty
        chosen = alpha == penalty
        solution = solved(gram, problem.right[:, chosen], problem.growth)
        if solution is None:
            return None
        coefficients[:, chosen] = solution
    return coefficients / problem.scale[:, None]


def least_squares(problem: NormalEquations, tol: float) -> tuple[FloatArray, FloatArray] | None:
    """Return least-squares coefficients of the unscaled columns and the singular values.

    Columns of zeros get the coefficient zero, as in the solution of smallest norm.
    """
    used = np.diagonal(problem.gram) > 0
    if not used.any():
        # scikit-learn's centred columns may be rounding noise here, which it then fits.
        return None
    gram = problem.gram[np.ix_(used, used)]
    solution = solved(gram, problem.right[used], problem.growth)
    eigenvalues = np.linalg.eigvalsh(gram)[::-1]
    cut = max(2 * tol, 1e-6) ** 2
    if solution is None or eigenvalues[-1] <= cut * eigenvalues[0]:
        return None
    coefficients, singular = np.zeros_like(problem.right), np.zeros(len(used))
    coefficients[used] = solution
    singular[: len(eigenvalues)] = np.sqrt(eigenvalues)
    return coefficients / problem.scale[:, None], singular
