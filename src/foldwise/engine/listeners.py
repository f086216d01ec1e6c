"""Signs of life: a progress display in a terminal, a bar in a notebook, lines in a log."""

import html
import logging
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from foldwise.engine.events import Event, Listener
from foldwise.wording import rough_duration

logger = logging.getLogger("foldwise")
LINES_A_SECOND = 10


def listeners_for(verbose: int, callback: Callable[[Event], Any] | None) -> list[Listener]:
    """Return who is told what happens in a run.

    ``verbose``: 0 says nothing. Otherwise lines on the logger "foldwise" if anybody listens to it,
    a bar in a notebook, a display on the standard error stream if that is a terminal, else lines
    there.
    """
    listeners: list[Listener] = [] if callback is None else [callback]
    if not verbose:
        return listeners
    logger.setLevel(logging.INFO)
    if logger.hasHandlers():
        return [*listeners, LogLines()]
    if _in_notebook():
        return [*listeners, NotebookBar()]
    if sys.stderr.isatty():
        return [*listeners, TerminalBar()]
    logger.addHandler(logging.StreamHandler())
    return [*listeners, LogLines()]


class LogLines:
    """Writes a line a finished fit, at most ten a second, on the logger "foldwise"."""

    def __init__(self) -> None:
        self.last = float("-inf")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        now = time.monotonic()
        soon = now - self.last < 1 / LINES_A_SECOND
        if event.kind == "fitted" and soon and event.done < event.total:
            return
        self.last = now
        logger.info(event.line)


class TerminalBar:
    """Shows one line with a bar, counts, the last learner and the time left."""

    def __init__(self, console: Any = None) -> None:
        self.console = console
        self.progress: Any = None

    def __call__(self, event: Event) -> None:
        """Redraw."""
        if event.kind == "finished":
            self.close()
            return
        if self.progress is None:
            self.open(event)
        left = "" if event.left is None else f"about {rough_duration(event.left)} left"
        self.progress.update(
            self.task, completed=event.done, total=event.total, what=event.what, left=left
        )
        if event.kind in ("planned", "failed", "dropped"):
            self.progress.console.print(event.line, markup=False, highlight=False)

    def open(self, event: Event) -> None:
        """Begin to draw."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        columns = [
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[what]}", markup=False),
            Elapsed(),
            TextColumn("{task.fields[left]}", markup=False),
        ]
        console = self.console or Console(stderr=True)
        self.progress = Progress(*columns, console=console, transient=False)
        self.task = self.progress.add_task(event.owner, total=event.total, what="", left="")
        self.progress.start()

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self.progress is not None:
            self.progress.update(self.task, what="", left="")
            self.progress.stop()
            self.progress = None


class NotebookBar:
    """Shows a bar below the cell."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.last = float("-inf")

    def __call__(self, event: Event) -> None:
        """Redraw, at most ten times a second."""
        ipython = import_module("IPython.display")
        now = time.monotonic()
        if now - self.last < 1 / LINES_A_SECOND and event.kind == "fitted":
            return
        self.last = now
        shown = ipython.HTML(bar(event))
        if self.handle is None:
            self.handle = ipython.display(shown, display_id=True)
        else:
            self.handle.update(shown)


def bar(event: Event) -> str:
    """Return an event as a bar in HTML.

    Examples
    --------
    >>> bar(Event("fitted", "Stack", "<b>", done=1, total=2))
    '<progress value="1" max="2"></progress> Stack: 1/2 fits, &lt;b&gt;, 0 s'
    """
    text = html.escape(event.line)
    return f'<progress value="{event.done}" max="{max(event.total, 1)}"></progress> {text}'


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
