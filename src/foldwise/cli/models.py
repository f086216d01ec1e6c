"""``predict``, ``leaderboard``, ``report`` and ``explain``: what a fitted model has to say."""

from pathlib import Path
from typing import Any

import click

from foldwise.cli import options
from foldwise.cli.failures import Failure, Misuse, check_place
from foldwise.cli.fitting import board_to_show, standings_line
from foldwise.cli.model_folder import (
    REPORT,
    REQUEST,
    check_same_table,
    load_model,
    request_in,
    table_facts,
)
from foldwise.cli.options import FILE, told_in_words
from foldwise.cli.screen import note, number, print_frame, print_json, say, standard_output

RISKY = ("=", "+", "-", "@", "\t", "\r")
MOST_COLUMNS_EXPLAINED = 300
# Orders of columns in an explanation, each with a row to compare with; rows these are chosen from.
ORDERS, MOST_RANKED = 100, 2_000


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("-o", "--out", type=FILE, help="A CSV or Parquet file, instead of the screen.")
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--interval", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              metavar="SHARE", help="Add intervals (or sets of classes) that hold this share of "
              "the truth, such as 0.9.")  # fmt: skip
@click.option("--by", metavar="COL", help="Hold the share in every value of this column by itself; "
              "reads the table of the fit again.")  # fmt: skip
@options.json
@told_in_words
def predict(
    model: Path,
    table: Path,
    out: Path | None,
    proba: bool,
    interval: float | None,
    by: str | None,
    as_json: bool,
) -> None:
    """Predict the rows of TABLE with MODEL.

    MODEL is the folder given to foldwise fit as --out.

    \b
    $ foldwise predict model new.csv
    $ foldwise predict model new.csv --interval 0.9 -o predictions.csv
    $ foldwise predict model new.csv --interval 0.9 --by district
    """
    from foldwise.auto.tables import read_table

    if out is not None:
        check_place(out, "-o")
        if out.resolve() == table.resolve():
            raise Misuse("-o must not be the table itself; got the same file. Name another.")
    if by is not None and interval is None:
        raise Misuse("--by must be given with --interval; got it alone. Add --interval 0.9.")
    fitted = load_model(model)
    frame = read_table(table, like=_read_as(fitted))
    X = rows_for(fitted, frame)
    levels = None if by is None else levels_in(model, by, frame, _read_as(fitted))
    predictions = predicted(fitted, X, proba=proba, interval=interval, by=levels)
    if as_json:
        print_json({"predictions": predictions.to_dict("records")})
    elif out is None:
        with standard_output() as screen:
            harmless(predictions).to_csv(screen, index=False)
    if out is not None:
        write_predictions(predictions, out)
        note(f"Written: {out}, {len(predictions):,} predictions in the order of the table's rows.")


def write_predictions(predictions: Any, out: Path) -> None:
    """Write a CSV or Parquet file that is there whole or not at all."""
    from foldwise.engine.files import whole_file

    with whole_file(out) as file:
        if out.suffix != ".parquet":
            harmless(predictions).to_csv(file, index=False)
            return
        try:
            predictions.to_parquet(file, index=False)
        except ImportError:
            raise Failure(
                "-o must end in .csv where pyarrow is not installed; got .parquet. Name another, "
                "or install it with: pip install 'foldwise[parquet]'"
            ) from None


def _read_as(model: Any) -> dict[str, str]:
    """Return how the table a model was fitted on was read, as far as it knows."""
    return dict(getattr(model, "read_as_", {}))


def rows_for(model: Any, frame: Any) -> Any:
    """Return the model's columns of a table, in the model's order."""
    from foldwise.errors import did_you_mean, listing

    wanted = [str(name) for name in model.feature_names_in_]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        fix = "Give a table like that of the fit."
        if len(missing) < len(wanted):
            fix = did_you_mean(missing[0], [str(c) for c in frame.columns])
        raise Failure(
            f"TABLE must have all columns the model was fitted on; got none named "
            f"{listing(missing)}. {fix}"
        )
    return frame[wanted]


def levels_in(model: Path, by: str, frame: Any, like: dict[str, str]) -> tuple[Any, Any]:
    """Return the values of a column in the rows that a model was fitted on, and in new ones."""
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.frames import check_columns
    from foldwise.auto.tables.values import numbers_of, text_of

    if not model.is_dir():
        raise Misuse(
            "--by must be given with the folder that foldwise fit wrote, which knows the table; "
            f"got the file {model}. Give the folder."
        )
    request, before = request_in(model)
    fitted_on = read_table(request.table, like=like)
    check_same_table(model, before, table_facts(fitted_on, request.table))
    for table in (fitted_on, frame):
        check_columns("predict", "by", [by], table.columns)
    known = text_of(fitted_on[request.target]).notna()
    if request.weight is not None:
        known &= numbers_of(fitted_on[request.weight]) > 0
    return text_of(fitted_on[by])[known].to_numpy(), text_of(frame[by]).to_numpy()


