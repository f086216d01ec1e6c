"""Gradient boosting by matching pursuit: each round keeps the best of a set of learners."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.one_learner import (
    LearnerInput,
    WeightedRows,
    ask,
    draw_columns,
    fit_learner,
    seeded,
)
from foldwise.learners.watched import Patience
from foldwise.losses.loss import Loss, total_loss
from foldwise.losses.numbers import leaf_sums
from foldwise.losses.steps import leaf_steps, line_step, newton_steps


@dataclass(frozen=True)
class Pursuit:
    """How to boost."""

    learners: list[Any]  # the set; each round keeps the one that lowers the loss most
    learning_rate: float  # ρ
    step: str  # how α is found; "auto" is "leaf" for trees and "line" for others
    subsample: float  # share of the rows drawn for each round
    max_features: float  # share of the columns drawn for each round
    patience: int  # rounds without a lower validation loss before boosting stops
    seed: int  # of all draws

    def drawn(self, sample: WeightedRows) -> tuple[int, int]:
        """Return how many rows and columns are drawn for each round."""
        n_samples, n_features = sample.table.X.shape
        return max(1, int(self.subsample * n_samples)), max(1, int(self.max_features * n_features))


@dataclass(frozen=True)
class Stage:
    """One round: the learners that were added, one an output, and how much of them."""

    # one for each raw prediction of a row. The leaves of a tree hold their own steps.
    learners: tuple[Any, ...]
    columns: IntArray | None  # the columns they read; None for all
    step: float  # α
    member: int  # which learner of the set was the best

    def direction(self, table: LearnerInput) -> FloatArray:
        """Return h, shape (n_samples,) or (n_samples, n_outputs)."""
        part = table.columns(self.columns)
        columns = [ask(learner, part).astype(np.float64, copy=False) for learner in self.learners]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)


@dataclass(frozen=True)
class Additive:
    """A boosted model and what was measured while it was built."""

    constant: FloatArray  # F⁰
    stages: list[Stage]  # the rounds
    learning_rate: float  # ρ
    train_loss: FloatArray  # mean loss of the training rows after each round
    validation_loss: FloatArray | None  # mean loss of the rows set apart
    best_round: int  # rounds at its lowest point

    def first(self, rounds: int) -> Self:
        """Return the model of the first rounds; the validation curve stays whole."""
        return replace(self, stages=self.stages[:rounds], train_loss=self.train_loss[:rounds])

    def start(self, n_samples: int) -> FloatArray:
        """Return F⁰ for some rows."""
        return np.tile(self.constant, (n_samples,) + (1,) * self.constant.ndim).astype(float)

    def raw(self, table: LearnerInput) -> FloatArray:
        """Return F."""
        raw = self.start(len(table))
        for stage in self.stages:
            raw += (self.learning_rate * stage.step) * stage.direction(table)
        return raw

    def staged_raw(self, table: LearnerInput) -> Iterator[FloatArray]:
        """Yield F after each round."""
        raw = self.start(len(table))
        for stage in self.stages:
            raw = raw + (self.learning_rate * stage.step) * stage.direction(table)
            yield raw

    def importances(self, n_features: int) -> FloatArray:
        """Return how much each feature lowered the trees' squared error, summing to one."""
        total = np.zeros(n_features)
        for stage in self.stages:
            columns = np.arange(n_features) if stage.columns is None else stage.columns
            for tree in stage.learners:
                total[columns] += tree.tree_.compute_feature_importances(normalize=False)
        return total / (total.sum() or 1.0)

    @property
    def only_trees(self) -> bool:
        """Whether every learner is a scikit-learn tree."""
        learners = [learner for stage in self.stages for learner in stage.learners]
        return all(isinstance(learner, BaseDecisionTree) for learner in learners)


