"""Which point of a path is deployed, and the score of that choice.

Trees fit the rows they were grown on, so a fold can judge a penalty only by a dictionary that was
grown without it. The deployed penalty is judged by the dictionaries without each fold. A fold's
score comes from the same dictionaries, but at a penalty its own rows had no part in: the folds
next to it choose it, judged by dictionaries that saw neither them nor the fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.isle.data import TreeData
from foldwise.isle.postprocess import terms_path, terms_rows
from foldwise.paths.cross_validation import chosen_index, mean_and_error
from foldwise.paths.path import Path


@dataclass(frozen=True)
class Grown:
    """A dictionary of terms, and the path of their coefficients on some rows.

    Paths fall from their own largest penalty in the same steps, so that equal positions of two of
    them are equal penalties beside the largest.
    """

    rows: TreeData
    dictionary: Any  # its ``matrix(table)`` gives the value of every term for every row
    path: Path

    def losses(self, rows: TreeData, huber_delta: float | None = None) -> FloatArray:
        """Return the loss of other rows at every point of the path, shape (n_points, n_rows)."""
        delta = self.rows.delta if huber_delta is None else huber_delta
        judged = terms_rows(self.dictionary.matrix(rows.table), rows, delta)
        return judged.losses(self.path.predictor(judged.D))

    def refitted(self, index: int, l1_ratio: float) -> "Grown":
        """Return the path, with a penalty of its own, of the terms used at one point.

        A cap on the number of terms is met by a large penalty, which shrinks the few terms left
        far more than they deserve (Meinshausen's relaxed lasso).
        """
        coefs = self.path.coefs[min(index, len(self.path.coefs) - 1)]
        used = np.flatnonzero(np.atleast_2d(coefs).any(axis=0))
        D = self.dictionary.matrix(self.rows.table)
        path = terms_path(D[:, used], self.rows, l1_ratio=l1_ratio)
        everywhere = np.zeros((*path.coefs.shape[:-1], D.shape[1]))
        everywhere[..., used] = path.coefs
        return replace(self, path=replace(path, coefs=everywhere))


def fit_terms(dictionary: Any, rows: TreeData, D: Any = None, **options: Any) -> Grown:
    """Return the path of the terms of a dictionary on some rows; ``D`` are their values there."""
    D = dictionary.matrix(rows.table) if D is None else D
    return Grown(rows, dictionary, terms_path(D, rows, **options))


@dataclass(frozen=True)
class PenaltyChoice:
    """A point of a path, and the curve it was chosen by."""

    grown: Grown  # whose path
    index: int
    curve: FloatArray  # mean loss of the held-out rows along the first path, for choosing only
    curve_se: FloatArray
    lambdas: FloatArray  # penalties of the first path
    first_index: int  # its point chosen, whose terms may have been refitted since
    rivals: "Rivals"  # what it was chosen from

    @property
    def coefs(self) -> FloatArray:
        """The coefficients, shape (n_outputs, n_terms)."""
        return np.atleast_2d(self.grown.path.coefs[self.index])

    @property
    def intercepts(self) -> FloatArray:
        """The intercepts, shape (n_outputs,)."""
        return np.atleast_1d(self.grown.path.intercepts[self.index])


Rivals = tuple[Grown, ...]  # paths of several dictionaries of the same rows, the simplest first
Judges = Sequence[tuple[Rivals, TreeData]]  # each with rows they have not seen


def choose_point(
    rivals: Rivals, judges: Judges, rule: str, refit: float | None = None
) -> PenaltyChoice:
    """Return the point of one of the paths that others find best on rows they have not seen.

    ``refit``: the l1_ratio at which the terms of that point are fitted anew, None not to.
    """
    curves = [_curve(own, _of(judges, k)) for k, own in enumerate(rivals)]
    lowest = np.array([(curve.min(), error[curve.argmin()]) for curve, error in curves])
    best = chosen_index(lowest[:, 0], lowest[:, 1], rule)
    own, (curve, error), judging = rivals[best], curves[best], _of(judges, best)
    lambdas = own.path.lambdas
    first = index = chosen_index(curve, error, rule)
    if refit is not None and own.path.coefs[index].any():
        judging = [(each.refitted(first, refit), rows) for each, rows in judging]
        own = own.refitted(first, refit)
        index = chosen_index(*_curve(own, judging), rule)
    return PenaltyChoice(own, index, curve, error, lambdas, first, rivals)


def _of(judges: Judges, rival: int) -> list[tuple[Grown, TreeData]]:
    return [(rivals[rival], rows) for rivals, rows in judges]


def _curve(own: Grown, judges: Sequence[tuple[Grown, TreeData]]) -> tuple[FloatArray, FloatArray]:
    # Past its end a path stays where it ended.
    points = np.arange(len(own.path.lambdas))
    losses = [
        (each.losses(rows) @ rows.weight)[points.clip(max=len(each.path.lambdas) - 1)]
        for each, rows in judges
    ]
    weight = np.array([rows.weight.sum() for _, rows in judges])
    return mean_and_error(np.array(losses) / weight[:, None], weight / weight.sum())


def fitted_choice(
    data: TreeData,
    folds: IntArray,
    fit: Callable[[TreeData], Rivals],
    rule: str,
    *,
    refit: float | None = None,
    score: bool = True,
) -> tuple[PenaltyChoice, tuple[float, float]]:
    """Fit to all rows and without each fold; return what is deployed, its score and the error.

    The score needs a fit more a fold, without it and its neighbour, and at least three folds; it is
    NaN where there are fewer or none was asked for.
    """
    names = np.unique(folds)
    tests = [data.take(folds == name) for name in names]
    singles = [fit(data.take(folds != name)) for name in names]
    choice = choose_point(fit(data), list(zip(singles, tests, strict=True)), rule, refit)
    if not score or len(names) < 3:
        return choice, (np.nan, np.nan)
    # Pair k lacks fold k and the one before it.
    pairs = [
        fit(data.take((folds != name) & (folds != names[k - 1]))) for k, name in enumerate(names)
    ]
    losses = np.empty(len(data.y))
    for k, name in enumerate(names):
        after = (k + 1) % len(names)
        judges = [(pairs[k], tests[k - 1]), (pairs[after], tests[after])]
        judged = choose_point(singles[k], judges, rule, refit)
        losses[folds == name] = judged.grown.losses(tests[k], data.delta)[judged.index]
    return choice, mean_score(_in_metric(losses, data), data.weight, data.groups)


def _in_metric(losses: FloatArray, data: TreeData) -> FloatArray:
    """Return squared errors and Poisson deviances for the halves of them that paths minimise."""
    if data.loss == "poisson":
        losses = losses - terms_rows(np.empty((len(data.y), 0)), data, 1.0).scale.least(data.y)
    return 2.0 * losses if data.loss in {"squared", "poisson"} else losses


def mean_score(losses: FloatArray, weight: FloatArray, groups: Array | None) -> tuple[float, float]:
    """Return minus the mean loss of the rows, and its standard error, rows of a group together."""
    share = weight / weight.sum()
    mean = float(share @ losses)
    moves = share * (losses - mean)
    moves = moves if groups is None else np.bincount(groups, moves)
    n = np.count_nonzero(np.ones(len(moves)) if groups is None else np.bincount(groups))
    return -mean, float(np.sqrt((moves**2).sum() * n / max(n - 1, 1)))
