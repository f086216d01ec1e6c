"""What happens in a long piece of work, as a stream of events, and who is told of it.

Stacking, bagging, boosting and subset search all count on one :class:`Stream`. It tells lines in a
log, a bar in a notebook, a display in a terminal, or a function of the user's.
"""

import html
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from foldwise.wording import rough_duration

logger = logging.getLogger("foldwise")
# A line for each fit of a run, but no flood of them; loops of many small steps say less.
RUN_PAUSE, LOOP_PAUSE = 0.1, 2.0


@dataclass(frozen=True)
class Event:
    """Something that happened in a run.

    Attributes
    ----------
    kind : {"started", "planned", "fitted", "failed", "dropped", "finished"}
        The run began; more is known of what is to do; something was fitted; a learner failed;
        one was left out for want of time; the run is over.
    owner : str
        The estimator at work.
    what : str
        The learners it is about, or what is planned.
    done, total : int or float
        Fits finished, and fits in all; a total of 1.0 where only the share done is known.
    seconds : float
        Time since the start.
    left : float or None
        Time to go, as far as can be told.
    took : float
        Time of this fit alone.
    reason : str
        Why something failed or was dropped.
    unit : str
        What is counted: "fits", "rounds", "subsets".

    Examples
    --------
    >>> Event("fitted", "Stack", "ridge", done=1, total=4, seconds=2, left=6).line
    'Stack: 1/4 fits, ridge, 2 s, about 6 s left'
    """

    kind: str
    owner: str
    what: str = ""
    done: float = 0
    total: float = 0
    seconds: float = 0.0
    left: float | None = None
    took: float = 0.0
    reason: str = ""
    unit: str = "fits"

    @property
    def much(self) -> str:
        """How much is done of what there is to do."""
        if isinstance(self.total, float):
            return f"{100 * self.done / self.total:.1f} % of the {self.unit}"
        return f"{self.done:,d}/{self.total:,d} {self.unit}"

    @property
    def line(self) -> str:
        """The event as one line of a log."""
        match self.kind:
            case "started":
                many = "" if isinstance(self.total, float) else f"{self.total:,d} "
                text = f"{many}{self.unit} to do"
            case "planned":
                text = self.what
            case "failed" | "dropped":
                text = f"{self.what} {self.kind}: {self.reason}"
            case "finished":
                many = self.much if isinstance(self.total, float) else f"{self.done:,d} {self.unit}"
                text = f"{many} done in {rough_duration(self.seconds)}"
            case _:
                what = f", {self.what}" if self.what else ""
                left = "" if self.left is None else f", about {rough_duration(self.left)} left"
                text = f"{self.much}{what}, {rough_duration(self.seconds)}{left}"
        return f"{self.owner}: {text}"


Listener = Callable[[Event], None]


@dataclass
class Stream:
    """Counts what is done and tells every listener; without listeners it costs next to nothing.

    Attributes
    ----------
    owner : str
        The estimator at work.
    total : int or float
        How much there is to do, about; 1.0 where only shares are known.
    listeners : sequence of callables
        Called with each :class:`Event`.
    unit : str
        What is counted.
    done : int or float
        How much is done.
    start : float
        When it began.

    Examples
    --------
    >>> stream = Stream("Stack", 2, [lambda event: print(event.line)])
    >>> stream.tell("started")
    Stack: 2 fits to do
    """

    owner: str = ""
    total: float = 0
    listeners: Sequence[Listener] = ()
    unit: str = "fits"
    done: float = 0
    start: float = field(default_factory=time.monotonic)

    def expect(self, fits: float) -> None:
        """Count on so many fits more at least."""
        self.total = max(self.total, self.done + fits)

    def skip(self, fits: int) -> None:
        """Say that so many of the fits were done by an earlier run."""
        self.total = max(self.total - fits, self.done)
        self.tell(
            "planned", f"{fits:,d} of them were done before, {self.total - self.done:,d} left"
        )

    def tell(
        self,
        kind: str,
        what: str = "",
        *,
        fits: float = 0,
        took: float = 0.0,
        left: float | None = None,
        reason: str = "",
    ) -> None:
        """Say that something happened; ``fits`` more are done."""
        self.done += fits
        self.expect(0)
        if not self.listeners:
            return
        seconds = time.monotonic() - self.start
        event = Event(
            kind, self.owner, what, self.done, self.total, seconds, left, took, reason, self.unit
        )
        for listener in self.listeners:
            listener(event)

    def reach(self, done: float) -> None:
        """Say how much is done by now, and so how long the rest will take."""
        left = None
        if self.listeners and done > 0:
            left = (time.monotonic() - self.start) * max(self.total / done - 1, 0.0)
        self.tell("fitted", fits=done - self.done, left=left)

    def advance(self, steps: float = 1) -> None:
        """Say that some more is done."""
        self.reach(self.done + steps)


