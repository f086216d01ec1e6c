"""What is known of a score: made exact, how sure it is, its interval, and who may be best.

The models that predict a judged fold saw fewer rows than the deployed ones. How much that costs
is read from models one fold smaller still: their loss B, minus the loss C of the models without
the judged fold alone, is one step of the learning curve, and the next one is ``kappa`` times it.
Where the mean of models without a fold each is deployed, it has the variance of a model of all rows
but the bias of its members: ``kappa`` of the one part, the whole step of the other is to come.
Where all models miss two folds, the mean of more of them is deployed than is judged (A): what that
is worth is read from what their mean gains on each alone, B minus A.

The standard error is wider than rows alone say, since folds err together. What the rows of fold j
teach the models that predict fold i, the rows of fold i teach the models that predict fold j: so
the losses of two folds are correlated. The models without both show by how much. Of the losses on
fold i by models without i and j, take off what is due to fold i (how hard it is) and what is due to
j (how much its rows are missed): the rest is between these two folds alone, and how it goes
together with what is left of the losses on fold j is their correlation.

Bates, Hastie & Tibshirani estimate the same variance from the difference between a fold's loss and
the other folds' [1]_. It is right on average, but has the chance of the fold's rows in it, which
is several times what is looked for; here the same rows stand on both sides, and it cancels.

References
----------
.. [1] Bates, Hastie & Tibshirani (2024). Cross-validation: what does it estimate and how well does
   it do it? Journal of the American Statistical Association 119.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm, t

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.checks import row_shares
from foldwise.scores.metric import Evaluation, Metric

# Learning curves are not monotone where rows and columns are about as many.
MOST = 0.25
FEWEST_FOLDS = 4
LEVEL = 0.95
# By simulation of means of squared t and normal errors and of log-losses: with fewer degrees
# intervals explode, with more those of heavy tails are too narrow.
FEWEST_DEGREES = 3.0
FEW = 0.2
N_DRAWS = 5_000
TINY = 1e-12


@dataclass(frozen=True)
class ScoreCorrection:
    """How far a score was moved from what the judged models say, and why no further."""

    kind: str  # "step", "limited" (the step had left its limits) or "none"
    reason: str  # one sentence
    size: float = 0.0  # corrected minus uncorrected score, in the scorer's sign


@dataclass(frozen=True)
class Exact:
    """One model's score before and after the correction."""

    evaluation: Evaluation  # corrected
    uncorrected: float  # its score before
    raw: float = 0.0  # the step before its limits, in the scorer's sign
    limit: float = 0.0  # the largest step allowed
    more: float = 0.0  # how much better still it may be, where the step is known to a range only


def next_step(
    alone: Sequence[int],
    pairs: Sequence[Sequence[int]],
    everything: int,
    *,
    averaged: bool = False,
) -> float:
    """Return kappa: the next step of a 1/n learning curve, in units of the one that was seen.

    ``alone``: Training rows of the models without fold i. ``pairs``: for each i those of the models
    without i and one more. ``everything``: all rows. Folds that show no step are left out.
    ``averaged``: Whether the mean of models without a fold is deployed. How much of the step is
    their bias does not show, so it is the middle between kappa and the whole step.
    """
    steps = []
    for without, smaller in zip(alone, pairs, strict=True):
        seen = float(np.mean([1.0 / m for m in smaller])) - 1.0 / without
        if seen > 0:
            steps.append((1.0 / without - 1.0 / everything) / seen)
    kappa = float(np.mean(steps)) if steps else 0.0
    return (1.0 + kappa) / 2 if averaged and steps else kappa


def next_mean(n_folds: int) -> tuple[float, float]:
    """Return what the mean of all pairs' models gains on A at least and at most, in units of B - A.

    By Hoeffding's decomposition over folds, that part of models that takes r folds of rows together
    gains (K - 1 - r) / K: most for r = 1, least for all K - 2 of a model and for chance, where a
    mean of K - 1 independent models becomes one of K (K - 1) / 2. Which part it is does not show.
    """
    return 1.0 / n_folds, (n_folds - 2) / n_folds


def missed_mean(partners: int, n_folds: int) -> float:
    """Return what the mean of all models without fold i and another gains on that of some of them.

    In units of B - A: the mean of p models loses 1 / p of what differs between them.
    """
    return (1 / partners - 1 / (n_folds - 1)) / (1 - 1 / partners)


