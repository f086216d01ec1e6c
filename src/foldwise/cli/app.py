"""The commands and their options; the work is imported when a command runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from foldwise import __version__

FILE = click.Path(path_type=Path)
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _debug(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--debug", is_flag=True, help="Show where an error arose.")(command)


def _json(command: Callable[..., Any]) -> Callable[..., Any]:
    shown = "Print one JSON object, for machines."
    return click.option("--json", "as_json", is_flag=True, help=shown)(command)


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="foldwise")
def app() -> None:
    """Ensembles that know their own error.

    From a table to a model with an honest score: foldwise demo shows how. Nothing is written
    unless asked for, and nothing is ever sent anywhere.
    """


@app.command()
@click.option("-o", "--out", type=FILE, default=Path("foldwise-demo.html"), show_default=True,
              help="Where the report is written.")  # fmt: skip
@click.option("--time", "seconds", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Time budget, for slow machines.")  # fmt: skip
@_json
@_debug
def demo(out: Path, seconds: float | None, as_json: bool, debug: bool) -> None:
    """Fit an embedded table and write a report, in a minute."""
    from foldwise.cli import fitting
    from foldwise.cli.failures import in_words

    with in_words(debug):
        fitting.demo(out, seconds, as_json=as_json)


@app.command()
@click.argument("table", type=str)
@click.option("--target", required=True, metavar="COL", help="The column to be predicted.")
@click.option("--out", metavar="DIR", help="Keep the model, its report and its run here.")
@click.option("--time", "seconds", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Time budget.")  # fmt: skip
@click.option("--preset", type=click.Choice(["fast", "balanced", "best"]), default="balanced",
              show_default=True, help="How much work to put in.")  # fmt: skip
@click.option("--metric", help="What to be good at: rmse, mae, r2, log_loss, auc, accuracy, ...")
@click.option("--task", type=click.Choice(["auto", "regression", "classification"]),
              default="auto", show_default=True, help="What the target is.")  # fmt: skip
@click.option("--groups", metavar="COL", help="Rows that share a value stay in one fold.")
@click.option("--time-column", metavar="COL", help="Judge by predicting later rows from earlier.")
@click.option("--weight", metavar="COL", help="How much each row counts.")
@click.option("--drop", multiple=True, metavar="COL", help="A column not to use; may be repeated.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--jobs", type=int, default=-1, show_default=True, metavar="N",
              envvar="FOLDWISE_JOBS", help="Fits at a time; -1 for one a processor.")  # fmt: skip
@click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler to run the fits on.")
@_json
@_debug
def fit(as_json: bool, debug: bool, **said: Any) -> None:
    """Fit a model to TABLE and show how good it is.

    TABLE is a CSV or Parquet file with names in its first line.

    An interrupted or killed run with --out is continued by foldwise resume.
    """
    from foldwise.cli import fitting
    from foldwise.cli.failures import in_words
    from foldwise.cli.model_folder import Request

    with in_words(debug):
        fitting.fit(Request(**said), as_json=as_json)


@app.command()
@click.argument("folder", type=FILE, metavar="DIR")
@_json
@_debug
def resume(folder: Path, as_json: bool, debug: bool) -> None:
    """Continue a fit that was given --out DIR.

    Nothing that was finished is fitted again.
    """
    from dataclasses import replace

    from foldwise.cli import fitting
    from foldwise.cli.failures import in_words
    from foldwise.cli.model_folder import request_in

    with in_words(debug):
        fitting.fit(replace(request_in(folder), out=str(folder)), as_json=as_json)


@app.command()
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("-o", "--out", type=FILE, help="A CSV or Parquet file, instead of the screen.")
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--interval", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              metavar="SHARE", help="Add intervals (or sets of classes) that hold this share of "
              "the truth, such as 0.9.")  # fmt: skip
@_debug
def predict(
    model: Path, table: Path, out: Path | None, proba: bool, interval: float | None, debug: bool
) -> None:
    """Predict the rows of TABLE with MODEL.

    MODEL is the folder given to foldwise fit as --out.
    """
    from foldwise.cli import predicting
    from foldwise.cli.failures import in_words

    with in_words(debug):
        predicting.predict(model, table, out, proba=proba, interval=interval)


@app.command()
@click.argument("model", type=FILE)
@click.option("-o", "--out", type=FILE, help="The HTML file; else report.html in MODEL.")
@click.option("--table", type=FILE, help="Rows with the target, for the figures about columns.")
@_debug
def report(model: Path, out: Path | None, table: Path | None, debug: bool) -> None:
    """Write the report on MODEL."""
    from foldwise.cli import looking
    from foldwise.cli.failures import in_words

    with in_words(debug):
        looking.report(model, out, table)


@app.command()
@click.argument("model", type=FILE)
@_json
@_debug
def leaderboard(model: Path, as_json: bool, debug: bool) -> None:
    """Show how the learners of MODEL did.

    All are judged on the same rows with the same honesty.
    """
    from foldwise.cli import looking
    from foldwise.cli.failures import in_words

    with in_words(debug):
        looking.leaderboard(model, as_json=as_json)


@app.command()
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("--row", type=int, required=True, metavar="N", help="Counted from 1.")
@_json
@_debug
def explain(model: Path, table: Path, row: int, as_json: bool, debug: bool) -> None:
    """Show why MODEL predicts a row as it does.

    What each column of row N of TABLE adds to the average prediction.
    """
    from foldwise.cli import looking
    from foldwise.cli.failures import in_words

    with in_words(debug):
        looking.explain(model, table, row, as_json=as_json)


@app.command()
@click.argument("table", type=FILE)
@click.option("--target", required=True, metavar="COL", help="The column to be predicted.")
@click.option("--task", type=click.Choice(["auto", "regression", "classification"]),
              default="auto", show_default=True, help="What the target is.")  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), default=12, show_default=True,
              help="Most rules and linear terms.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@_json
@_debug
def rules(as_json: bool, debug: bool, **said: Any) -> None:
    """Fit a short list of readable rules to TABLE."""
    from foldwise.cli import ruling
    from foldwise.cli.failures import in_words

    with in_words(debug):
        ruling.rules(**said, as_json=as_json)


@app.command()
@click.argument("table", type=FILE)
@click.option("--target", metavar="COL", help="The column to be predicted.")
@_json
@_debug
def inspect(table: Path, target: str | None, as_json: bool, debug: bool) -> None:
    """Show what would be done with each column of TABLE."""
    from foldwise.cli import looking
    from foldwise.cli.failures import in_words

    with in_words(debug):
        looking.inspect(table, target, as_json=as_json)
