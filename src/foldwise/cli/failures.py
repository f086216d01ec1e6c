"""Whatever goes wrong -> one sentence, one remedy, one exit code."""

import errno
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

RENAMED = {
    "time_budget": "time", "n_jobs": "jobs", "executor": "cluster", "random_state": "seed",
    "given": "kind",
}  # fmt: skip
SAME = ("time_column", "metric", "preset", "target", "groups", "weight", "drop", "kind", "by")
OPTIONS = RENAMED | {name: name.replace("_", "-") for name in SAME}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TIME = re.compile(r"time_budget=[\d.]+")
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
    except (click.ClickException, BrokenPipeError):
        # Who stops reading, as head does, has had enough: click ends without a word.
        raise
    except KeyboardInterrupt:
        raise Failure("Interrupted.") from None
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
    if isinstance(error, OSError) and error.errno is not None:
        reason, full = os.strerror(error.errno).lower(), error.errno in FULL
        remedy = "Make room" if full else "Check the path and its permissions"
        if error.filename or full:
            return Failure(f"{error.filename or 'a temporary file'}: {reason}. {remedy}.")
    first = (str(error).splitlines() or [""])[0][:200].rstrip(".")
    return Failure(
        f"Something nobody foresaw: {type(error).__name__}: {first}. "
        "Run it again with --debug to see where, and tell us."
    )


def check_place(path: Path, option: str) -> None:
    """Refuse a file that cannot be written before any work is done for it."""
    if path.is_dir() or not path.parent.is_dir():
        got = f"the folder {path}" if path.is_dir() else f"{path}, and no folder {path.parent}"
        remedy = "Name a file in it." if path.is_dir() else f"Make it with: mkdir -p {path.parent}"
        raise Misuse(f"{option} must be a file in a folder that is there; got {got}. {remedy}")


def _without_owner(message: str) -> str:
    """Return our sentence as a user of the command line knows things: by its options."""
    found = OWNER.match(message)
    if found is None:
        return message
    rest = TIME.sub("--time", message[found.end(1) + 2 :]).replace("run_dir=", "--out")
    word = found.group(2) or ""
    if word in OPTIONS and rest.startswith(f"{word} must"):
        return f"--{OPTIONS[word]}" + rest[len(word) :]
    return rest
