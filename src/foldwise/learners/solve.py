"""Linear models from moments: scaling, solving, and how far the digits can be trusted."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from foldwise.arrays import FloatArray
from foldwise.learners.moments import NodeMoments

# Rounding errors of about 1e-16 may grow this much before eight digits are in danger.
MAX_GROWTH = 1e6
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scaling:
    """What a StandardScaler does to the columns: subtract, then divide."""

    mean: FloatArray  # mean (less the centre of the moments) and variance of the node's rows
    var: FloatArray  # mean (less the centre of the moments) and variance of the node's rows
    scale: FloatArray  # divisor


@dataclass(frozen=True)
class Problem:
    """Normal equations of a linear model, X measured from ``point``, y from ``level``."""

    # (n_features, n_features): products of the (scaled) columns, and of columns and targets
    gram: FloatArray
    # (n_features, n_features): products of the (scaled) columns, and of columns and targets
    right: FloatArray
    point: FloatArray  # where X (less the centre of the moments) and y are measured from
    level: FloatArray  # where X (less the centre of the moments) and y are measured from
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


def problem_of(
    moments: NodeMoments, fit_intercept: bool, scaling: Scaling | None, with_mean: bool
) -> Problem:
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
    return Problem(
        gram / np.outer(scale, scale), right / scale[:, None], point, level, scale, float(growth)
    )


def solved(gram: FloatArray, right: FloatArray, growth: float) -> FloatArray | None:
    """Return the solution of a positive definite system, None if eight digits are not sure.

    Scaled to a unit diagonal first, as the accuracy of Cholesky's method does not depend
    on the units of the columns; the condition number is estimated in O(n ** 2).

    Shapes: ``gram, right`` (n, n).

    Examples
    --------
    >>> import numpy as np
    >>> solved(np.diag([1.0, 4.0]), np.array([[1.0], [8.0]]), 1.0).ravel()
    array([1., 2.])
    >>> solved(np.ones((2, 2)), np.ones((2, 1)), 1.0) is None
    True
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


def ridge(problem: Problem, alpha: FloatArray) -> FloatArray | None:
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


def least_squares(problem: Problem, tol: float) -> tuple[FloatArray, FloatArray] | None:
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
