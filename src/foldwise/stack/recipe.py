"""From data and learners to deals: one whole stack a repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, TimeSeriesSplit
from sklearn.utils.validation import check_is_fitted

from foldwise.engine import Clock, RunOptions, RunSummary, open_run
from foldwise.errors import FoldsWarning, NoScoreWarning, invalid_parameter, warn
from foldwise.folds import EVERYTHING, Block, Lattice, Reading, Ref, deal, needs_of, read_lattice
from foldwise.learners import respond
from foldwise.scores.metric import Metric
from foldwise.stack.build import Deal, build_deal, build_readers
from foldwise.stack.entries import Entry
from foldwise.stack.features import compact
from foldwise.stack.fold_models import Recoded
from foldwise.stack.grow import Settings
from foldwise.stack.inputs import plain
from foldwise.stack.reader import Problem, Reader
from foldwise.stack.repeats import combining_seconds, grow_repeats
from foldwise.stack.stackers import Candidate
from foldwise.stack.table import Table
from foldwise.stack.tuning import check_tune

INNER_FOLDS = 5


@dataclass(frozen=True)
class Recipe:
    """How a stack is made; the fields are parameters of the estimators."""

    owner: str
    cv: Any
    predict_with: str
    hold_out: str
    tune: Any
    n_repeats: int
    on_error: str
    seed: int
    options: RunOptions = field(default_factory=RunOptions)
    clock: Clock = field(default_factory=Clock)


def build_deals(
    recipe: Recipe,
    problem: Problem,
    layers: list[list[Entry]],
    candidates: tuple[Candidate, ...],
    metric: Metric,
    before: Sequence[Deal] = (),
) -> tuple[list[Deal], RunSummary]:
    """Build one whole stack a repeat."""
    lattices = [old.lattice for old in before] or [
        _lattice(recipe, problem, repeat, len(layers)) for repeat in range(recipe.n_repeats)
    ]
    readings = [_reading(recipe, lattice, problem, len(layers)) for lattice in lattices]
    if recipe.tune is not None:
        check_tune(recipe.owner, recipe.tune, layers, lattices[0].kind, lattices[0].n_folds)
    _warn_of_limits(recipe.owner, problem, lattices, readings, len(layers))
    total = _n_fits(recipe, layers, lattices, readings, before)
    reserve = combining_seconds(problem, layers, lattices[0], recipe.options)
    with open_run(
        recipe.owner, recipe.options, total=total, reserve=reserve, clock=recipe.clock
    ) as run:
        growers = [
            partial(
                build_readers,
                problem=problem,
                lattice=lattice,
                reading=reading,
                metric=metric,
                settings=Settings(recipe.owner, recipe.seed, run, recipe.on_error, repeat),
                tune=recipe.tune,
            )
            for repeat, (lattice, reading) in enumerate(zip(lattices, readings, strict=True))
        ]
        run.stream.tell("started")
        fitted = grow_repeats(run, growers, layers, before)
        run.stream.tell("finished")
    deals = [
        build_deal(readers, lattice, reading, candidates, metric, recipe.seed)
        for readers, lattice, reading in zip(fitted, lattices, readings, strict=False)
    ]
    return deals, run.summary(sorted({n for rs in fitted for r in rs for n in r.table.failures}))


def _n_fits(
    recipe: Recipe,
    layers: list[list[Entry]],
    lattices: Sequence[Lattice],
    readings: Sequence[Reading],
    before: Sequence[Deal],
) -> int:
    """Return how many fits there will be, about: cells known before are not looked for."""
    total = 0
    for lattice, reading in zip(lattices, readings, strict=True):
        for entries, needs in zip(layers, needs_of(reading, lattice, len(layers)), strict=True):
            known = {e.name for old in before[:1] for r in old.readers for e in r.entries}
            new = [entry.name for entry in entries if entry.name not in known]
            for name in new:
                points = len(ParameterGrid(recipe.tune[name])) if name in (recipe.tune or {}) else 1
                total += len(needs.rows) + (points - 1) * sum(len(n) == 2 for n in needs.rows)
    return total


def _lattice(recipe: Recipe, problem: Problem, repeat: int, n_layers: int) -> Lattice:
    return deal(
        recipe.cv,
        problem.n_rows,
        classes=None if problem.labels is None else problem.data.y,
        groups=problem.data.groups,
        given=None if problem.given is None else (problem.data.X, *problem.given),
        seed=recipe.seed,
        repeat=repeat,
        n_layers=n_layers,
        owner=recipe.owner,
    )


def _reading(recipe: Recipe, lattice: Lattice, problem: Problem, n_layers: int) -> Reading:
    inner = _inner_lattice(recipe, lattice, problem) if lattice.kind == "single" else None
    return read_lattice(
        lattice,
        predict_with=recipe.predict_with,
        hold_out=recipe.hold_out,
        n_layers=n_layers,
        inner=inner,
        owner=recipe.owner,
    )


def _inner_lattice(recipe: Recipe, lattice: Lattice, problem: Problem) -> Lattice | None:
    """Deal the test rows of a single split, keeping its order and groups."""
    test, data = lattice.tests[0], problem.data
    if len(test) <= INNER_FOLDS:
        return None
    ordered = data.groups is None and lattice.trains[0][-1] < test[0]
    return deal(
        TimeSeriesSplit(INNER_FOLDS) if ordered else INNER_FOLDS,
        len(test),
        classes=None if problem.labels is None else np.unique(data.y[test], return_inverse=True)[1],
        groups=None if data.groups is None else data.groups[test],
        seed=recipe.seed,
        owner=recipe.owner,
    )


def _warn_of_limits(
    owner: str,
    problem: Problem,
    lattices: Sequence[Lattice],
    readings: Sequence[Reading],
    n_layers: int,
) -> None:
    """Say once what the folds cannot give."""
    if not readings[0].judgements:
        warn(
            f"{owner}: no honest score, it needs at least {n_layers + 2} folds that leave rows "
            f"to train on; got {lattices[0].n_folds}. Use cv=5.",
            NoScoreWarning,
        )
    missing = _missing_class(problem, lattices, readings, n_layers)
    if missing is not None:
        warn(
            f"{owner}: class {plain(missing)!r} is absent from the training rows of some folds; "
            "models fitted there give it a small probability. Use fewer folds or more rows of it.",
            FoldsWarning,
        )


def _missing_class(
    problem: Problem, lattices: Sequence[Lattice], readings: Sequence[Reading], n_layers: int
) -> Any:
    if problem.labels is None:
        return None
    for lattice, reading in zip(lattices, readings, strict=True):
        nodes = {node for needs in needs_of(reading, lattice, n_layers) for node in needs.rows}
        for node in nodes:
            y = problem.data.y[lattice.rows(node)]
            seen = np.bincount(y, minlength=len(problem.labels))
            if not seen.all():
                return problem.labels[int(seen.argmin())]
    return None


def prefit_deal(
    recipe: Recipe,
    problem: Problem,
    layers: list[list[Entry]],
    candidates: tuple[Candidate, ...],
    metric: Metric,
) -> Deal:
    """Put a stacker on learners that are fitted already."""
    if len(layers) > 1 or recipe.tune is not None:
        raise invalid_parameter(
            recipe.owner,
            "cv",
            must="not be 'prefit' with several layers or tune",
            got=recipe.cv,
            fix="Use cv=5.",
        )
    warn(
        f"{recipe.owner}: no honest score with cv='prefit', the learners may have seen these "
        "rows. Use cv=5 for a score.",
        NoScoreWarning,
    )
    table, rows = Table(), np.arange(problem.n_rows)
    for entry in layers[0]:
        check_is_fitted(entry.learner)
        model = Recoded.where_needed(entry.learner, problem.labels)
        values = respond(model, problem.data.X, entry.method, problem.data, problem.n_rows)
        cell = (entry.name, EVERYTHING, None)
        table.predictions[cell] = (rows, compact(values, entry.kind, problem.data.n_classes))
        table.models[cell] = model
    everywhere = (Ref(EVERYTHING),)
    reading = Reading((), (Block(rows, everywhere),), everywhere, predict_with="refit")
    lattice = Lattice(problem.n_rows, (), (), "single")
    reader = Reader(tuple(layers[0]), table, problem)
    return build_deal((reader,), lattice, reading, candidates, metric, recipe.seed)
