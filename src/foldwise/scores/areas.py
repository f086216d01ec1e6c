"""Areas under ROC curves, averaged over folds, with what each row contributes to their error."""

import numpy as np
from scipy.stats import rankdata

from foldwise.arrays import BoolArray, FloatArray, IntArray


def mean_area(
    scores: FloatArray, truth: BoolArray, fold: IntArray, *, by_prevalence: bool = False
) -> tuple[float, FloatArray]:
    """Return the mean area over folds and columns, and DeLong's contributions of the rows.

    Shapes: ``scores`` (n_samples, n_columns), ``truth`` (n_samples, n_columns).

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more
       correlated receiver operating characteristic curves. Biometrics 44.

    Examples
    --------
    >>> import numpy as np
    >>> scores, truth = np.array([[0.1], [0.4], [0.3], [0.9]]), np.array([[0], [0], [1], [1]]) > 0
    >>> mean_area(scores, truth, np.zeros(4, dtype=int))[0]
    0.75
    """
    contributions = np.zeros(len(scores))
    areas = []
    for each in np.unique(fold):
        rows = np.flatnonzero(fold == each)
        inside = truth[rows].mean(axis=0)
        if (inside == 0).any() or (inside == 1).any():
            continue
        n_columns = scores.shape[1]
        share = inside / inside.sum() if by_prevalence else np.full(n_columns, 1 / n_columns)
        found = [_area(scores[rows, c], truth[rows, c]) for c in range(n_columns)]
        areas.append(float(share @ [area for area, _ in found]))
        contributions[rows] = share @ np.array([own for _, own in found])
    if not areas:
        return float("nan"), contributions
    return float(np.mean(areas)), contributions / len(areas)


def _area(margin: FloatArray, positive: BoolArray) -> tuple[float, FloatArray]:
    """Return the area of one column in one fold, and the placements of its rows about it."""
    n_positive = int(positive.sum())
    n_negative = len(margin) - n_positive
    ranks = rankdata(margin)
    above = (ranks[positive] - rankdata(margin[positive])) / n_negative
    below = 1.0 - (ranks[~positive] - rankdata(margin[~positive])) / n_positive
    area = float(above.mean())
    own = np.empty(len(margin))
    own[positive] = (above - area) / n_positive
    own[~positive] = (below - area) / n_negative
    return area, own
