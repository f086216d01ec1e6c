"""``fit``, ``resume`` and ``demo``: from a table to a judged model."""

import math
import time
from collections import Counter
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from foldwise.cli.model_folder import MODEL, REPORT, RUN, Request, begin
from foldwise.cli.screen import note, number, print_frame, print_json, say

SHOWN = 15
FEWEST_ROWS = 10


@dataclass(frozen=True)
class Fitted:
    """A fitted model, the rows it was fitted on, and how long that took."""

    model: Any
    problem: Any
    seconds: float


def fit(request: Request, *, as_json: bool) -> None:
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

    problem = table_problem(
        read_table(request.table),
        request.target,
        task=request.task,
        groups=request.groups,
        weight=request.weight,
        drop=request.drop,
        fewest_rows=FEWEST_ROWS,
    )
    for text in (*problem.notes, describe_columns(problem)):
        tell(text)
    model = new_model(request, problem.task, run_dir, quiet=quiet)
    fit_problem(model, problem)
    return Fitted(model, problem, time.perf_counter() - start)


def new_model(request: Request, task: str, run_dir: Path | None, *, quiet: bool) -> Any:
    """Return the unfitted model that a request asks for."""
    from foldwise.auto import AutoStackClassifier, AutoStackRegressor

    kind = AutoStackRegressor if task == "regression" else AutoStackClassifier
    return kind(
        preset=request.preset,
        time_budget=request.seconds,
        metric=request.metric,
        time_column=request.time_column,
        n_jobs=request.jobs,
        random_state=request.seed,
        verbose=0 if quiet else 1,
        run_dir=run_dir,
        executor=request.cluster,
        on_interrupt="keep",
    )


def describe_columns(problem: Any) -> str:
    """Return one line on the rows and columns."""
    kinds = problem.kinds
    counts = Counter(column.kind for column in kinds)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    dropped = kinds.dropped
    names = ", ".join(dropped[:5]) + (f" and {len(dropped) - 5} more" if len(dropped) > 5 else "")
    said = f" Not used: {names}." if dropped else ""
    return f"{len(problem.X):,} rows, {problem.X.shape[1]:,} columns: {found}.{said}"


def _keep(fitted: Fitted, folder: Path, request: Request) -> list[str]:
    from foldwise.files import save
    from foldwise.report import write_report

    save(fitted.model, folder / MODEL)
    write_report(
        fitted.model,
        folder / REPORT,
        title=f"{request.target}, from {Path(request.table).name}",
    )
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


def demo(out: Path, seconds: float | None, *, as_json: bool) -> None:
    """Fit the embedded table and write a report."""
    from foldwise.report import write_report

    with as_file(files("foldwise.cli") / "data" / "flats.csv") as table:
        request = Request(str(table), "rent", preset="fast", seconds=seconds)
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
