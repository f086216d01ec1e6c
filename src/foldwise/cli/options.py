"""What commands share: options that several have, and failures told in words."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from foldwise.cli.failures import errors_as_messages

FILE = click.Path(path_type=Path)
TASKS = click.Choice(["auto", "regression", "classification"])
POSITIVE, WHOLE = click.FloatRange(min=0, min_open=True), click.IntRange(min=0)

debug = click.option("--debug", is_flag=True, help="Show where an error arose.")
json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines.")
seed = click.option("--seed", "random_state", type=WHOLE, default=0, show_default=True)
target = click.option("--target", required=True, metavar="COL", help="The column to be predicted.")
task = click.option(
    "--task", type=TASKS, default="auto", show_default=True, help="What the target is."
)


def told_in_words(command: Callable[..., None]) -> Callable[..., None]:
    """Tell what goes wrong in a command in one sentence; its new option --debug shows where."""

    @debug
    @wraps(command)
    def told(debug: bool, **said: Any) -> None:
        with errors_as_messages(debug):
            command(**said)

    return told
