"""How sure a fitted stack is of new rows: intervals and sets, in every level of a column."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise._sklearn import take
from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import check_lengths
from foldwise.errors import Plain, did_you_mean, invalid_parameter, listing, warn
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.intervals import (
    cv_plus_interval,
    cv_plus_set,
    quantile_interval,
    quantile_set,
    votes,
)
from foldwise.stack.judge.judge import JudgedFold, Verdict
from foldwise.stack.table.read import Features


@dataclass(frozen=True)
class RowLevels:
    """Which rows are to be held as often as promised among themselves."""

    trained: IntArray  # the level of each training row
    new: IntArray  # the level of each new row
    names: Array


def levels_of(
    owner: str, by: Any, rows: Any, X: Any, kept: BoolArray | None, n_rows: int
) -> RowLevels:
    """Return the levels that `by` gives to training rows and to new ones."""
    both = "Give (labels of the rows of fit, labels of the rows of X)."
    if isinstance(by, tuple) and len(by) == 2:
        trained, new = (np.asarray(labels) for labels in by)
        if kept is not None and len(trained) == len(kept):
            trained = trained[kept]
        if len(trained) != n_rows:
            must, got = f"label the {n_rows} training rows first", Plain(f"{len(trained)} labels")
            raise invalid_parameter(owner, "by", must=must, got=got, fix=both)
        check_lengths(owner, X.shape[0], by=new)
    elif rows is None:
        must = "be labels where training rows are not known any more, as after pickling"
        raise invalid_parameter(owner, "by", must=must, got=by, fix=both)
    else:
        trained, new = _column(owner, by, rows), _column(owner, by, X)
    every = np.concatenate([trained.astype(object), new.astype(object)])
    codes, names = pd.factorize(every, use_na_sentinel=False)
    return RowLevels(codes[: len(trained)], codes[len(trained) :], np.asarray(names))


def _column(owner: str, by: Any, X: Any) -> Array:
    try:
        column = take(X, [by], axis=1)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        known = [str(c) for c in X.columns] if hasattr(X, "columns") else []
        fix = did_you_mean(by, known) if known else f"X has columns 0 to {X.shape[1] - 1}."
        must = "be a column of X or two arrays of labels"
        raise invalid_parameter(owner, "by", must=must, got=by, fix=fix) from error
    return np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]


def rows_needed(coverage: float) -> int:
    """Return how many rows (or groups) intervals of that coverage need to have ends."""
    return int(np.ceil(coverage / (1 - coverage) - 1e-9))


@dataclass(frozen=True)
class Part:
    """New rows of one level, and the judged rows that speak for them, fold by fold."""

    new: IntArray  # which of the new rows
    held: list[BoolArray]  # which rows of each judged fold
    weights: list[FloatArray] | None  # for how many rows each of these stands

    def of(self, each: Sequence[FloatArray]) -> list[FloatArray]:
        """Return what is known of judged rows, those of this level only."""
        return [own[held] for own, held in zip(each, self.held, strict=True)]

    def enough(self, coverage: float) -> bool:
        """Tell whether so many rows (or groups) speak that something can be ruled out."""
        n = sum(own.sum() for own in (self.held if self.weights is None else self.weights))
        return bool(n > rows_needed(coverage) - 1e-6)


def parts_of(
    owner: str, stacks: Sequence[FittedStack], by: Any, rows: Any, X: Any, coverage: float
) -> list[list[Part]]:
    """Return the new rows by level, and the judged rows that speak for each, in each repeat.

    ``by``: None, so that all new rows are one part, or what gives levels to the rows of the fit
    and to those of ``X``.
    """
    problem = stacks[0].problem
    if by is None:
        trained, new = np.zeros(problem.n_rows, np.intp), np.zeros(X.shape[0], np.intp)
        levels = RowLevels(trained, new, np.empty(1))
    else:
        levels = levels_of(owner, by, rows, X, problem.kept, problem.n_rows)
    parts = [list(_parts(stack, coverage, levels)) for stack in stacks]
    short = [levels.names[levels.new[p.new[0]]] for p in parts[0] if not p.enough(coverage)]
    if short and by is not None:
        warn(
            f"{owner}: by must leave {rows_needed(coverage)} training rows (or groups) in each "
            f"level for a coverage of {coverage:g}; got fewer in {listing(short)}, where nothing "
            "is ruled out. Join levels."
        )
    return parts


def _parts(stack: FittedStack, coverage: float, levels: RowLevels) -> Iterator[Part]:
    tests = [judgement.test.rows for judgement in stack.reading.judgements]
    groups = None if too_few_groups(stack, coverage) else stack.problem.data.groups
    weights = [fold.weights for fold in stack.verdict.folds if fold.weights is not None]
    for level in np.unique(levels.new):
        held = [levels.trained[rows] == level for rows in tests]
        part = Part(np.flatnonzero(levels.new == level), held, None)
        own = None if groups is None else part.of([groups[rows] for rows in tests])
        yield Part(part.new, held, votes(part.of(weights) if weights else None, own))


def too_few_groups(stack: FittedStack, coverage: float) -> bool:
    """Tell whether there are no groups, or not enough to count them instead of rows."""
    groups = stack.problem.data.groups
    return groups is None or len(np.unique(groups[stack.verdict.rows])) < rows_needed(coverage)


def interval_of(
    stack: FittedStack, X: Any, coverage: float, parts: Sequence[Part], *, adaptive: bool
) -> FloatArray:
    """Return the ends of intervals, of shape (2, n_samples)."""
    verdict, in_order = stack.verdict, stack.reading.in_order
    residuals = [fold.relative if adaptive else fold.misfits for fold in verdict.folds]
    asked: Iterable[tuple[Verdict | JudgedFold, Features]] = stack.hold_outs(X)
    if in_order:
        asked = [(verdict, stack.fresh(X, stack.reading.deployed, verdict))]
    centres, scales = np.empty((2, 1 if in_order else len(verdict.folds), X.shape[0]))
    for i, (judged, features) in enumerate(asked):
        centres[i] = judged.respond(features).values[:, 0]
        scale = judged.scale if adaptive else None
        scales[i] = 1.0 if scale is None else scale.of(features)
    ends = np.empty((2, centres.shape[1]))
    for part in parts:
        own, at = part.of(residuals), part.new
        if in_order:
            both = quantile_interval(centres[0, at], own, coverage, part.weights, scales[0, at])
        else:
            both = cv_plus_interval(centres[:, at], own, coverage, part.weights, scales[:, at])
        ends[:, at] = both
    return ends


def set_of(
    stack: FittedStack, X: Any, coverage: float, parts: Sequence[Part], given: FloatArray
) -> BoolArray:
    """Return which classes are in the sets; ``given``: the deployed probabilities."""
    misfits = [fold.misfits for fold in stack.verdict.folds]
    each = np.empty((0, *given.shape))
    if not stack.reading.in_order:
        answers = [fold.respond(features) for fold, features in stack.hold_outs(X)]
        each = np.array([answer.probabilities(given.shape[1]) for answer in answers])
    inside = np.empty(given.shape, dtype=bool)
    for part in parts:
        own, at = part.of(misfits), part.new
        if stack.reading.in_order:
            inside[at] = quantile_set(given[at], own, coverage, part.weights)
        else:
            inside[at] = cv_plus_set(each[:, at], own, coverage, part.weights)
    return inside
