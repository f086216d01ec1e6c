"""``inspect``, ``leaderboard``, ``report`` and ``explain``: what is there to be seen."""

from pathlib import Path
from typing import Any

from foldwise.cli.failures import Failure, Misuse
from foldwise.cli.fitting import board_to_show
from foldwise.cli.model_folder import REPORT, load_model, request_in
from foldwise.cli.predicting import rows_for
from foldwise.cli.screen import number, print_frame, print_json, say

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MOST_COLUMNS_EXPLAINED = 300
BACKGROUND_ROWS = 200


def inspect(table: Path, target: str | None, *, as_json: bool) -> None:
    """Show what would be done with each column of a table."""
    from foldwise.auto.tables import column_kinds, read_table
    from foldwise.auto.tables.problem import table_problem

    frame = read_table(table)
    problem = None if target is None else table_problem(frame, target)
    kinds = column_kinds(frame) if problem is None else problem.kinds
    read_as = frame.attrs.get("read_as", {})
    if as_json:
        print_json(
            {
                "n_rows": len(frame),
                "read_as": read_as,
                "columns": kinds.to_frame().to_dict("records"),
                "task": None if problem is None else problem.task,
                "notes": [] if problem is None else list(problem.notes),
            }
        )
        return
    say(f"{table}: {len(frame):,} rows, {frame.shape[1]:,} columns.{_how_read(read_as)}")
    if problem is not None:
        what = "a quantity" if problem.task == "regression" else "classes"
        say(f"Target {target!r}: {what}. {' '.join(problem.notes)}".rstrip())
    say()
    print_frame(kinds.to_frame())


def _how_read(read_as: dict[str, str]) -> str:
    if not read_as:
        return ""
    between = DELIMITERS.get(read_as["delimiter"], repr(read_as["delimiter"]))
    decimal = ", decimal commas" if read_as["decimal"] == "," else ""
    return f" Read as {read_as['encoding']}, {between} between fields{decimal}."


def leaderboard(model_path: Path, *, as_json: bool) -> None:
    """Print the leaderboard of a model."""
    board = load_model(model_path).leaderboard_
    if as_json:
        print_json(board.to_dict("records"))
    else:
        print_frame(board_to_show(board))


def report(model_path: Path, out: Path | None, table: Path | None) -> None:
    """Write the report on a model."""
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem
    from foldwise.report import write_report

    if out is None and not model_path.is_dir():
        raise Misuse(
            "-o must be given for a model that is a single file; got none. Add -o report.html."
        )
    model = load_model(model_path)
    X = y = None
    if table is not None:
        request = request_in(model_path)
        problem = table_problem(read_table(table), request.target, task=request.task)
        X, y = rows_for(model, problem.X), problem.y
    written = write_report(model, out or model_path / REPORT, X, y)
    say(f"Written: {written}")


def explain(model_path: Path, table: Path, row: int, *, as_json: bool) -> None:
    """Print what each column adds to the prediction of one row."""
    from foldwise.auto.tables import read_table
    from foldwise.diagnose.row_effects import row_effects

    model = load_model(model_path)
    X = rows_for(model, read_table(table))
    if not 1 <= row <= len(X):
        raise Misuse(f"--row must be 1 to {len(X):,}, the table's rows; got {row}.")
    if X.shape[1] > MOST_COLUMNS_EXPLAINED:
        raise Failure(
            f"explain takes at most {MOST_COLUMNS_EXPLAINED} columns; got {X.shape[1]:,}. "
            "Fit a model on fewer."
        )
    chosen = X.iloc[[row - 1]]
    step = max(1, len(X) // BACKGROUND_ROWS)
    respond, what = _response(model, chosen)
    found = row_effects(respond, chosen, X.iloc[::step])
    if as_json:
        effects = found.to_frame().to_dict("records")
        print_json(
            {"what": what, "prediction": found.prediction, "base": found.base, "columns": effects}
        )
        return
    say(f"{what}: {number(found.prediction)} in row {row}, {number(found.base)} on average.")
    say("What each column adds to the average (se: for having been sampled):")
    say()
    print_frame(found.to_frame())


def _response(model: Any, chosen: Any) -> tuple[Any, str]:
    """Return what is explained: the prediction, or the probability of the predicted class."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return model.predict, "Prediction"
    k = int(model.predict_proba(chosen)[0].argmax())
    return (lambda X: model.predict_proba(X)[:, k]), f"Probability of {classes[k]}"
