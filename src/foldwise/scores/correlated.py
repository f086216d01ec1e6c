"""How much wider than rows alone say an interval must be, since folds err together.

What the rows of fold j teach the models that predict fold i, the rows of fold i teach the models
that predict fold j: so the losses of two folds are correlated. The models without both show by how
much. Of the losses on fold i by models without i and j, take off what is due to fold i (how hard
it is) and what is due to j (how much its rows are missed): the rest is between these two folds
alone, and how it goes together with what is left of the losses on fold j is their correlation.

Bates, Hastie & Tibshirani estimate the same variance from the difference between a fold's loss and
the other folds' [1]_. It is right on average, but has the chance of the fold's rows in it, which
is several times what is looked for; here the same rows stand on both sides, and it cancels.

References
----------
.. [1] Bates, Hastie & Tibshirani (2024). Cross-validation: what does it estimate and how well does
   it do it? Journal of the American Statistical Association 119.
"""

import numpy as np

from foldwise.arrays import FloatArray, IntArray

FEWEST_FOLDS = 4


def shared_covariance(table: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return what the correlation of folds adds to the covariance of the models' mean losses.

    ``table`` (n_folds, n_folds, n_models): ``[i, j]`` is the mean loss on fold i by models without
    i and j; ``[i, i]`` is not read. ``weight`` (n_folds,) of the folds' rows. An estimate, so it
    may be negative; nothing with fewer than four folds, where nothing is left to see.
    """
    n = len(table)
    if n < FEWEST_FOLDS:
        return np.zeros((table.shape[2],) * 2)
    apart = ~np.eye(n, dtype=bool)[:, :, None]
    table = np.where(apart, table, 0.0)
    alike, unlike = (table + table.swapaxes(0, 1)) / 2, (table - table.swapaxes(0, 1)) / 2
    # Least squares, in closed form: a_i + a_j from the symmetric part, b_i - b_j from the other.
    total = alike.sum(axis=1)
    own, lead = (total - total.sum(axis=0) / (2 * n - 2)) / (n - 2), unlike.sum(axis=1) / n
    alike = np.where(apart, alike - own[:, None] - own, 0.0)
    unlike = np.where(apart, unlike - lead[:, None] + lead, 0.0)
    pairs = n * (n - 1) // 2
    together = np.einsum("ijm,ijk->mk", alike, alike) / (pairs - n)
    against = np.einsum("ijm,ijk->mk", unlike, unlike) / (pairs - n + 1)
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    # One fold of n - 2 is missed in the table, of n - 1 it is a smaller part.
    return (1 - np.sum(share**2)) * ((n - 2) / (n - 1)) ** 2 * (together - against) / 2


def ratios(shared: FloatArray, naive: FloatArray) -> FloatArray:
    """Return variances over those of independent rows: of means, and of their differences.

    ``shared`` and ``naive`` (n_models, n_models): covariances that correlated folds add, and by
    rows alone. Returns the same shape: ``[m, m]`` of a mean, ``[m, k]`` of a difference; never
    less than one, and one where losses are the same.
    """
    added, rows = _variances(shared), _variances(naive)
    known = rows > np.finfo(np.float64).eps * float(np.trace(naive))
    return 1.0 + np.maximum(np.divide(added, rows, out=np.zeros_like(rows), where=known), 0.0)


def _variances(covariance: FloatArray) -> FloatArray:
    """Return the variances of means on the diagonal, of their differences elsewhere."""
    own = np.diag(covariance)
    found = own[:, None] + own - 2.0 * covariance
    np.fill_diagonal(found, own)
    return found


def covariance_of_means(
    losses: FloatArray, weight: FloatArray | None = None, unit: IntArray | None = None
) -> FloatArray:
    """Return the covariance of the weighted means of columns, by rows or by their units.

    Examples
    --------
    >>> import numpy as np
    >>> float(covariance_of_means(np.array([[1.0], [3.0]]))[0, 0])
    1.0
    """
    share = np.full(len(losses), 1 / len(losses)) if weight is None else weight / weight.sum()
    parts = share[:, None] * (losses - share @ losses)
    if unit is not None:
        _, unit = np.unique(unit, return_inverse=True)
        gathered = np.zeros((int(unit.max()) + 1, parts.shape[1]))
        np.add.at(gathered, unit, parts)
        parts = gathered
    n = len(parts)
    return parts.T @ parts * n / max(n - 1, 1)