class RunningMean:
    """The mean of scores, which is linear in their contributions; these are kept once."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.total: Any = 0.0

    def add(self, evaluation: Evaluation) -> None:
        """Take one more."""
        self.scores.append(evaluation.score)
        self.total = self.total + evaluation.contributions

    @property
    def evaluation(self) -> Evaluation:
        """What the mean of them is."""
        return Evaluation(float(np.mean(self.scores)), self.total / len(self.scores))


def stepped(
    judged: Evaluation,
    pairs: Evaluation,
    alone: Evaluation,
    kappa: tuple[float, float],
    best: float,
    missed: float = 0.0,
    *,
    perhaps: float = 0.0,
    backwards: bool = False,
) -> Exact:
    """Return the score after the step ``kappa * (alone - pairs)``, kept within its limits.

    ``kappa``: the least and the most it may be; the least is taken. ``best``: the best score there
    can be; the loss is what is missing to it, and the step is at least nothing and at most a
    quarter of that. ``missed``: by what ``judged - pairs`` is to be multiplied for the models that
    are not in the mean that was judged; ``perhaps``: by what more it might. ``backwards``: whether
    the step may be as large to the worse, but not below zero.
    """
    least, most = kappa
    curve = alone.score - pairs.score
    raw = least * curve + missed * (judged.score - pairs.score)
    limit = MOST * abs(best - judged.score)
    back = min(limit, judged.score) if judged.score > 0 else limit
    step = float(np.clip(raw, -back if backwards else 0.0, limit))
    most_raw = raw + (most - least) * curve + perhaps * (judged.score - pairs.score)
    if not np.isfinite(raw) or step == 0:
        more = max(min(most_raw, limit), 0.0) if np.isfinite(raw) else 0.0
        return Exact(judged, judged.score, raw, limit, more)
    share = step / raw
    own = judged.contributions
    if pairs.contributions.ndim:
        # Where rows are not known, the error stays that of the models that were judged.
        averaged = missed * (own - pairs.contributions)
        own = own + share * (least * (alone.contributions - pairs.contributions) + averaged)
    moved = Evaluation(judged.score + share * raw, own)
    further = min(most_raw, limit) + judged.score - moved.score
    return Exact(moved, judged.score, raw, limit, max(further, 0.0))


def rooted(exact: Exact) -> Exact:
    """Return root mean squared errors for mean squared ones."""
    root, own = float(np.sqrt(-exact.evaluation.score)), exact.evaluation.contributions
    moved = Evaluation(-root, own / (2 * root) if root > 0 else own)
    more = -float(np.sqrt(-exact.evaluation.score - exact.more)) - moved.score
    uncorrected = -float(np.sqrt(-exact.uncorrected))
    return replace(exact, evaluation=moved, uncorrected=uncorrected, more=more)


def correction_of(
    each: Sequence[Exact], metric: Metric, *, averaged: bool = False, more: bool = False
) -> ScoreCorrection:
    """Say what was done to a score, over the repeats.

    ``averaged``: by the step of averaging alone. ``more``: by both steps.
    """
    size = float(np.mean([e.evaluation.score - e.uncorrected for e in each]))
    unit = metric.name.replace("_", " ")
    if any(e.raw > e.limit for e in each):
        what = "averaging" if averaged else "the learning curve"
        reason = f"the step that {what} shows is more than a quarter of the loss"
        return ScoreCorrection("limited", f"{reason}, so only a quarter was taken off", size)
    if size < 0:
        held = any(e.evaluation.score - e.uncorrected > e.raw + TINY for e in each)
        loss = f"{-size:.3g}{' or more' if held else ''} of {unit}"
        reason = f"models of more rows judged worse here, by {loss}"
        return ScoreCorrection("limited" if held else "step", reason, size)
    if all(not e.raw > 0 for e in each):
        better = "means of models" if averaged else "models of more rows"
        reason = f"{better} did not judge better here, so nothing was taken off"
        return ScoreCorrection("limited", reason, size)
    if averaged:
        why = "the mean of more models is deployed than was judged, which is worth at least"
    else:
        both = "are more and saw more rows" if more else "saw more rows"
        why = f"the deployed models {both} than the judged ones, which is worth"
    return ScoreCorrection("step", f"{why} {size:.3g} of {unit}", size)


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
    share = row_shares(n, weight)
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
    found = differences(covariance)
    np.fill_diagonal(found, np.diag(covariance))
    return found


def covariance_of_means(
    losses: FloatArray,
    weight: FloatArray | None = None,
    unit: IntArray | None = None,
    *,
    overwrite: bool = False,
) -> FloatArray:
    """Return the covariance of the weighted means of columns, by rows or by their units.

    ``overwrite``: Whether the losses may be.
    """
    share = row_shares(len(losses), weight)
    parts = np.subtract(losses, share @ losses, out=losses if overwrite else None)
    parts *= share[:, None]
    if unit is not None:
        _, unit = np.unique(unit, return_inverse=True)
        gathered = np.zeros((int(unit.max()) + 1, parts.shape[1]))
        np.add.at(gathered, unit, parts)
        parts = gathered
    return covariance_of(parts)


def carriers(contributions: FloatArray) -> float:
    """Return how many of n contributions carry the error: one if a single one does, at most n."""
    squares = contributions**2
    total = float(np.sum(squares**2))
    return float(np.sum(squares)) ** 2 / total if total > 0 else float(len(squares))


def degrees_of_freedom(contributions: FloatArray) -> float:
    """Return how sure a standard error is: as sure as the rows that carry it can make it.

    Fewer carriers than the root of the number of rows are a sign of heavy tails, of which the worst
    may not have been seen: they count for less.
    """
    found, root = carriers(contributions), float(np.sqrt(len(contributions)))
    return max(found * min(1.0, found / root), FEWEST_DEGREES)


def score_interval(
    score: float, error: float, degrees: float, best: float, more: float = 0.0
) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a score, in the scorer's sign.

    The upper end is that of a score that is better by ``more``.
    The loss is what is missing to the ``best`` score there can be. Losses are skewed, and small
    ones come with small standard errors, so the interval is made for the logarithm of the loss,
    with the t quantile for the ``degrees`` of freedom of the error. A score with no loss to speak
    of has the symmetric one.
    """
    half = float(t.ppf((1 + LEVEL) / 2, degrees)) * error
    loss = best - score
    if not loss > 0:
        return score - half, score + half
    low, high = loss * float(np.exp(half / loss)), (loss - more) * float(np.exp(-half / loss))
    return best - low, best - high


