"""The command line: words typed by a person -> calls; the only place that prints or exits."""

from typing import Any

__all__ = ["main"]


def main(arguments: Any = None) -> None:
    """Run the command ``foldwise`` and exit: 0 done, 1 failed, 2 misused.

    Parameters
    ----------
    arguments : list of str or None
        What was typed after the command; None for this process's own.

    Examples
    --------
    >>> main(["--version"])  # doctest: +SKIP
    """
    try:
        from foldwise.cli.app import app
    except KeyboardInterrupt:
        raise SystemExit("Error: Interrupted.") from None
    app(arguments, prog_name="foldwise")