def predicted(model: Any, X: Any, *, proba: bool, interval: float | None, by: Any = None) -> Any:
    """Return predictions as a frame, one row a row of X."""
    import pandas as pd

    classes: Any = getattr(model, "classes_", None)
    columns: dict[str, Any] = {"prediction": model.predict(X)}
    if proba and classes is None:
        raise Misuse("--proba must be left out for a model of a quantity; got it. Use --interval.")
    if proba:
        shares = model.predict_proba(X)
        columns |= {f"probability of {c}": shares[:, k] for k, c in enumerate(classes)}
    if interval is not None:
        ask = getattr(model, "predict_interval" if classes is None else "predict_set", None)
        if ask is None:
            kind = type(model).__name__
            raise Misuse(f"--interval must be left out for a {kind}, which has none; got it.")
        told = ask(X, interval) if by is None else ask(X, interval, by=by)
        if classes is None:
            columns["low"], columns["high"] = told if isinstance(told, tuple) else told.T
        else:
            columns["set"] = ["|".join(str(c) for c in classes[row]) for row in told]
    return pd.DataFrame(columns)


def harmless(frame: Any) -> Any:
    """Return the frame with text that a spreadsheet would run as a formula marked as text."""
    safe = frame.copy()
    for name in safe.columns[[dtype.kind not in "iufb" for dtype in safe.dtypes]]:
        safe[name] = [
            f"'{cell}" if isinstance(cell, str) and cell.startswith(RISKY) else cell
            for cell in safe[name]
        ]
    return safe


@click.command()
@click.argument("model", type=FILE)
@options.json
@told_in_words
def leaderboard(model: Path, as_json: bool) -> None:
    """Show how the learners of MODEL did.

    All are judged on the same rows with the same honesty.

    \b
    $ foldwise leaderboard model
    """
    fitted = load_model(model)
    if as_json:
        print_json({"leaderboard": fitted.leaderboard_.to_dict("records")})
        return
    print_frame(board_to_show(fitted.leaderboard_))
    say()
    say(standings_line(fitted))


@click.command()
@click.argument("model", type=FILE)
@click.option("-o", "--out", type=FILE, help="The HTML file; else report.html in MODEL.")
@click.option("--table", type=FILE, help="Rows with the target, for the figures about columns.")
@options.json
@told_in_words
def report(model: Path, out: Path | None, table: Path | None, as_json: bool) -> None:
    """Write the report on MODEL.

    \b
    $ foldwise report model
    $ foldwise report model --table new_rows_with_target.csv -o report.html
    """
    from foldwise.auto.tables import read_table
    from foldwise.auto.tables.problem import table_problem
    from foldwise.report import write_report

    if out is None and not model.is_dir():
        raise Misuse(
            "-o must be given for a model that is a single file; got none. Add -o report.html."
        )
    check_place(out or model / REPORT, "-o")
    fitted, X, y = load_model(model), None, None
    asked = table is not None or (model / REQUEST).is_file()
    request = request_in(model)[0] if asked else None
    if table is not None and request is not None:
        frame = read_table(table, like=_read_as(fitted))
        problem = table_problem(frame, request.target, task=request.task)
        X, y = rows_for(fitted, problem.X), problem.y
    title = None if request is None else request.title
    written = write_report(fitted, out or model / REPORT, X, y, title=title)
    if as_json:
        print_json({"written": str(written)})
        return
    say(f"Written: {written}")


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("--row", type=int, required=True, metavar="N", help="Counted from 1.")
@options.json
@told_in_words
def explain(model: Path, table: Path, row: int, as_json: bool) -> None:
    """Show why MODEL predicts a row as it does.

    What each column of row N of TABLE adds to the average prediction of TABLE's rows.

    \b
    $ foldwise explain model new.csv --row 1
    """
    from foldwise.auto.tables import read_table
    from foldwise.diagnose import row_effects

    fitted = load_model(model)
    X = rows_for(fitted, read_table(table, like=_read_as(fitted)))
    if not 1 <= row <= len(X):
        raise Misuse(f"--row must be 1 to {len(X):,}, the table's rows; got {row}.")
    if len(X) == 1:
        raise Misuse(
            "TABLE must have other rows to compare the row with; got one row. Put it into a table "
            "of such rows, as that of the fit."
        )
    if X.shape[1] > MOST_COLUMNS_EXPLAINED:
        raise Failure(
            f"explain takes at most {MOST_COLUMNS_EXPLAINED} columns; got {X.shape[1]:,}. "
            "Fit a model on fewer."
        )
    chosen = X.iloc[[row - 1]]
    respond, what = _response(fitted, chosen)
    found = row_effects(respond, chosen, _typical_rows(respond, X), n_orders=ORDERS)
    if as_json:
        told = {"what": what, "prediction": found.prediction, "base": found.base}
        print_json({**told, "columns": found.to_frame().to_dict("records")})
        return
    say(f"{what}: {number(found.prediction)} in row {row}, {number(found.base)} on average.")
    say("What each column adds to the average (se: standard error, as orders are sampled):")
    say()
    print_frame(found.to_frame())


def _typical_rows(respond: Any, X: Any) -> Any:
    """Return rows at even ranks of the prediction: their mean is nearly that of all rows."""
    import numpy as np

    spread = X.iloc[:: 1 + (len(X) - 1) // MOST_RANKED]
    places = (np.arange(0.5, ORDERS) * len(spread) / ORDERS).astype(int)
    return spread.iloc[np.argsort(respond(spread), kind="stable")[places]]


def _response(model: Any, chosen: Any) -> tuple[Any, str]:
    """Return what is explained: the prediction, or the probability of the predicted class."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return model.predict, "Prediction"
    k = int(model.predict_proba(chosen)[0].argmax())
    return (lambda X: model.predict_proba(X)[:, k]), f"Probability of {classes[k]}"
