"""What happens in a run, as a stream of events that anybody may listen to."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from foldwise.wording import rough_duration


@dataclass(frozen=True)
class Event:
    """Something that happened in a run.

    Attributes
    ----------
    kind : {"started", "planned", "fitted", "failed", "dropped", "finished"}
        The run began; its cost is known after the first fits; something was fitted; a
        learner failed; a learner was left out for want of time; the run is over.
    owner : str
        The estimator at work.
    what : str
        The learners it is about, or what is planned.
    done, total : int
        Fits finished, and fits in all.
    seconds : float
        Time since the start.
    left : float or None
        Time to go, as far as can be told.
    took : float
        Time of this fit alone.
    reason : str
        Why something failed or was dropped.

    Examples
    --------
    >>> Event("fitted", "Stack", "ridge", done=1, total=4, seconds=2, left=6).line
    'Stack: 1/4 fits, ridge, 2 s, about 6 s left'
    """

    kind: str
    owner: str
    what: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    left: float | None = None
    took: float = 0.0
    reason: str = ""

    @property
    def line(self) -> str:
        """The event as one line of a log."""
        match self.kind:
            case "started":
                return f"{self.owner}: {self.total:,d} fits to do"
            case "planned":
                return f"{self.owner}: {self.what}"
            case "failed" | "dropped":
                return f"{self.owner}: {self.what} {self.kind}: {self.reason}"
            case "finished":
                return f"{self.owner}: {self.done:,d} fits done in {rough_duration(self.seconds)}"
        left = "" if self.left is None else f", about {rough_duration(self.left)} left"
        return (
            f"{self.owner}: {self.done:,d}/{self.total:,d} fits, {self.what}, "
            f"{rough_duration(self.seconds)}{left}"
        )


Listener = Callable[[Event], None]


@dataclass
class Stream:
    """Counts fits and tells every listener what happens.

    Examples
    --------
    >>> stream = Stream("Stack", 2, [lambda event: print(event.line)])
    >>> stream.tell("started")
    Stack: 2 fits to do
    """

    owner: str = ""  # the estimator at work
    total: int = 0  # how many fits there will be, about
    listeners: Sequence[Listener] = ()  # called with each event
    done: int = 0
    start: float = field(default_factory=time.monotonic)

    def tell(
        self,
        kind: str,
        what: str = "",
        *,
        fits: int = 0,
        took: float = 0.0,
        left: float | None = None,
        reason: str = "",
    ) -> None:
        """Say that something happened; ``fits`` more are done."""
        self.done += fits
        self.total = max(self.total, self.done)
        seconds = time.monotonic() - self.start
        event = Event(
            kind, self.owner, what, self.done, self.total, seconds, left, took, reason
        )  # fmt: skip
        for listener in self.listeners:
            listener(event)