@contextmanager
def progress(owner: str, total: float, verbose: int = 0, unit: str = "fits") -> Iterator[Stream]:
    """Count the steps of a loop, with signs of life.

    Parameters
    ----------
    owner : str
        The estimator at work.
    total : int or float
        How many steps there will be at most; 1.0 where only the share done is known.
    verbose : int, default=0
        0 says nothing; 1 a line at once, one every two seconds and one at the end; 2 a line a
        step.
    unit : str, default="fits"
        What is counted.

    Yields
    ------
    Stream
        Tell it with ``advance(steps)`` or ``reach(done)``.

    Examples
    --------
    >>> with progress("AdaBoostClassifier", 50, verbose=0, unit="rounds") as told:
    ...     told.advance()
    """
    pause = LOOP_PAUSE if verbose < 2 else 0.0
    stream = Stream(owner, total, listeners_for(verbose, None, pause), unit)
    stream.tell("started")
    try:
        yield stream
    finally:
        stream.tell("finished")


def listeners_for(
    verbose: int, callback: Callable[[Event], Any] | None = None, pause: float = RUN_PAUSE
) -> list[Listener]:
    """Return who is told what happens, lines of one kind at least ``pause`` seconds apart.

    ``verbose``: 0 says nothing. Otherwise lines on the logger "foldwise" if anybody listens to it,
    a bar in a notebook, a display on the standard error stream if that is a terminal, else lines
    there.
    """
    listeners: list[Listener] = [] if callback is None else [callback]
    if not verbose:
        return listeners
    logger.setLevel(logging.INFO)
    if logger.hasHandlers():
        return [*listeners, LogLines(pause)]
    if _in_notebook():
        return [*listeners, NotebookBar()]
    if sys.stderr.isatty():
        return [*listeners, TerminalBar()]
    logger.addHandler(logging.StreamHandler())
    return [*listeners, LogLines(pause)]


class LogLines:
    """Writes a line a finished fit, but not too often, on the logger "foldwise"."""

    def __init__(self, pause: float = RUN_PAUSE) -> None:
        self.pause = pause
        self.last = float("-inf")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        now = time.monotonic()
        soon = now - self.last < self.pause
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
            self.task,
            completed=event.done,
            total=event.total,
            much=event.much,
            what=event.what,
            left=left,
        )
        if event.kind in ("planned", "failed", "dropped"):
            self.progress.console.print(event.line, markup=False, highlight=False)

    def open(self, event: Event) -> None:
        """Begin to draw."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        columns = [
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[much]}"),
            TextColumn("{task.fields[what]}", markup=False),
            Elapsed(),
            TextColumn("{task.fields[left]}", markup=False),
        ]
        console = self.console or Console(stderr=True)
        self.progress = Progress(*columns, console=console, transient=False)
        self.task = self.progress.add_task(
            event.owner, total=event.total, much="", what="", left=""
        )
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
        if now - self.last < RUN_PAUSE and event.kind == "fitted":
            return
        self.last = now
        shown = ipython.HTML(bar(event))
        if self.handle is None:
            self.handle = ipython.display(shown, display_id=True)
        else:
            self.handle.update(shown)


def bar(event: Event) -> str:
    """Return an event as a bar in HTML."""
    text = html.escape(event.line)
    return f'<progress value="{event.done}" max="{max(event.total, 1)}"></progress> {text}'


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
