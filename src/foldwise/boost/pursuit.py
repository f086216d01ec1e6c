"""Gradient boosting by matching pursuit: each round keeps the best of a set of learners."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost.additive import Additive, Stage
from foldwise.boost.early_stopping import Patience
from foldwise.boost.learner import Table, fit_learner, seeded
from foldwise.losses.loss import Loss, total_loss
from foldwise.losses.steps import leaf_steps, line_step, newton_steps


@dataclass(frozen=True)
class Recipe:
    """How to boost."""

    learners: list[Any]  # the set; each round keeps the one that lowers the loss most
    learning_rate: float  # ρ
    step: str  # how α is found; "auto" is "leaf" for trees and "line" for others
    n_rows: int | None  # rows drawn for each round; None for all
    n_columns: int | None  # columns drawn for each round; None for all
    patience: int  # rounds without a lower validation loss before boosting stops
    seed: int  # of all draws


@dataclass(frozen=True)
class Sample:
    """Rows with targets; ``given`` says whether the weights are the user's."""

    table: Table
    y: FloatArray
    weight: FloatArray
    given: bool

    def rows(self, indices: IntArray) -> "Sample":
        """Return some of the rows."""
        return Sample(self.table.rows(indices), self.y[indices], self.weight[indices], self.given)


def boost_additive(
    recipe: Recipe,
    loss: Loss,
    sample: Sample,
    rounds: int,
    watch: Sample | None,
    report: Callable[[int], None],
) -> Additive:
    """Return the boosted model.

    Boosting ends early when the gradient vanishes, when no learner lowers the loss any more (if
    rows and columns are not drawn), and when the watched loss has stopped falling.
    """
    rng = np.random.default_rng(recipe.seed)
    constant = np.asarray(loss.constant(sample.y, sample.weight), dtype=float)
    model = Additive(loss, constant, [], recipe.learning_rate, np.empty(0), None, 0)
    raw, patience = model.start(len(sample.y)), Patience(recipe.patience)
    watched = None if watch is None else model.start(len(watch.y))
    no_gradient = 4 * np.finfo(float).eps * np.abs(sample.y).max()
    train_loss, validation_loss = [], []
    for m in range(rounds):
        current = loss.adapted(sample.y, raw, sample.weight)
        if np.abs(current.gradient(sample.y, raw)).max() <= no_gradient:
            break
        stage, direction = _best_stage(recipe, current, sample, raw, rng)
        if stage.step == 0 and recipe.n_rows is None and recipe.n_columns is None:
            break
        raw += (recipe.learning_rate * stage.step) * direction
        model.stages.append(stage)
        train_loss.append(total_loss(current, sample.y, raw, sample.weight))
        report(m + 1)
        if watch is not None and watched is not None:
            watched += (recipe.learning_rate * stage.step) * stage.direction(watch.table)
            validation_loss.append(total_loss(current, watch.y, watched, watch.weight))
            if patience.exhausted(validation_loss[-1]):
                break
    return replace(
        model,
        train_loss=np.array(train_loss),
        validation_loss=None if watch is None else np.array(validation_loss),
        best_round=patience.best_round,
    )


def _best_stage(
    recipe: Recipe, loss: Loss, sample: Sample, raw: FloatArray, rng: np.random.Generator
) -> tuple[Stage, FloatArray]:
    """Fit every learner of the set to the pseudo-residuals; return the best and its direction."""
    n_samples, n_features = sample.table.X.shape
    inside = np.ones(n_samples, dtype=bool)
    if recipe.n_rows is not None:
        inside = np.zeros(n_samples, dtype=bool)
        inside[rng.permutation(n_samples)[: recipe.n_rows]] = True
    columns = None
    if recipe.n_columns is not None:
        columns = np.sort(rng.permutation(n_features)[: recipe.n_columns])
    counted = sample.weight * inside
    residuals = -loss.gradient(sample.y, raw)
    best: tuple[float, Stage, FloatArray] | None = None
    for member, prototype in enumerate(recipe.learners):
        learners = _fit_outputs(prototype, sample, residuals, inside, columns, rng)
        stage = Stage(learners, columns, 1.0, member)
        stage, direction = _with_step(recipe.step, stage, loss, sample, raw, counted)
        reached = np.inf
        if len(recipe.learners) > 1:
            reached = total_loss(loss, sample.y, raw + stage.step * direction, counted)
        if best is None or reached < best[0]:
            best = reached, stage, direction
    assert best is not None
    return best[1], best[2]


def gridded(residuals: FloatArray) -> FloatArray:
    """Return the residuals to nine digits of the largest, on a grid of a power of two.

    Their sums are then exact, so that splits of equal merit stay equal: a row of weight 2 grows
    the same tree as two rows of weight 1. The leaves get their values from the exact residuals.

    Examples
    --------
    >>> import numpy as np
    >>> gridded(np.array([0.5, 1 / 3]))
    array([0.5       , 0.33333333])
    """
    exponent = 30 - int(np.frexp(np.abs(residuals).max())[1])
    return np.ldexp(np.rint(np.ldexp(residuals, exponent)), -exponent)


def _fit_outputs(
    prototype: Any,
    sample: Sample,
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
    return tuple(
        fit_learner(
            seeded(prototype, int(rng.integers(2**31 - 1))),
            table,
            np.ascontiguousarray(output),
            weight,
        )
        for output in outputs
    )


def _with_step(
    how: str, stage: Stage, loss: Loss, sample: Sample, raw: FloatArray, weight: FloatArray
) -> tuple[Stage, FloatArray]:
    """Return the stage with its step found, and its direction on all rows."""
    trees = all(isinstance(learner, BaseDecisionTree) for learner in stage.learners)
    if how == "leaf" or (how == "auto" and trees):
        direction = _set_leaves(stage, loss, sample, raw, weight)
        if raw.ndim == 1:
            moves = bool(direction.any())
            return replace(stage, step=float(moves)), direction
        return replace(stage, step=_backtracked(loss, sample.y, raw, direction, weight)), direction
    direction = stage.direction(sample.table)
    if how == "fixed":
        return stage, direction
    return replace(stage, step=line_step(loss, sample.y, raw, direction, weight)), direction


def _set_leaves(
    stage: Stage, loss: Loss, sample: Sample, raw: FloatArray, weight: FloatArray
) -> FloatArray:
    """Write the best steps into the leaves of the trees; return what they then predict.

    Of K outputs each gets Friedman's (K−1)/K of the diagonal Newton step.
    """
    part = sample.table.columns(stage.columns)
    extra = {"check_input": False} if part.trusted else {}
    leaves = [tree.apply(part.X, **extra) for tree in stage.learners]
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
    for tree, values in zip(stage.learners, steps, strict=True):
        tree.tree_.value[:, 0, 0] = values
    columns = [values[leaf] for values, leaf in zip(steps, leaves, strict=True)]
    return columns[0] if raw.ndim == 1 else np.column_stack(columns)


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
