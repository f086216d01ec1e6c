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
from foldwise.cli.model_folder import MODEL, REPORT, RUN, Request, begin, request_in
from foldwise.cli.options import FILE, told_in_words
from foldwise.cli.screen import note, number, print_frame, print_json, say

SHOWN = 15
FEWEST_ROWS = 10
COLUMNS = ("target", "task", "groups", "weight", "drop")
PARAMETERS = (
    "preset", "time_budget", "metric", "time_column", "n_jobs", "random_state", "executor",
)  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """A fitted model, the rows it was fitted on, and how long that took."""

    model: Any
    problem: Any
    seconds: float


@click.command()
@click.argument("table", type=str)
@options.target
@click.option("--out", metavar="DIR", help="Keep the model, its report and its run here.")
@click.option(
    "--time", "time_budget", type=options.POSITIVE, metavar="SECONDS", help="Time budget."
)
@click.option("--preset", type=click.Choice(["fast", "balanced", "best"]), default="balanced",
              show_default=True, help="How much work to put in.")  # fmt: skip
@click.option("--metric", help="What to be good at: rmse, mae, r2, log_loss, auc, accuracy, ...")
@options.task
@click.option("--groups", metavar="COL", help="Rows that share a value stay in one fold.")
@click.option("--time-column", metavar="COL", help="Judge by predicting later rows from earlier.")
@click.option("--weight", metavar="COL", help="How much each row counts.")
@click.option("--drop", multiple=True, metavar="COL", help="A column not to use; may be repeated.")
@options.seed
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, metavar="N",
              envvar="FOLDWISE_JOBS", help="Fits at a time; -1 for one a processor.")  # fmt: skip
@click.option(
    "--cluster", "executor", metavar="ADDRESS", help="A Dask scheduler to run the fits on."
)
@options.json
@told_in_words
def fit(as_json: bool, **said: Any) -> None:
    """Fit a model to TABLE and show how good it is.

    TABLE is a CSV or Parquet file with names in its first line.

    An interrupted or killed run with --out is continued by foldwise resume.
    """
    fit_request(Request(**said), as_json=as_json)


@click.command()
@click.argument("folder", type=FILE, metavar="DIR")
@options.json
@told_in_words
def resume(folder: Path, as_json: bool) -> None:
    """Continue a fit that was given --out DIR.

    Nothing that was finished is fitted again.
    """
    fit_request(replace(request_in(folder), out=str(folder)), as_json=as_json)


def fit_request(request: Request, *, as_json: bool) -> None:
    """Fit a model as asked, show how good it is, and keep it if asked to."""
    folder = begin(request)
    fitted = fit_model(request, None if folder is None else folder / RUN, quiet=as_json)
    written = [] if folder is None else _keep(fitted, folder, request)
    if as_json:
        print_json({**outcome(fitted, request), "written": written})
        return
    show(fitted)
    if not written:
        note("Nothing was written. Give --out DIR to keep the model and its report.")
    for path in written:
        say(f"Written: {path}")


def fit_model(request: Request, run_dir: Path | None, *, quiet: bool) -> Fitted:
    """Read the table and fit."""
    start = time.perf_counter()
    tell = (lambda _: None) if quiet else note
    tell(f"Reading {request.table} ...")
    from foldwise.auto.base import fit_problem
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem

    asked = {name: getattr(request, name) for name in COLUMNS}
    problem = table_problem(read_table(request.table), **asked, fewest_rows=FEWEST_ROWS)
    for text in (*problem.notes, describe_columns(problem)):
        tell(text)
    model = new_model(request, problem.task, run_dir, quiet=quiet)
    fit_problem(model, problem)
    return Fitted(model, problem, time.perf_counter() - start)


def new_model(request: Request, task: str, run_dir: Path | None, *, quiet: bool) -> Any:
    """Return the unfitted model that a request asks for."""
    from foldwise.auto import AutoStackClassifier, AutoStackRegressor

    kind = AutoStackRegressor if task == "regression" else AutoStackClassifier
    asked = {name: getattr(request, name) for name in PARAMETERS}
    return kind(**asked, run_dir=run_dir, verbose=0 if quiet else 1, on_interrupt="keep")


def describe_columns(problem: Any) -> str:
    """Return one line on the rows and columns."""
    counts = Counter(column.kind for column in problem.kinds)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    dropped = problem.kinds.dropped
    names = ", ".join(dropped[:5]) + (f" and {len(dropped) - 5} more" if len(dropped) > 5 else "")
    said = f" Not used: {names}." if dropped else ""
    return f"{len(problem.X):,} rows, {problem.X.shape[1]:,} columns: {found}.{said}"


def _keep(fitted: Fitted, folder: Path, request: Request) -> list[str]:
    from foldwise.files import save
    from foldwise.report import write_report

    save(fitted.model, folder / MODEL)
    title = f"{request.target}, from {Path(request.table).name}"
    write_report(fitted.model, folder / REPORT, title=title)
    return [str(folder / MODEL), str(folder / REPORT)]


def outcome(fitted: Fitted, request: Request) -> dict[str, Any]:
    """Return what is known after a fit, for machines."""
    model, problem = fitted.model, fitted.problem
    board = model.leaderboard_
    return {
        "target": request.target,
        "task": problem.task,
        "n_rows": len(problem.X),
        "columns": model.kinds_.to_frame().to_dict("records"),
        "metric": board.columns[1],
        "score": honest_value(board),
        "score_se": model.score_se_,
        "partial": bool(getattr(model, "partial_", False)),
        "leaderboard": board.to_dict("records"),
        "failures": [str(failure) for failure in model.failures_],
        "notes": list(problem.notes),
        "seconds": fitted.seconds,
    }


def honest_value(board: Any) -> float:
    """Return the stack's own value in the metric's natural sign."""
    stack = board.loc[board["model"] == "stack", board.columns[1]]
    return float(stack.iloc[0])


def score_line(model: Any) -> str:
    """Return the honest score of a model in words."""
    board = model.leaderboard_
    metric, value = str(board.columns[1]).replace("_", " "), honest_value(board)
    better = "lower" if math.isclose(model.score_, -value) else "higher"
    spread = number(float(model.score_se_), 2)
    return f"Honest score: {metric} {number(value)} ± {spread}, {better} is better"


def show(fitted: Fitted) -> None:
    """Print how good the model is."""
    model = fitted.model
    if getattr(model, "partial_", False):
        note("The run was cut short: this is the best stack of what was finished.")
    say()
    say(score_line(model))
    say("(± is one standard error; no model, choice or weight that predicts a row has seen it)")
    say()
    print_frame(board_to_show(model.leaderboard_))
    say()
    say(f"Took {fitted.seconds:.0f} s.")


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
    """Fit an embedded table and write a report, in a minute."""
    from foldwise.report import write_report

    with as_file(files("foldwise.cli") / "data" / "flats.csv") as table:
        request = Request(str(table), "rent", preset="fast", time_budget=time_budget)
        if not as_json:
            note("800 flats that do not exist: what should each cost a month?")
        fitted = fit_model(request, None, quiet=as_json)
        write_report(fitted.model, out, title="Rents of flats (a demonstration)")
    if as_json:
        print_json({**outcome(fitted, request), "written": [str(out)]})
        return
    show(fitted)
    say(f"Written: {out}. Open it in a browser.")
    say(f"Next: foldwise fit {table} --target rent --out flats")
