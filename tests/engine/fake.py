"""An executor that does nothing, at times that are told to it."""

import time
from typing import Any

from foldwise.engine.executor import Finished


class Fake:
    """Ends tasks when told to; every one that is submitted is written down."""

    kills = True
    remote = True

    def __init__(self, capacity: int = 2) -> None:
        self.capacity = capacity
        self.begun: list[Any] = []
        self.at_work: dict[int, Any] = {}
        self.since: dict[int, float] = {}
        self.ended: dict[int, str] = {}
        self.seconds: dict[Any, float] = {}
        self.endings: dict[Any, list[Any]] = {}
        self.memory = 0
        self.closed = False
        self.at_once: list[int] = []

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        self.work, self.shared = work, shared

    def submit(self, ticket: int, job: Any) -> None:
        self.begun.append(job)
        self.at_work[ticket] = job
        self.since[ticket] = time.monotonic()
        self.at_once.append(len(self.at_work))

    def wait(self, timeout: float | None) -> list[Finished]:
        """End the newest task, unless it hangs."""
        for ticket, job in sorted(self.at_work.items(), reverse=True):
            ending = (self.endings.get(job) or [None]).pop(0)
            if ending == "hangs":
                self.endings[job] = ["hangs"]
                continue
            del self.at_work[ticket]
            if ending is KeyboardInterrupt:
                raise KeyboardInterrupt
            seconds = self.seconds.get(job, 1.0)
            if isinstance(ending, BaseException):
                return [Finished(ticket, None, ending, seconds, self.memory)]
            return [Finished(ticket, self.work(self.shared, job), None, seconds, self.memory)]
        time.sleep(min(timeout or 0.0, 0.05))
        return []

    def running(self) -> dict[int, float]:
        return {ticket: self.since[ticket] for ticket in self.at_work}

    def cancel(self, ticket: int, reason: str) -> None:
        if ticket in self.at_work:
            self.ended[self.at_work.pop(ticket)] = reason

    def close(self) -> None:
        self.closed = True