def boost_additive(
    pursuit: Pursuit,
    loss: Loss,
    sample: WeightedRows,
    watch: WeightedRows | None,
    rounds: int,
    report: Callable[[int], None],
) -> Additive:
    """Return the boosted model.

    Boosting ends early when the gradient vanishes, when no learner lowers the loss any more (if
    rows and columns are not drawn), and when the watched loss has stopped falling.
    """
    rng = np.random.default_rng(pursuit.seed)
    constant = np.asarray(loss.constant(sample.y, sample.weight), dtype=float)
    model = Additive(constant, [], pursuit.learning_rate, np.empty(0), None, 0)
    raw, patience = model.start(len(sample.y)), Patience(pursuit.patience)
    # One loss judges all rounds: under a threshold that shrinks with the residuals, losses fall
    # even while the predictions get worse.
    judge = loss.adapted(sample.y, raw, sample.weight)
    watched = model.start(0 if watch is None else len(watch))
    no_gradient = 4 * np.finfo(float).eps * np.abs(sample.y).max()
    train_loss, validation_loss = [], []
    for m in range(rounds):
        current = loss.adapted(sample.y, raw, sample.weight)
        if np.abs(current.gradient(sample.y, raw)).max() <= no_gradient:
            break
        stage, direction = _best_stage(pursuit, current, sample, raw, rng)
        if stage.step == 0 and pursuit.drawn(sample) == sample.table.X.shape:
            break
        raw += (pursuit.learning_rate * stage.step) * direction
        model.stages.append(stage)
        train_loss.append(total_loss(judge, sample.y, raw, sample.weight))
        report(m + 1)
        if watch is not None:
            watched += (pursuit.learning_rate * stage.step) * stage.direction(watch.table)
            validation_loss.append(total_loss(judge, watch.y, watched, watch.weight))
            if patience.exhausted(validation_loss[-1]):
                break
    apart = None if watch is None else np.array(validation_loss)
    model = replace(model, train_loss=np.array(train_loss), validation_loss=apart)
    return replace(model, best_round=patience.best_round)


def _best_stage(
    pursuit: Pursuit, loss: Loss, sample: WeightedRows, raw: FloatArray, rng: np.random.Generator
) -> tuple[Stage, FloatArray]:
    """Fit every learner of the set to the pseudo-residuals; return the best and its direction."""
    n_rows, n_columns = pursuit.drawn(sample)
    inside = np.ones(len(sample), dtype=bool)
    if n_rows < len(sample):
        inside[rng.permutation(len(sample))[n_rows:]] = False
    columns = draw_columns(sample.table.X.shape[1], n_columns, rng)
    counted = sample.weight * inside
    residuals = -loss.gradient(sample.y, raw)
    found = []
    for member, prototype in enumerate(pursuit.learners):
        learners = _fit_outputs(prototype, sample, residuals, inside, columns, rng)
        stage = Stage(learners, columns, 1.0, member)
        found.append(_with_step(pursuit.step, stage, loss, sample, raw, counted))

    def reached(tried: tuple[Stage, FloatArray]) -> float:
        stage, direction = tried
        return total_loss(loss, sample.y, raw + stage.step * direction, counted)

    return found[0] if len(found) == 1 else min(found, key=reached)


def gridded(residuals: FloatArray) -> FloatArray:
    """Return the residuals to nine digits of the largest, on a grid of a power of two.

    Their sums are then exact, so that splits of equal merit stay equal: a row of weight 2 grows
    the same tree as two rows of weight 1. The leaves get their values from the exact residuals.
    """
    exponent = 30 - int(np.frexp(np.abs(residuals).max())[1])
    return np.ldexp(np.rint(np.ldexp(residuals, exponent)), -exponent)


def _fit_outputs(
    prototype: Any,
    sample: WeightedRows,
    residuals: FloatArray,
    inside: Any,
    columns: IntArray | None,
    rng: np.random.Generator,
) -> tuple[Any, ...]:
    table, weight = sample.table.columns(columns), sample.weight if sample.given else None
    if not inside.all():
        rows = np.flatnonzero(inside)
        table, residuals = table.rows(rows), residuals[rows]
        weight = None if weight is None else weight[rows]
    if isinstance(prototype, BaseDecisionTree):
        residuals = gridded(residuals)
    outputs = residuals.reshape(len(residuals), -1).T

    def fitted(output: FloatArray) -> Any:
        learner = seeded(prototype, int(rng.integers(2**31 - 1)))
        return fit_learner(learner, table, np.ascontiguousarray(output), weight)

    return tuple(fitted(output) for output in outputs)


