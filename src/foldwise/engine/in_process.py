"""Tasks one after the other, in this process."""

import time
from collections import deque
from typing import Any

from foldwise.engine.executor import Finished, TaskEndedError
from foldwise.engine.task import without_frames


class InProcess:
    """Runs a task when it is waited for; learners keep their own thread settings.

    Examples
    --------
    >>> executor = InProcess()
    >>> executor.place(lambda shared, job: shared + job, 10)
    >>> executor.submit(0, 5)
    >>> executor.wait(None)[0].result
    15
    """

    capacity = 1
    kills = False
    remote = False

    def __init__(self) -> None:
        self._work: Any = None
        self._shared: Any = None
        self._waiting: deque[tuple[int, Any]] = deque()
        self._over: list[Finished] = []

    def place(self, work: Any, shared: Any) -> None:
        """Remember the function and the data."""
        self._work, self._shared = work, shared

    def submit(self, ticket: int, job: Any) -> None:
        """Remember a task."""
        self._waiting.append((ticket, job))

    def wait(self, timeout: float | None) -> list[Finished]:
        """Do the next task, however long it takes."""
        over, self._over = self._over, []
        if not over and self._waiting:
            over = [self._do(*self._waiting.popleft())]
        return over

    def _do(self, ticket: int, job: Any) -> Finished:
        start = time.perf_counter()
        try:
            result = self._work(self._shared, job)
        except Exception as error:
            return Finished(ticket, None, without_frames(error), time.perf_counter() - start)
        return Finished(ticket, result, None, time.perf_counter() - start)

    def running(self) -> dict[int, float]:
        """Return nothing: between calls no task is at work."""
        return {}

    def cancel(self, ticket: int, reason: str) -> None:
        """Forget a task that has not begun."""
        self._waiting = deque(task for task in self._waiting if task[0] != ticket)
        self._over.append(Finished(ticket, None, TaskEndedError(reason)))

    def close(self) -> None:
        """Forget everything."""
        self._waiting.clear()
        self._work = self._shared = None
