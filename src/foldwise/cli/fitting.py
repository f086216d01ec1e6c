"""``fit``, ``resume`` and ``demo``: from a table to a judged model."""

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from foldwise.cli import options
from foldwise.cli.failures import Failure, check_place
from foldwise.cli.model_folder import (
    MODEL,
    REPORT,
    RUN,
    Request,
    begun,
    check_out,
    check_same_table,
    finish,
    pending_in,
    table_facts,
)
from foldwise.cli.options import FILE, told_in_words
from foldwise.cli.screen import note, number, print_frame, print_json, say
from foldwise.wording import who_may_be_best

SHOWN = 15
FEWEST_ROWS = 10
# What is known of who may be best.
STANDINGS = ("model", "may_be_best", "p_stack_better")
COLUMNS = ("target", "task", "groups", "weight", "drop")
PARAMETERS = (
    "preset", "time_budget", "metric", "time_column", "n_jobs", "random_state", "executor",
)  # fmt: skip


# Of a time budget, for the model file and the report: at least, a share, at most, most of all.
LEAST_AFTER, SHARE_AFTER, MOST_AFTER, MOST_SHARE_AFTER = 1.0, 0.1, 30.0, 1 / 3
# A fit that took more of its time than this has used it.
USED_UP = 0.9


@dataclass(frozen=True)
class Read:
    """The rows of a table, what the table is known by, and how long start-up and reading took."""

    problem: Any
    facts: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Fitted:
    """A fitted model, what it was fitted on, what was written, and how long all that took."""

    model: Any
    read: Read
    written: list[str]
    seconds: float


@click.command()
@click.argument("table", type=click.Path())
@options.target
@click.option("--out", type=click.Path(), metavar="DIR",
              help="Keep the model, its report and its run here.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace a model, or another fit, in DIR.")
@click.option("--time", "time_budget", type=options.POSITIVE, metavar="SECONDS",
              help="Time for the fit, the model file and the report together.")  # fmt: skip
@click.option("--preset", type=click.Choice(["fast", "balanced", "best"]), default="balanced",
              show_default=True, help="How much work to put in.")  # fmt: skip
@click.option("--metric", help="What to be good at: rmse, mae, r2, log_loss, auc, accuracy, ...")
@options.task
@click.option("--groups", metavar="COL", help="Rows that share a value stay in one fold.")
@click.option("--time-column", metavar="COL", help="Judge by predicting later rows from earlier.")
@click.option("--weight", metavar="COL", help="How much each row counts.")
@click.option("--drop", multiple=True, metavar="COL", help="A column not to use; may be repeated.")
@options.kind
@options.seed
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, metavar="N",
              envvar="FOLDWISE_JOBS", help="Fits at a time; -1 for one a processor.")  # fmt: skip
@click.option(
    "--cluster", "executor", metavar="ADDRESS", help="A Dask scheduler to run the fits on."
)
@options.json
@told_in_words
def fit(as_json: bool, force: bool, **said: Any) -> None:
    """Fit a model to TABLE and show how good it is.

    TABLE is a CSV or Parquet file with names in its first line.

    \b
    $ foldwise fit houses.csv --target price
    $ foldwise fit houses.csv --target price --out model --time 600
    $ foldwise fit visits.csv --target ill --groups patient --kind ward=category

    An interrupted or killed run with --out is continued by foldwise resume. What is in DIR stays
    as it is until the new model is complete.
    """
    request = Request(**said)
    fit_request(request, as_json=as_json, same=check_out(request, force=force))


@click.command()
@click.argument("folder", type=FILE, metavar="DIR")
@options.json
@told_in_words
def resume(folder: Path, as_json: bool) -> None:
    """Continue a fit that was given --out DIR.

    Nothing that was finished is fitted again. The table must be as it was.

    \b
    $ foldwise resume model
    """
    fit_request(replace(pending_in(folder)[0], out=str(folder)), as_json=as_json, same=True)


def fit_request(request: Request, *, as_json: bool, same: bool) -> None:
    """Fit a model as asked, to the ``same`` table if one was begun; show it and keep it."""
    read = read_problem(request, quiet=as_json)
    folder = None if request.out is None else Path(request.out)
    if folder is not None and same:
        check_same_table(folder, pending_in(folder)[1], read.facts)
    if folder is None:
        start = time.perf_counter()
        model = fit_model(request, read, None, after=False, quiet=as_json)
        fitted = Fitted(model, read, [], time.perf_counter() - start)
    else:
        with begun(request, read.facts, folder, continued=same):
            fitted = fit_and_keep(request, read, folder, quiet=as_json)
    if as_json:
        print_json(outcome(fitted, request))
        return
    show(fitted)
    if folder is None:
        note("Nothing was written. Give --out DIR to keep the model and its report.")
        return
    for path in fitted.written:
        say(f"Written: {path}")
    say_what_next(folder, fitted)


