"""Whatever goes wrong -> one sentence, one remedy, one exit code."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

RENAMED = {"time_budget": "time", "n_jobs": "jobs", "executor": "cluster", "random_state": "seed"}
SAME = ("time_column", "metric", "preset", "target", "groups", "weight", "drop")
OPTIONS = RENAMED | {name: name.replace("_", "-") for name in SAME}
OWNER = re.compile(r"^(\w+): (\w+)?")


class Failure(click.ClickException):
    """An error that has been put into words: a sentence and a remedy."""

    exit_code = 1


class Misuse(Failure):
    """Something was typed that cannot be meant."""

    exit_code = 2


@contextmanager
def errors_as_messages(debug: bool) -> Iterator[None]:
    """Turn what goes wrong inside into a message and an exit code; let it through to debug."""
    if debug:
        yield
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _note_our_warnings()
            yield
    except click.ClickException:
        raise
    except KeyboardInterrupt:
        raise Failure("Interrupted before there was a model to keep.") from None
    except MemoryError:
        raise Failure("The memory is used up. Try fewer rows, --preset fast or --jobs 1.") from None
    except Exception as error:
        raise _failure(error) from None


def _note_our_warnings() -> None:
    from foldwise.cli.screen import note
    from foldwise.errors import FoldwiseWarning

    warnings.simplefilter("always", FoldwiseWarning)
    said: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            note(_without_owner(str(message)))

    warnings.showwarning = show


def _failure(error: Exception) -> Failure:
    from foldwise.errors import FoldwiseError, InvalidParameterError

    if isinstance(error, FoldwiseError):
        kind = Misuse if isinstance(error, InvalidParameterError) else Failure
        return kind(_without_owner(str(error)))
    if isinstance(error, OSError) and error.filename:
        reason = (error.strerror or type(error).__name__).lower()
        return Failure(f"{error.filename}: {reason}. Check the path and its permissions.")
    first = (str(error).splitlines() or [""])[0][:200].rstrip(".")
    return Failure(
        f"Something nobody foresaw: {type(error).__name__}: {first}. "
        "Run it again with --debug to see where, and tell us."
    )


def _without_owner(message: str) -> str:
    """Return our sentence as a user of the command line knows things: by its options.

    Examples
    --------
    >>> _without_owner("AutoStackRegressor: time_budget must be positive; got 0. Try 60.")
    '--time must be positive; got 0. Try 60.'
    """
    found = OWNER.match(message)
    if found is None:
        return message
    rest = message[found.end(1) + 2 :]
    word = found.group(2) or ""
    if word in OPTIONS and rest.startswith(f"{word} must"):
        return f"--{OPTIONS[word]}" + rest[len(word) :]
    return rest
