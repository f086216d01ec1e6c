"""What commands share: options that several have, and failures told in words."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from foldwise.cli.failures import Misuse, errors_as_messages

FILE = click.Path(path_type=Path)
TASKS = click.Choice(["auto", "regression", "classification"])
POSITIVE, WHOLE = click.FloatRange(min=0, min_open=True), click.IntRange(min=0)

kind = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="COL=KIND",
    help="What a column is: number, category, boolean, date or text; may be repeated.",
)
json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines.")
seed = click.option("--seed", "random_state", type=WHOLE, default=0, show_default=True,
                    help="One seed, one model.")  # fmt: skip
target = click.option("--target", required=True, metavar="COL", help="The column to be predicted.")
task = click.option(
    "--task", type=TASKS, default="auto", show_default=True, help="What the target is."
)


def kinds_of(said: tuple[str, ...]) -> dict[str, str]:
    """Return kinds by column, from words such as ``code=category``."""
    from foldwise.auto.tables.kinds import KINDS
    from foldwise.errors import did_you_mean

    found: dict[str, str] = {}
    for words in said:
        column, _, kind = words.rpartition("=")
        if not column or kind not in KINDS:
            remedy = did_you_mean(kind, KINDS) if column else "Try --kind code=category."
            raise Misuse(
                f"--kind must be COL=KIND, with a kind that is known; got {words!r}. {remedy}"
            )
        found[column] = kind
    return found


def told_in_words(command: Callable[..., None]) -> Callable[..., None]:
    """Tell what goes wrong in a command in one sentence; its new option --debug shows where."""

    @click.option("--debug", is_flag=True, help="Show where an error arose.")
    @wraps(command)
    def told(debug: bool, **said: Any) -> None:
        with errors_as_messages(debug):
            command(**said)

    return told
