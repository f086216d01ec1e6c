"""The command line: words typed by a person -> calls; the only place that prints or exits."""

import sys
from contextlib import suppress
from typing import Any

__all__ = ["main"]


def main(arguments: Any = None) -> None:
    """Run the command ``foldwise`` and exit: 0 done, 1 failed, 2 misused.

    Parameters
    ----------
    arguments : list of str or None
        What was typed after the command; None for this process's own.

    Notes
    -----
    ``foldwise fit`` fits a :class:`~foldwise.AutoStackRegressor` or a
    :class:`~foldwise.AutoStackClassifier` and writes what :func:`~foldwise.save` and
    :func:`~foldwise.write_report` write.

    Examples
    --------
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as done:
    ...     print(done.code)
    foldwise, version ...
    0
    """
    # Windows writes to files and pipes in the encoding of its region, which lacks most names.
    with suppress(AttributeError, OSError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        from foldwise.cli.app import app
    except KeyboardInterrupt:
        raise SystemExit("Error: Interrupted.") from None
    app(arguments, prog_name="foldwise")
