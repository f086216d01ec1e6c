"""AdaBoost: the slide's two-class formulas, SAMME for more classes, and the margins of the vote."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.boost.stumps import SortedColumns, is_plain_stump
from foldwise.learners.one_learner import LearnerInput, WeightedRows, ask, fit_learner, seeded
from foldwise.learners.watched import Patience

FitRound = Callable[[int, FloatArray], Any]


def vote_weight(error: float, n_classes: int, n_rows: float) -> float:
    """Return β, the say of a learner with this weighted error."""
    error = max(error, 1 / (2 * n_rows))
    odds = float(np.log((1 - error) / error))
    return odds / 2 if n_classes == 2 else odds + float(np.log(n_classes - 1))


def reweighted(weight: FloatArray, wrong: BoolArray, say: float, n_classes: int) -> FloatArray:
    """Return the row weights after a round, summing to one."""
    up, down = (say, -say) if n_classes == 2 else (say, 0.0)
    weight = weight * np.where(wrong, np.exp(up), np.exp(down))
    return weight / weight.sum()


def gridded(weight: FloatArray, start: FloatArray) -> FloatArray:
    """Return the weights on the scale of ``start``, as multiples of 2⁻³⁰ of it.

    Sums of such weights are exact, so that two splits of equal merit stay equal: a row of
    weight 2 then trains a learner as two rows of weight 1 do, to the last bit. The scale is kept
    so that a learner's own penalty keeps its strength.
    """
    ratio = np.divide(weight * start.sum(), start, out=np.zeros_like(start), where=start > 0)
    return start * np.ldexp(np.rint(np.ldexp(ratio, 30)), -30)


def add_votes(votes: FloatArray, answers: IntArray, say: float) -> None:
    """Add a learner's say to the votes of the classes it names; two-class says count double."""
    votes[np.arange(len(votes)), answers] += 2 * say if votes.shape[1] == 2 else say


def centred(votes: FloatArray) -> FloatArray:
    """Return the votes less their row mean: the additive model f, whose softmax is P(class)."""
    return votes - votes.mean(axis=1, keepdims=True)


def class_margins(votes: FloatArray, codes: IntArray) -> FloatArray:
    """Return each row's margin, between −1 and 1; positive if the vote is right.

    Shapes: ``votes`` (n_samples, n_classes).
    """
    # Schapire, Freund, Bartlett, Lee (1998). Boosting the margin.
    rows = np.arange(len(votes))
    own = votes[rows, codes]
    if votes.shape[1] == 2:
        return (own - votes[rows, 1 - codes]) / votes.sum(axis=1)
    others = votes.copy()
    others[rows, codes] = -np.inf
    return (own - others.max(axis=1)) / votes.sum(axis=1)


# exponential loss, error and smallest margin of a committee
PathPoint = tuple[float, float, float]


def path_point(votes: FloatArray, codes: IntArray, weight: FloatArray) -> PathPoint:
    """Return where the votes stand on the training rows."""
    own = votes[np.arange(len(votes)), codes] - votes.mean(axis=1)
    share, wrong = weight / weight.sum(), votes.argmax(axis=1) != codes
    loss, margins = share @ np.exp(-own), class_margins(votes, codes)
    return float(loss), float(share @ wrong), float(margins.min())


@dataclass(frozen=True)
class BoostingPath:
    """A boosted committee after each round, seen from its training rows.

    With a small learning rate the rounds trace an L1-regularised path: the norm Σ|β| grows, the
    loss falls, and the smallest margin climbs to the largest that any committee has.

    Attributes
    ----------
    l1_norm : ndarray of shape (n_rounds,)
        Σ β so far.
    exponential_loss : ndarray of shape (n_rounds,)
        Weighted mean of exp(−f_y): with two classes exp(−y F).
    error : ndarray of shape (n_rounds,)
        Weighted share of rows that the committee gets wrong.
    smallest_margin : ndarray of shape (n_rounds,)
        The smallest over the rows.

    References
    ----------
    .. [1] Rosset, Zhu, Hastie (2004). Boosting as a regularized path to a maximum margin
       classifier.
    """

    l1_norm: FloatArray
    exponential_loss: FloatArray
    error: FloatArray
    smallest_margin: FloatArray

    @classmethod
    def of(cls, says: list[float], points: list[PathPoint]) -> Self:
        """Return the path through the points of all rounds."""
        return cls(np.cumsum(says), *np.array(points, dtype=float).reshape(-1, 3).T)

    def first(self, rounds: int) -> Self:
        """Return the path of the first rounds."""
        return type(self)(*(each[:rounds] for each in vars(self).values()))


