"""AdaBoost: the slide's two-class formulas, and SAMME for more classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.boost.early_stopping import Patience
from foldwise.boost.learner import Table, ask
from foldwise.boost.margins import BoostingPath


def vote_weight(error: float, n_classes: int, n_rows: float) -> float:
    """Return β, the say of a learner with this weighted error.

    Examples
    --------
    >>> round(vote_weight(0.1, 2, 100), 4)
    1.0986
    """
    error = max(error, 1 / (2 * n_rows))
    odds = float(np.log((1 - error) / error))
    return odds / 2 if n_classes == 2 else odds + float(np.log(n_classes - 1))


def reweighted(weight: FloatArray, wrong: BoolArray, say: float, n_classes: int) -> FloatArray:
    """Return the row weights after a round, summing to one.

    Examples
    --------
    >>> import numpy as np
    >>> reweighted(np.full(4, 0.25), np.array([True, False, False, False]), np.log(3) / 2, 2)
    array([0.5       , 0.16666667, 0.16666667, 0.16666667])
    """
    up, down = (say, -say) if n_classes == 2 else (say, 0.0)
    weight = weight * np.where(wrong, np.exp(up), np.exp(down))
    return weight / weight.sum()


def gridded(weight: FloatArray, start: FloatArray) -> FloatArray:
    """Return the weights on the scale of ``start``, as multiples of 2⁻³⁰ of it.

    Sums of such weights are exact, so that two splits of equal merit stay equal: a row of
    weight 2 then trains a learner as two rows of weight 1 do, to the last bit. The scale is kept
    so that a learner's own penalty keeps its strength.

    Examples
    --------
    >>> import numpy as np
    >>> gridded(np.array([0.1, 0.6, 0.3]), np.array([0.0, 2.0, 1.0]))
    array([0. , 1.8, 0.9])
    """
    ratio = np.divide(weight * start.sum(), start, out=np.zeros_like(start), where=start > 0)
    return start * np.ldexp(np.rint(np.ldexp(ratio, 30)), -30)


def add_votes(votes: FloatArray, answers: IntArray, say: float) -> None:
    """Add a learner's say to the votes of the classes it names; two-class says count double."""
    votes[np.arange(len(votes)), answers] += 2 * say if votes.shape[1] == 2 else say


@dataclass(frozen=True)
class Committee:
    """Weighted learners, and what was measured while they were boosted."""

    learners: list[Any]  # the learners h_m
    says: FloatArray  # their say β_m
    errors: FloatArray  # their weighted errors ε_m
    path: BoostingPath  # of the training rows
    validation_error: FloatArray | None  # error of the committee on the rows set apart
    best_round: int  # rounds at the lowest validation error
    # the error of the learner that did not beat chance and ended the boosting
    failed_error: float | None

    def first(self, rounds: int) -> Self:
        """Return the committee of the first rounds."""
        return replace(
            self,
            learners=self.learners[:rounds],
            says=self.says[:rounds],
            errors=self.errors[:rounds],
            path=self.path.first(rounds),
        )


def boost_committee(
    fit_round: Callable[[int, FloatArray], Any],
    table: Table,
    codes: IntArray,
    n_classes: int,
    start: FloatArray,
    rounds: int,
    *,
    learning_rate: float,
    watch: tuple[Table, IntArray] | None,
    patience: int,
    report: Callable[[int], None],
) -> Committee:
    """Return the boosted committee."""
    weight, votes = start / start.sum(), np.zeros((len(table), n_classes))
    n_rows = max(start.sum(), np.count_nonzero(start))
    learners: list[Any] = []
    says, errors = [], []
    tracker, judge = BoostingPath.start(), _Judge(watch, n_classes, patience)
    failed = None
    for m in range(rounds):
        learner = fit_round(m, weight)
        answers = ask(learner, table).astype(np.intp)
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
        tracker = tracker.extended(votes, codes, start, say)
        report(m + 1)
        if judge.had_enough(learner, say) or error <= 0:
            break
    return Committee(
        learners,
        np.array(says),
        np.array(errors),
        tracker,
        judge.curve,
        judge.patience.best_round,
        failed,
    )


class _Judge:
    """Follows the error on the rows set apart, if there are any."""

    def __init__(self, watch: tuple[Table, IntArray] | None, n_classes: int, patience: int) -> None:
        self.watch = watch
        self.patience = Patience(patience)
        self.errors: list[float] = []
        self.votes = None if watch is None else np.zeros((len(watch[0]), n_classes))

    def had_enough(self, learner: Any, say: float) -> bool:
        if self.watch is None or self.votes is None:
            return False
        table, codes = self.watch
        add_votes(self.votes, ask(learner, table).astype(np.intp), say)
        self.errors.append(float(np.mean(self.votes.argmax(axis=1) != codes)))
        return self.patience.exhausted(self.errors[-1])

    @property
    def curve(self) -> FloatArray | None:
        return None if self.watch is None else np.array(self.errors)


def staged_votes(learners: list[Any], says: FloatArray, table: Table, n_classes: int) -> Any:
    """Yield the votes after each round; the same array, changed in place.

    Shapes: yields (n_samples, n_classes).
    """
    votes = np.zeros((len(table), n_classes))
    for learner, say in zip(learners, says, strict=True):
        add_votes(votes, ask(learner, table).astype(np.intp), float(say))
        yield votes