def heavy_rows(losses: FloatArray, weight: FloatArray | None = None) -> IntArray:
    """Return the rows that carry more than half of the error, the heaviest first, if few do.

    That is where fewer than a fifth of the rows carry the loss: of squares of normal errors a third
    do, of those without a fourth moment ever fewer.
    """
    share = row_shares(len(losses), weight)
    if carriers(np.sqrt(share * np.abs(losses))) >= FEW * len(losses):
        return np.empty(0, dtype=np.intp)
    parts = share * (losses - share @ losses)
    order = np.argsort(-np.abs(parts), kind="stable")
    squares = np.cumsum(parts[order] ** 2)
    return order[: int(np.searchsorted(squares, 0.5 * squares[-1])) + 1]


def covariance_of(contributions: FloatArray) -> FloatArray:
    """Return the covariance of scores from what each row or cluster contributes to them.

    Shapes: ``contributions`` (n_units, n_models).
    """
    n = len(contributions)
    return contributions.T @ contributions * n / max(n - 1, 1)


def covariance_in_folds(contributions: Sequence[FloatArray], fold: IntArray) -> FloatArray:
    """Return the covariance of scores where each fold has a mean of its own.

    ``contributions``: For each model, what each row or cluster contributes; ``fold`` of these.
    """
    n, total = len(fold), np.zeros((len(contributions), len(contributions)))
    # A fold at a time: of many rows, a table of all would be large.
    for inside in (np.flatnonzero(fold == number) for number in np.unique(fold)):
        own = np.column_stack([each[inside] for each in contributions])
        own -= own.mean(axis=0)
        total += own.T @ own
    return total * n / max(n - 1, 1)


def may_be_best(
    scores: FloatArray,
    covariance: FloatArray,
    *,
    level: float = 0.95,
    widen: FloatArray | float = 1.0,
) -> BoolArray:
    """Return which models cannot be told from the best, all comparisons taken together.

    A model is out if some rival beats it by more than the best of all rivals would by chance
    [1]_: a Gaussian multiplier bootstrap of rows, whose draws have the covariance that the rows
    give, of the largest studentised difference. ``widen`` multiplies standard errors: one number,
    or one for each pair of models.

    References
    ----------
    .. [1] Lei (2020). Cross-validation with confidence. Journal of the American Statistical
       Association 115.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, len(scores))) @ root.T
    errors = np.sqrt(differences(covariance))
    wider = widen * np.ones_like(errors)
    inside = np.ones(len(scores), dtype=bool)
    for m in range(len(scores)):
        rivals = np.flatnonzero(errors[m] > TINY * np.sqrt(np.trace(covariance)))
        if not len(rivals):
            continue
        lead = np.max((scores[rivals] - scores[m]) / (wider[m, rivals] * errors[m, rivals]))
        chance = np.max((draws[:, rivals] - draws[:, [m]]) / errors[m, rivals], axis=1)
        inside[m] = np.mean(chance >= lead) > 1.0 - level
    inside[int(np.argmax(scores))] = True
    return inside


def differences(covariance: FloatArray) -> FloatArray:
    """Return the variances of all differences of two scores."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2.0 * covariance, 0.0)


def p_better(gain: float, error: float) -> float:
    """Return the one-sided p-value of a gain: how likely it is where there is none."""
    if error > 0:
        return float(norm.sf(gain / error))
    return 0.0 if gain > 0 else 1.0