def say_what_next(folder: Path, fitted: Fitted) -> None:
    """Say what can be done with a model that was kept."""
    if getattr(fitted.model, "partial_", False):
        note(f"To fit what is missing: foldwise resume {folder}")
    report = folder / REPORT
    note(f"Next: open {report} in a browser, or type" if report.exists() else "Next, type")
    note(f"  foldwise predict {folder} NEW_ROWS.csv -o predictions.csv")
    note(f"  foldwise explain {folder} NEW_ROWS.csv --row 1")


def read_problem(request: Request, *, quiet: bool) -> Read:
    """Import what is needed and read the table."""
    start = time.perf_counter()
    tell = (lambda _: None) if quiet else note
    tell(f"Reading {request.table} ...")
    # What takes long to import counts as start-up, not as fitting.
    import foldwise.files
    import foldwise.report  # noqa: F401
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem

    asked = {name: getattr(request, name) for name in COLUMNS}
    asked["kinds"] = options.kinds_of(request.kinds)
    frame = read_table(request.table)
    problem = table_problem(frame, **asked, fewest_rows=FEWEST_ROWS)
    for text in (*problem.notes, describe_columns(problem)):
        tell(text)
    return Read(problem, table_facts(frame, request.table), time.perf_counter() - start)


def fit_and_keep(request: Request, read: Read, folder: Path, *, quiet: bool) -> Fitted:
    """Fit a model and write it and its report, all in the time that was asked for."""
    from foldwise.engine import Clock
    from foldwise.files import save

    clock = Clock(request.time_budget)
    try:
        model = fit_model(request, read, folder / RUN, after=True, quiet=quiet)
        save(model, folder / RUN / MODEL)
    except KeyboardInterrupt:
        remedy = f"Continue with: foldwise resume {folder}"
        raise Failure(f"Interrupted before there was a model. {remedy}") from None
    try:
        report_in_time(model, folder / RUN / REPORT, request.title, clock)
    except BaseException:
        (written,) = finish(folder)
        note(f"Written: {written}, without a report. To have one: foldwise report {folder}")
        raise
    return Fitted(model, read, finish(folder), clock.spent)


def fit_model(
    request: Request, read: Read, run_dir: Path | None, *, after: bool, quiet: bool
) -> Any:
    """Fit in the time asked for, less what is kept for what comes ``after``."""
    from foldwise.auto import AutoStackClassifier, AutoStackRegressor
    from foldwise.auto.base import fit_problem

    asked = {name: getattr(request, name) for name in PARAMETERS}
    if after and request.time_budget is not None:
        asked["time_budget"] -= seconds_after(request.time_budget)
    asked["kinds"] = options.kinds_of(request.kinds) or None
    asked["run_dir"] = None if run_dir is None else str(run_dir)
    kind = AutoStackRegressor if read.problem.task == "regression" else AutoStackClassifier
    return fit_problem(kind(**asked, verbose=0 if quiet else 1, on_interrupt="keep"), read.problem)


def seconds_after(budget: float) -> float:
    """Return the seconds of a budget that are kept for the model file and the report."""
    return min(LEAST_AFTER + SHARE_AFTER * budget, MOST_SHARE_AFTER * budget, MOST_AFTER)


def report_in_time(model: Any, path: Path, title: str, clock: Any) -> None:
    """Write the report in what is left of the time, if there is an end to it."""
    from foldwise.report import write_report

    left = None if clock.budget is None else max(clock.left(), 0.0)
    write_report(model, path, title=title, time_budget=left)


def describe_columns(problem: Any) -> str:
    """Return one line on the rows and columns."""
    counts = Counter(column.kind for column in problem.kinds)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    dropped = problem.kinds.dropped
    names = ", ".join(dropped[:5]) + (f" and {len(dropped) - 5} more" if len(dropped) > 5 else "")
    said = f" Not used: {names}." if dropped else ""
    return f"{len(problem.X):,} rows, {problem.X.shape[1]:,} columns: {found}.{said}"


def outcome(fitted: Fitted, request: Request) -> dict[str, Any]:
    """Return what is known after a fit, for machines."""
    model, problem = fitted.model, fitted.read.problem
    board = model.leaderboard_
    return {
        "target": request.target,
        "task": problem.task,
        "n_rows": len(problem.X),
        "columns": model.kinds_.to_frame().to_dict("records"),
        "metric": board.columns[1],
        "score": honest_value(board),
        "score_se": model.score_se_,
        "score_interval": natural_interval(model),
        "score_note": model.score_note_,
        "p_stack_better": model.p_stack_better_,
        "partial": bool(getattr(model, "partial_", False)),
        "leaderboard": board.to_dict("records"),
        "failures": [str(failure) for failure in model.failures_],
        "notes": list(problem.notes),
        "start_seconds": fitted.read.seconds,
        "seconds": fitted.seconds,
        "written": fitted.written,
    }