def _with_step(
    how: str, stage: Stage, loss: Loss, sample: WeightedRows, raw: FloatArray, weight: FloatArray
) -> tuple[Stage, FloatArray]:
    """Return the stage with its step found, and its direction on all rows."""
    trees = all(isinstance(learner, BaseDecisionTree) for learner in stage.learners)
    if how == "leaf" or (how == "auto" and trees):
        direction = _set_leaves(stage, loss, sample, raw, weight)
        if raw.ndim == 1 and stage.learners[0].monotonic_cst is None:
            step = float(direction.any())
        else:
            step = _backtracked(loss, sample.y, raw, direction, weight)
    else:
        direction = stage.direction(sample.table)
        step = 1.0 if how == "fixed" else line_step(loss, sample.y, raw, direction, weight)
    return replace(stage, step=step), direction


def _set_leaves(
    stage: Stage, loss: Loss, sample: WeightedRows, raw: FloatArray, weight: FloatArray
) -> FloatArray:
    """Write the best steps into the leaves of the trees; return what they then predict.

    Of K outputs each gets Friedman's (K−1)/K of the diagonal Newton step.
    """
    part = sample.table.columns(stage.columns)
    leaves = [ask(tree, part, "apply") for tree in stage.learners]
    sizes = [tree.tree_.node_count for tree in stage.learners]
    if raw.ndim == 1:
        steps = [leaf_steps(loss, sample.y, raw, weight, leaves[0], sizes[0])]
    else:
        gradient, hessian = loss.gradient(sample.y, raw), loss.hessian(sample.y, raw)
        assert hessian is not None
        share = (len(sizes) - 1) / len(sizes)
        steps = [
            share * newton_steps(gradient[:, k], hessian[:, k], weight, leaves[k], sizes[k])
            for k in range(len(sizes))
        ]
    for tree, values, leaf in zip(stage.learners, steps, leaves, strict=True):
        if tree.monotonic_cst is not None:
            mass = leaf_sums(weight, leaf, len(values))
            hold_monotone(tree.tree_, tree.monotonic_cst, values, mass)
        tree.tree_.value[:, 0, 0] = values
    columns = [values[leaf] for values, leaf in zip(steps, leaves, strict=True)]
    return columns[0] if raw.ndim == 1 else np.column_stack(columns)


def hold_monotone(tree: Any, signs: Any, values: FloatArray, mass: FloatArray) -> None:
    """Move the values of the leaves, in place, so far that the tree keeps its constraints.

    As scikit-learn grows such trees: at a split of a constrained column no value of one side
    passes the middle between both sides' means. ``mass``: The weight in each leaf.
    """
    values[tree.children_left >= 0] = 0.0
    total, mass = values * mass, mass.copy()
    for node in np.flatnonzero(tree.children_left >= 0)[::-1]:  # children follow their parents
        children = [tree.children_left[node], tree.children_right[node]]
        total[node], mass[node] = total[children].sum(), mass[children].sum()
        values[node] = total[node] / (mass[node] or 1.0)
    bounds = np.tile([-np.inf, np.inf], (len(values), 1))
    for node in range(len(values)):
        values[node] = np.clip(values[node], *bounds[node])
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            continue
        bounds[[left, right]] = bounds[node]
        sign = signs[tree.feature[node]]
        if sign:
            sides = np.clip(values[[left, right]], *bounds[node])
            lower, upper = (left, right) if sign > 0 else (right, left)
            bounds[lower, 1] = bounds[upper, 0] = sides.mean()


def _backtracked(
    loss: Loss, y: FloatArray, raw: FloatArray, direction: FloatArray, weight: FloatArray
) -> float:
    """Return 1, halved until the step does not raise the loss."""
    before, step = total_loss(loss, y, raw, weight), 1.0
    for _ in range(30):
        if total_loss(loss, y, raw + step * direction, weight) <= before:
            return step
        step /= 2
    return 0.0