def coefficient_path(answers: IntArray, says: FloatArray) -> FloatArray:
    """Return how the coefficient of each distinct learner grows with the rounds.

    Shapes: ``answers`` (n_rounds, n_samples), returns (n_rounds, n_distinct).
    """
    known: dict[bytes, int] = {}
    owner = [known.setdefault(row.tobytes(), len(known)) for row in np.ascontiguousarray(answers)]
    steps = np.zeros((len(says), len(known)))
    steps[np.arange(len(says)), owner] = says
    return np.cumsum(steps, axis=0)


@dataclass(frozen=True)
class Committee:
    """Weighted learners, and what was measured while they were boosted."""

    learners: list[Any]  # the learners h_m
    says: FloatArray  # their say β_m
    errors: FloatArray  # their weighted errors ε_m
    path: BoostingPath  # of the training rows
    best_round: int  # rounds at the lowest validation error
    # the error of the learner that did not beat chance and ended the boosting
    failed_error: float | None

    def first(self, rounds: int) -> Self:
        """Return the committee of the first rounds."""
        cut = {name: getattr(self, name)[:rounds] for name in ("learners", "says", "errors")}
        return replace(self, path=self.path.first(rounds), **cut)


def round_fitter(learner: Any, seeds: Array, rows: WeightedRows, *, draw: bool) -> FitRound:
    """Return what fits the learner of a round to the weights d: drawn rows, sorts, or weights."""
    table, codes, start = rows.table, rows.y, rows.weight

    def fresh(m: int) -> Any:
        return seeded(learner, int(seeds[m]))

    def by_weights(m: int, weight: FloatArray) -> Any:
        return fit_learner(fresh(m), table, codes, gridded(weight, start))

    draws = np.random.default_rng(seeds[-2])

    def by_rows(m: int, weight: FloatArray) -> Any:
        drawn = draws.choice(len(weight), len(weight), p=weight)
        return fit_learner(fresh(m), table.rows(drawn), codes[drawn], None)

    if draw:
        return by_rows
    if not (table.trusted and is_plain_stump(learner)):
        return by_weights
    columns = SortedColumns(table.X, codes, max(2, int(codes.max()) + 1))

    def by_columns(m: int, weight: FloatArray) -> Any:
        stump = columns.best_stump(gridded(weight, start), fresh(m))
        return by_weights(m, weight) if stump is None else stump

    return by_columns


def boost_committee(
    fitter: Callable[[WeightedRows], FitRound],
    n_classes: int,
    learning_rate: float,
    patience: int,
    rows: WeightedRows,
    watch: WeightedRows | None,
    rounds: int,
    report: Callable[[int], None],
) -> Committee:
    """Return the boosted committee."""
    start, codes, fit_round = rows.weight, rows.y, fitter(rows)
    weight, votes = start / start.sum(), np.zeros((len(rows), n_classes))
    n_rows = max(start.sum(), len(start))
    learners: list[Any] = []
    says: list[float] = []
    errors: list[float] = []
    points: list[PathPoint] = []
    failed = None
    waiting = Patience(patience)
    watched = np.zeros((0 if watch is None else len(watch), n_classes))
    for m in range(rounds):
        learner = fit_round(m, weight)
        answers = ask(learner, rows.table).astype(np.intp)
        wrong = answers != codes
        error = float(weight @ wrong)
        if error >= 1 - 1 / n_classes - 1e-12:
            failed = error
            break
        say = learning_rate * vote_weight(error, n_classes, n_rows)
        weight = reweighted(weight, wrong, say, n_classes)
        add_votes(votes, answers, say)
        learners.append(learner)
        says.append(say)
        errors.append(error)
        points.append(path_point(votes, codes, start))
        report(m + 1)
        if watch is not None:
            add_votes(watched, ask(learner, watch.table).astype(np.intp), say)
            missed = watched.argmax(axis=1) != watch.y
            if waiting.exhausted(float(np.average(missed, weights=watch.weight))):
                break
        if error <= 0:
            break
    path = BoostingPath.of(says, points)
    best = waiting.best_round
    return Committee(learners, np.array(says), np.array(errors), path, best, failed)


def staged_votes(
    learners: list[Any], says: FloatArray, table: LearnerInput, n_classes: int
) -> Iterator[FloatArray]:
    """Yield the votes after each round; the same array, changed in place.

    Shapes: yields (n_samples, n_classes).
    """
    votes = np.zeros((len(table), n_classes))
    for learner, say in zip(learners, says, strict=True):
        add_votes(votes, ask(learner, table).astype(np.intp), float(say))
        yield votes
