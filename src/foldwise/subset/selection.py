"""The best subset by a criterion, or by cross-validation, and the tables that show it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.errors import Plain, invalid_data
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Sample, Score, criterion
from foldwise.subset.moments import Moments
from foldwise.subset.search import (
    Run,
    all_subsets,
    best_of_each_size,
    best_within,
    describe,
    sweep,
)
from foldwise.subset.sinks import TIE, BestBySize, Everything, Several, members

CRITERIA = ["aic", "aicc", "bic", "cp", "adjusted_r2"]


@dataclass(frozen=True)
class Task:
    """What is to be chosen from, and how thoroughly."""

    choice: Choice  # units and forced columns
    max_size: int  # most columns, forced ones not counted
    empty_model: bool = True  # whether the subset without any unit may win
    each_size: bool = True  # whether the best of every size is wanted
    keep_all: bool = False  # whether all subsets are wanted


@dataclass(frozen=True)
class Selected:
    """The chosen subset and its rivals."""

    kept: BoolArray  # the chosen units
    score: float  # its criterion
    rivals: BoolArray  # (n_rivals, n_units): the best subset of each size, or the chosen one alone
    rivals_table: pd.DataFrame  # their criteria
    every: tuple[BoolArray, pd.DataFrame] | None  # all subsets and their errors
    complete: bool  # whether the search was finished


def by_criterion(name: str, moments: Moments, task: Task, run: Run) -> Selected:
    """Return the best subset by an information criterion, Cp or adjusted R²."""
    choice = task.choice
    sample = describe(moments, choice)
    if name == "cp" and not sample.noise > 0:
        raise invalid_data(
            run.owner,
            "X",
            must="leave rows and noise to spare with all columns for criterion 'cp'",
            got=Plain(f"{moments.n_columns} columns and {sample.n_rows:g} rows"),
            fix="Use criterion='bic'.",
        )
    score = _without_empty(criterion(name, sample), task)
    every = all_subsets(moments, choice, task.max_size, run) if task.keep_all else None
    if task.each_size:
        found = best_of_each_size(moments, choice, task.max_size, run)
    else:
        found = best_within(moments, choice, task.max_size, score, run)
    sizes = _sizes(found.kept, choice)
    scores = score(found.rss, sizes)
    best = _first_lowest(scores)
    table = criteria_table(found.rss, sizes, sample)
    listed = np.isfinite(scores) | task.empty_model
    return Selected(
        found.kept[best],
        float(table[name][best]),
        found.kept[listed],
        table[listed],
        None if every is None else (every.kept, pd.DataFrame({"rss": every.rss})),
        found.complete,
    )


def by_cross_validation(train: Moments, test: Moments, task: Task, run: Run) -> Selected:
    """Return the best subset by the squared error over held-out rows."""
    choice, weight = task.choice, float(test.gram[:, 0, 0].sum())
    best_by_size, everything = BestBySize(task.max_size), Everything()
    sink = Several(best_by_size, everything) if task.keep_all else best_by_size
    complete = sweep(train.gram, test.gram, choice, task.max_size, sink, run)
    sizes = np.flatnonzero((best_by_size.ids > 0) | (best_by_size.ids == 0) & task.empty_model)
    if not len(sizes):
        raise KeyboardInterrupt
    kept = members(best_by_size.ids[sizes], len(choice.units))
    errors = (
        np.array([best_by_size.fold_errors[int(size)] for size in sizes]) * train.scale[-1] ** 2
    )
    table = pd.DataFrame({"size": _sizes(kept, choice), "mse": errors.sum(axis=1) / weight})
    means = errors / np.maximum(test.gram[:, 0, 0], 1e-300)
    table["mse_se"] = means.std(axis=1, ddof=1) / np.sqrt(means.shape[1])
    best = _first_lowest(table["mse"].to_numpy())
    every = None
    if task.keep_all:
        subsets, totals = everything.table(len(choice.units))
        mse = np.maximum(totals, 0.0) * train.scale[-1] ** 2 / weight
        every = subsets, pd.DataFrame({"mse": mse})
    return Selected(kept[best], float(table["mse"][best]), kept, table, every, complete)


def criteria_table(rss: FloatArray, sizes: IntArray, sample: Sample) -> pd.DataFrame:
    """Return the criteria of some models; Cp only where the full model has rows to spare."""
    table = pd.DataFrame({"size": sizes, "rss": rss, "r2": 1 - rss / (sample.total or 1.0)})
    for name in CRITERIA:
        table[name] = criterion(name, sample)(rss, sizes)
    table["adjusted_r2"] *= -1
    return table


def named_table(selected: Selected, choice: Choice, names: Array) -> pd.DataFrame:
    """Return the table of rivals with the names of their columns."""
    table = selected.rivals_table.reset_index(drop=True)
    inside = choice.support(selected.rivals, len(names))
    table.insert(1, "columns", [tuple(names[row].tolist()) for row in inside])
    return table


def whole_table(selected: Selected, choice: Choice, names: Array) -> pd.DataFrame:
    """Return the table of all subsets, one boolean column a feature."""
    assert selected.every is not None
    kept, errors = selected.every
    inside = choice.support(kept, len(names))
    table = pd.DataFrame(inside, columns=names)
    return table.assign(size=inside.sum(axis=1), **errors)


def _without_empty(score: Score, task: Task) -> Score:
    smallest = task.choice.n_always + (not task.empty_model)

    def checked(rss: FloatArray, size: IntArray) -> FloatArray:
        return np.where(np.asarray(size) >= smallest, score(rss, size), np.inf)

    return checked


def _sizes(kept: BoolArray, choice: Choice) -> IntArray:
    sizes: IntArray = kept @ np.array(choice.widths, dtype=np.intp) + choice.n_always
    return sizes


def _first_lowest(scores: FloatArray) -> int:
    """Return the first of the lowest scores, rounding aside."""
    lowest = np.nanmin(scores)
    return int(np.flatnonzero(scores <= lowest + TIE * max(1e-300, abs(lowest)))[0])
