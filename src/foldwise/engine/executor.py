"""What the runner asks of an executor, and of a run directory.

An executor runs tasks somewhere: in this process, in threads, in local processes, on a
cluster. It knows nothing of learners, budgets or results that were stored; the runner does.
"""

from dataclasses import dataclass
from typing import Any, Protocol


class TaskLostError(Exception):
    """The place a task ran at died: a worker was killed, a machine is gone.

    It says nothing about the learner, so the runner submits the task again, at last alone; a
    task that is lost again and again is taken for the killer.
    """


Lost = TaskLostError


class TaskEndedError(Exception):
    """A task was ended by the runner; the message is the reason."""


@dataclass(frozen=True)
class Finished:
    """One task that is over.

    Attributes
    ----------
    ticket : int
        The number it was submitted under.
    result : object
        What the work returned, None if there is an error.
    error : BaseException or None
        What the work raised, or :class:`TaskLostError`, or :class:`TaskEndedError`.
    seconds : float
        How long the work ran, without waiting and transport.
    memory : int
        Bytes its process grew by at its highest, 0 if not known.
    """

    ticket: int
    result: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    memory: int = 0


class Executor(Protocol):
    """Runs tasks somewhere.

    Attributes
    ----------
    capacity : int
        How many tasks run at once. The runner keeps at most this many submitted.
    kills : bool
        Whether :meth:`cancel` really ends a task at work.
    remote : bool
        Whether tasks run outside this process.
    """

    capacity: int
    kills: bool
    remote: bool

    def place(self, work: Any, shared: Any) -> None:
        """Put the function and the data where tasks run; tasks call ``work(shared, job)``.

        Called before the tasks of a plan, with none at work; what was placed before may go.
        """

    def submit(self, ticket: int, job: Any) -> None:
        """Start a task; tickets are never used twice."""

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return tasks that are over, waiting for the first; empty if time ran out.

        An executor in this process does its work here, and may take longer than it was given.
        """

    def running(self) -> dict[int, float]:
        """Return the tickets at work and since when (``time.monotonic``), as far as known."""

    def cancel(self, ticket: int, reason: str) -> None:
        """End a task, or forget it; its Finished carries a TaskEndedError with the reason."""

    def close(self) -> None:
        """Forget every task and give back what was taken."""


class Store(Protocol):
    """What the runner asks of a run directory."""

    def get(self, key: str) -> Any | None:
        """Return a finished result; None if it is absent or damaged."""

    def put(self, key: str, value: Any, about: dict[str, Any]) -> None:
        """Keep a finished result for good; ``about`` is for people who look into the run."""