def honest_value(board: Any) -> float:
    """Return the stack's own value in the metric's natural sign."""
    stack = board.loc[board["model"] == "stack", board.columns[1]]
    return float(stack.iloc[0])


def natural_interval(model: Any) -> list[float]:
    """Return the ends of the 95 % interval in the metric's natural sign."""
    sign = -1.0 if math.isclose(model.score_, -honest_value(model.leaderboard_)) else 1.0
    return sorted(sign * end for end in model.score_interval_)


def score_line(model: Any) -> str:
    """Return the honest score of a model in words."""
    board = model.leaderboard_
    metric, value = str(board.columns[1]).replace("_", " "), honest_value(board)
    better = "lower" if math.isclose(model.score_, -value) else "higher"
    spread, ends = number(float(model.score_se_), 2), map(number, natural_interval(model))
    said = f"{number(value)} ± {spread} (95 % interval {' to '.join(ends)})"
    return f"Honest score: {metric} {said}, {better} is better"


def standings_line(model: Any) -> str:
    """Return in words which models may be best."""
    board = model.leaderboard_.dropna(subset=["se"])
    return who_may_be_best(*(list(board[name]) for name in STANDINGS))


def show(fitted: Fitted) -> None:
    """Print how good the model is."""
    model = fitted.model
    if getattr(model, "partial_", False):
        note("The run was cut short: this is the best stack of what was finished.")
    say()
    say(score_line(model))
    say("(± is one standard error; no model, choice or weight that predicts a row has seen it)")
    if model.score_note_:
        say(f"Heavy tails: {model.score_note_}")
    say(standings_line(model))
    say()
    print_frame(board_to_show(model.leaderboard_))
    say()
    say(f"Took {fitted.seconds:.0f} s, after {fitted.read.seconds:.0f} s to start and read.")
    if unused := why_time_was_left(fitted):
        say(unused)


def why_time_was_left(fitted: Fitted) -> str:
    """Return why a fit did not take the time it was given, or nothing."""
    from foldwise.stack.parameters import MOST_REPEATS

    model = fitted.model
    budget = getattr(model, "time_budget", None)
    if budget is None or model.partial_ or fitted.seconds > USED_UP * budget:
        return ""
    done = len(model.stack_.deals_)
    why = "another deal of the rows would not have been finished"
    if model.time_column is not None:
        why = "rows in time are dealt only once"
    elif model.stack_.deals_[0].lattice.kind == "single":
        why = "a single split is not repeated"
    elif done >= MOST_REPEATS:
        why = f"more than {done} deals of the rows would only slow predictions down"
    return f"The rest of {budget:.0f} s was left, since every learner is fitted and {why}."


def board_to_show(board: Any) -> Any:
    """Return the columns of a leaderboard that fit a screen."""
    metric = str(board.columns[1])
    wanted = ["model", metric, "se", "difference", "difference_se", "weight", "fit_seconds"]
    shown = board[[name for name in wanted if name in board.columns]].head(SHOWN)
    return shown.rename(columns=lambda name: name.replace("_", " "))


@click.command()
@click.option("-o", "--out", type=FILE, default=Path("foldwise-demo.html"), show_default=True,
              help="Where the report is written.")  # fmt: skip
@click.option("--time", "time_budget", type=options.POSITIVE, metavar="SECONDS",
              help="Time budget, for slow machines.")  # fmt: skip
@options.json
@told_in_words
def demo(out: Path, time_budget: float | None, as_json: bool) -> None:
    """Fit an embedded table and write a report, in a minute.

    \b
    $ foldwise demo
    $ foldwise demo -o report.html --time 30
    """
    check_place(out, "-o")
    from foldwise.engine import Clock

    with as_file(files("foldwise.cli") / "data" / "flats.csv") as table:
        request = Request(str(table), "rent", preset="fast", time_budget=time_budget)
        if not as_json:
            note(
                "800 flats that do not exist: what should each cost a month? Their rents were "
                "made\nof a part that lines see best and a part that trees see best, so a mix "
                "should win."
            )
        read = read_problem(request, quiet=as_json)
        clock = Clock(time_budget)
        model = fit_model(request, read, None, after=True, quiet=as_json)
        report_in_time(model, out, "Rents of flats (a demonstration)", clock)
    fitted = Fitted(model, read, [str(out)], clock.spent)
    if as_json:
        print_json(outcome(fitted, request))
        return
    show(fitted)
    say(f"Written: {out}. Open it in a browser.")
    note("Next, with a table of your own: foldwise fit TABLE.csv --target COLUMN --out model")
