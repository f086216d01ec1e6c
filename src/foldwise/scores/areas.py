"""Areas under receiver operating characteristic curves, and their standard errors."""

import numpy as np
from scipy.special import ndtri, stdtrit

from foldwise.arrays import BoolArray, FloatArray, IntArray

FEW_ROWS = 30


def mean_area(
    scores: FloatArray, truth: BoolArray, fold: IntArray, *, by_prevalence: bool = False
) -> tuple[float, FloatArray]:
    """Return the mean area over folds and columns, and DeLong's contributions of the rows.

    Folds that lack a class are left out. A class of one row has no error to be told: NaN.

    Shapes: ``scores`` (n_samples, n_columns), ``truth`` (n_samples, n_columns).

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more
       correlated receiver operating characteristic curves. Biometrics 44.
    """
    n_columns = scores.shape[1]
    areas, used = [], np.zeros((len(scores), n_columns))
    places, per_class = np.full_like(used, np.nan), np.ones_like(used)
    for each in np.unique(fold):
        rows = np.flatnonzero(fold == each)
        inside = truth[rows].mean(axis=0)
        if (inside == 0).any() or (inside == 1).any():
            continue
        used[rows] = inside / inside.sum() if by_prevalence else np.full(n_columns, 1 / n_columns)
        for c in range(n_columns):
            places[rows, c] = _placements(scores[rows, c], truth[rows, c])
        per_class[rows] = len(rows) * np.where(truth[rows], inside, 1 - inside)
        here = [places[rows[truth[rows, c]], c].mean() for c in range(n_columns)]
        areas.append(np.array([used[rows[0]], here]))
    if not areas:
        return float("nan"), np.zeros(len(scores))
    shares, columns = np.moveaxis(np.array(areas), 1, 0)
    # The spread of placements is pooled over folds: a class that is rare has hardly any in one.
    off = np.where(used > 0, places - columns.mean(axis=0), 0.0) * used / per_class / len(areas)
    for c in range(n_columns):
        for of_class in (truth[:, c], ~truth[:, c]):
            rows = np.flatnonzero(of_class & (used[:, c] > 0))
            off[rows, c] *= _few(len(rows))
    return float((shares * columns).sum(axis=1).mean()), off.sum(axis=1)


def _few(n: int) -> float:
    """Return by how much a spread of few rows is to be widened, so that 1.96 of it cover 95 %."""
    if n < 2:
        return float("nan")
    student = stdtrit(n - 1, 0.975) / ndtri(0.975) if n < FEW_ROWS else 1.0
    return float(np.sqrt(n / (n - 1)) * student)


def _placements(margin: FloatArray, positive: BoolArray) -> FloatArray:
    """Return, for each row, the share of the other class it is on the right side of."""
    order = np.argsort(margin)
    ordered, truth = margin[order], positive[order]
    tied = np.cumsum(np.concatenate([[0], ordered[1:] != ordered[:-1]]))
    shares = []
    for of_class in (~truth, truth):
        here = np.bincount(tied, of_class)
        # Ties count half.
        shares.append((np.cumsum(here) - here / 2)[tied] / of_class.sum())
    places = np.empty(len(margin))
    places[order] = np.where(truth, shares[0], 1.0 - shares[1])
    return places
