"""Growing one stack a repeat, as far as time goes."""

from collections.abc import Callable, Sequence
from copy import copy

from foldwise.engine import Run, RunOptions
from foldwise.errors import AllLearnersFailedError, warn
from foldwise.folds import EVERYTHING, Lattice
from foldwise.stack.build import Deal
from foldwise.stack.entries import Entry
from foldwise.stack.reader import Problem, Reader
from foldwise.stack.table import Table

Grower = Callable[..., tuple[Reader, ...]]


def grow_repeats(
    run: Run, growers: Sequence[Grower], layers: list[list[Entry]], before: Sequence[Deal]
) -> list[tuple[Reader, ...]]:
    """Fit the learners of every repeat; those that time does not suffice for are left out."""
    fitted: list[tuple[Reader, ...]] = []
    combining = run.clock.reserve
    for repeat, grow in enumerate(growers):
        run.clock.reserve = combining * (repeat + 1)
        known = _known(before[repeat] if before else None, fitted[:1])
        dropped = dict(run.dropped)
        if repeat and not _has_time(run, repeat):
            break
        try:
            readers = grow(_left(layers, fitted), known=known)
        except (AllLearnersFailedError, KeyboardInterrupt):
            if not repeat or run.dropped == dropped:
                raise
            readers = ()
        if repeat and run.dropped != dropped:
            # What is complete in the repeats before stays; this one was not finished.
            run.dropped = dropped
            break
        fitted.append(readers)
    _say_what_is_missing(run, layers, len(fitted), len(growers))
    return _without_failures(growers, layers, fitted)


def _has_time(run: Run, repeat: int) -> bool:
    """Tell whether one more repeat should fit into the budget."""
    return not run.interrupted and run.clock.spent / repeat < run.clock.left()


def _say_what_is_missing(
    run: Run, layers: list[list[Entry]], n_repeats: int, n_wanted: int
) -> None:
    missing = [repr(e.name) for layer in layers for e in layer if e.name in run.dropped]
    if n_repeats < n_wanted:
        missing.append(f"{n_wanted - n_repeats} of {n_wanted} repeats")
    if not missing:
        return
    run.reason = "interrupted" if run.interrupted else "time budget"
    told = "was interrupted" if run.interrupted else f"ended by time_budget={run.clock.budget:g}"
    if len(missing) > 10:
        missing = [*missing[:10], f"{len(missing) - 10} more"]
    warn(
        f"{run.stream.owner}: the fit {told} and the stack is partial, without "
        f"{', '.join(missing)}. Fit again with more time; with run_dir= nothing finished is "
        "fitted twice."
    )


def _left(layers: list[list[Entry]], fitted: Sequence[tuple[Reader, ...]]) -> list[list[Entry]]:
    """Return the learners that have not failed."""
    failed = {name for readers in fitted for r in readers for name in r.table.failures}
    return [[entry for entry in layer if entry.name not in failed] for layer in layers]


def _without_failures(
    growers: Sequence[Callable[..., tuple[Reader, ...]]],
    layers: list[list[Entry]],
    fitted: Sequence[tuple[Reader, ...]],
) -> list[tuple[Reader, ...]]:
    """Leave a learner that failed in a later repeat out of the earlier ones too."""
    left = _left(layers, fitted)
    names = {entry.name for layer in left for entry in layer}
    return [
        readers
        if all(entry.name in names for reader in readers for entry in reader.entries)
        else grow(left, known=[readers[0].table])
        for grow, readers in zip(growers, fitted, strict=False)
    ]


def _known(before: Deal | None, first: Sequence[tuple[Reader, ...]]) -> list[Table]:
    """Return what need not be fitted again: an earlier deal's cells, and models of all rows."""
    tables = [Table()] if before is None else [copy(reader.table) for reader in before.readers]
    if first:
        everything = first[0][0].table.models
        shared = {cell: m for cell, m in everything.items() if cell[1:] == (EVERYTHING, None)}
        tables[0].models = {**shared, **tables[0].models}
    return tables


def combining_seconds(
    problem: Problem, layers: list[list[Entry]], lattice: Lattice, options: RunOptions
) -> float:
    """Return the time that choosing and judging the stacker is given out of a time budget.

    Twice what the bake-off of all named stackers was measured to take in proportion to rows,
    columns and folds squared, but at least a fiftieth and at most a third of the budget. A
    final estimator of the user's may need more.
    """
    if options.time_budget is None:
        return 0.0
    n_classes = problem.data.n_classes
    rate = 1e-6 if n_classes is None else 1e-5 if n_classes == 2 else 3e-5 * n_classes
    work = problem.n_rows * len(layers[-1]) * (lattice.n_folds / 5) ** 2
    seconds = 0.2 + 2.0 * rate * work
    return min(max(seconds, options.time_budget / 50), options.time_budget / 3)
