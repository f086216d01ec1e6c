"""What is printed: results on standard output, all else on standard error."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from foldwise import wording
from foldwise.wording import decimals_for

LONGEST_CELL = 60


def note(text: str) -> None:
    """Say something on standard error."""
    click.echo(text, err=True)


@contextmanager
def standard_output() -> Iterator[Any]:
    """Lend standard output, and say that it was this which could not be written to."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still to be written would fail once more at the end.
        sys.stdout = io.StringIO()
        raise OSError(error.errno, error.strerror, "standard output") from error


def say(text: str = "") -> None:
    """Print a line of the result."""
    with standard_output():
        click.echo(text)


def print_json(result: Any) -> None:
    """Print the result for machines: one JSON object; numbers that are not finite are null."""
    say(json.dumps(plain(result), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:
    """Return a value as JSON knows it."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def print_frame(frame: Any, longest: int = LONGEST_CELL) -> None:
    """Print a table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, dtype in frame.dtypes.items():
        table.add_column(Text(str(name)), justify="right" if dtype.kind in "iuf" else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*[Text(_cell(value, longest)) for value in row])
    console = Console()
    if not console.is_terminal:
        # A file or a pipe has no width; nothing is to be cut there.
        console = Console(width=10_000)
    with standard_output():
        console.print(table)


def _cell(value: Any, longest: int) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return number(value)
    text = " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, as any terminal can show it."""
    decimals = max(0, decimals_for(abs(value), digits) or 0)
    return wording.number(value, decimals).replace("−", "-")
