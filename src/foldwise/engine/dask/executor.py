"""Tasks on a Dask cluster, by native futures: sent, looked after, taken back."""

import queue
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from foldwise.engine.dask.cluster import ANSWER_SECONDS, Cluster
from foldwise.engine.dask.worker import OtherVersionsError, Placed, do_task
from foldwise.engine.executor import Finished, TaskEndedError, TaskLostError
from foldwise.engine.processes.worker import Surroundings, portable, received
from foldwise.engine.versions import library_versions
from foldwise.errors import warn

# How often the cluster is looked at.
TICK_SECONDS = 1.0
# A worker has stalled if it is not heard of for this long, and its task takes this many times as
# long as the longest before.
SILENT_SECONDS = 15.0
STALLED_TIMES = 3.0
GATHER_SECONDS = 30.0
MOST_SENDS = 6
# One worker that dies may have been ended by anybody; so many with one task were not.
SURE_DEATHS = 3
TINY_SECONDS, TINY_TASKS = 0.05, 10


class WorkerKillerError(Exception):
    """A task ended every worker it was given to."""


@dataclass
class Flight:
    """A task on its way: what it is, and the futures that may bring its result."""

    ticket: int
    job: bytes
    since: float
    futures: list[Any] = field(default_factory=list)
    sends: int = 0
    deaths: int = 0


class DaskExecutor:
    """Runs tasks on a Dask cluster.

    The data goes to each worker once, also to those that come later. A worker that dies has its
    task done elsewhere, by Dask; a task that ends several workers fails. A worker
    that stalls has its task done elsewhere too, once it was not heard of for 15 s and the task
    takes three times as long as the longest before; whichever is first counts, they give the same
    bits. Without any worker for 25 s (or the time budget), or without the scheduler, an error says
    so.
    """

    kills = False

    def __init__(self, cluster: Any, owner: str = "DaskExecutor") -> None:
        self.cluster = Cluster(cluster, owner)
        self.owner = owner
        self.capacity = 1
        self._name = f"foldwise-{uuid4().hex[:12]}"
        self._versions = library_versions()
        self._flights: dict[int, Flight] = {}
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._over: list[Finished] = []
        self._placed: Placed | None = None
        self._kept: dict[str, Any] = {}
        self._given: dict[str, float] = {}
        self._n_placed = 0
        self._looked = time.monotonic()
        self._seen: set[str] = set()
        self._seconds: list[float] = []
        self._checked = False

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        """Send the function and the data to every worker."""
        self._placed = Placed((work, shared, Surroundings()))
        self._wait_for_workers(within)
        if not self._checked:
            self.cluster.check_versions()
            self._checked = True
        self._n_placed += 1
        self._kept.clear()
        self._give(self.cluster.heard(SILENT_SECONDS))
        if not self._kept:
            raise self.cluster.gone("no worker takes the data")

    def submit(self, ticket: int, job: Any) -> None:
        """Hand a task to the scheduler."""
        self._flights[ticket] = Flight(ticket, portable(job), time.monotonic())
        self._send(self._flights[ticket])

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return tasks that are over, looking after the cluster meanwhile."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._over and self._flights:
            left = max(until - time.monotonic(), 0.0)
            try:
                self._take(*self._done.get(timeout=min(TICK_SECONDS, left)))
            except queue.Empty:
                if left <= 0:
                    break
            if time.monotonic() - self._looked > TICK_SECONDS:
                self._look_after()
        while not self._done.empty():
            self._take(*self._done.get())
        over, self._over = self._over, []
        return over

    def running(self) -> dict[int, float]:
        """Return the tickets on their way and since when."""
        return {ticket: flight.since for ticket, flight in self._flights.items()}

    def cancel(self, ticket: int, reason: str) -> None:
        """Forget a task; one at work goes on without anybody waiting for it."""
        if ticket in self._flights:
            self._end(self._flights[ticket], TaskEndedError(reason))

    def close(self) -> None:
        """Forget all tasks and the data; a client of the user's stays open."""
        self._flights, self._over, self._placed, self._kept = {}, [], None, {}
        self.cluster.close()

    def _wait_for_workers(self, within: float = float("inf")) -> None:
        self.cluster.wait_for_workers(within)
        self.capacity = sum(self.cluster.threads.values())

    def _give(self, workers: list[str]) -> None:
        """Send what was placed to some workers."""
        kept = self.cluster.give(self._placed, self._place_name(), workers)
        self._kept.update(kept)
        self._given.update(dict.fromkeys(kept, time.monotonic()))

    def _place_name(self) -> str:
        return f"{self._name}-{self._n_placed}"

    def _send(self, flight: Flight) -> None:
        """Submit a task, to workers that are heard of where some are not."""
        flight.sends += 1
        flight.since = time.monotonic()
        heard = self.cluster.heard(SILENT_SECONDS)
        workers = heard if len(heard) < len(self.cluster.threads) else None
        future = self.cluster.submit(
            do_task, self._place_name(), flight.job, self._versions,
            key=f"{self._name}-{flight.ticket}-{flight.sends}",
            workers=workers, allow_other_workers=workers is not None,
        )  # fmt: skip
        flight.futures.append(future)
        ticket, done = flight.ticket, self._done
        future.add_done_callback(lambda over: done.put((ticket, over)))

    def _send_again(self, flight: Flight, why: str) -> None:
        if flight.sends < MOST_SENDS:
            self._send(flight)
        else:
            self._end(flight, error=TaskLostError(f"{why}, {flight.sends} times"))

    def _end(self, flight: Flight, error: Exception) -> None:
        del self._flights[flight.ticket]
        spent = time.monotonic() - flight.since
        self._over.append(Finished(flight.ticket, None, error, spent))

    def _take(self, ticket: int, future: Any) -> None:
        """Deal with a future that is over."""
        flight = self._flights.get(ticket)
        if flight is None or future not in flight.futures:
            return
        if future.status == "finished":
            self._bring(flight, future)
        elif future.status == "error":
            self._fail(flight, future.exception(timeout=ANSWER_SECONDS))
        else:
            flight.futures.remove(future)
            if not flight.futures:
                self._wait_for_workers()
                self._send_again(flight, "Dask cancelled it")

    def _bring(self, flight: Flight, future: Any) -> None:
        from distributed import CancelledError

        try:
            answer = future.result(timeout=GATHER_SECONDS)
        except (OSError, TimeoutError, CancelledError):
            flight.futures.remove(future)
            if not flight.futures:
                self._send_again(flight, "its worker did not hand over the result")
            return
        if isinstance(answer, str):
            self._welcome(flight, future, answer)
            return
        finished = received(flight.ticket, answer)
        del self._flights[flight.ticket]
        self._over.append(finished)
        self._seconds.append(finished.seconds)
        if len(self._seconds) == TINY_TASKS and sum(self._seconds) < TINY_SECONDS * TINY_TASKS:
            warn(
                f"{self.owner}: the first {TINY_TASKS} fits took "
                f"{sum(self._seconds) / TINY_TASKS:.3f} s each, about as long as sending them to "
                "a cluster. Leave executor out for work this small."
            )

    def _welcome(self, flight: Flight, future: Any, worker: str) -> None:
        """Send the data to a worker that does not have it, and the task again."""
        # Dask counts anew with each key, and a worker that was started anew has no data.
        flight.deaths += self.cluster.deaths(future.key)
        flight.futures.remove(future)
        if self._is_killer(flight, flight.deaths):
            return
        if self._given.get(worker, 0.0) < flight.since:
            self._give([worker])
        self._send_again(flight, f"its data did not stay on {worker}")

    def _is_killer(self, flight: Flight, deaths: int) -> bool:
        """End a task that has ended so many workers that it was no accident, and say whether."""
        if deaths >= SURE_DEATHS:
            self._end(flight, WorkerKillerError(f"{deaths} workers died at it"))
        return deaths >= SURE_DEATHS

    def _end_killers(self) -> None:
        """End tasks that workers die of, without waiting for a new worker to die of them."""
        for flight in list(self._flights.values()):
            now = sum(self.cluster.deaths(future.key) for future in flight.futures)
            self._is_killer(flight, flight.deaths + now)

    def _fail(self, flight: Flight, error: Any) -> None:
        from distributed import KilledWorker

        if isinstance(error, OtherVersionsError):
            raise self.cluster.other_versions(f"a worker: {error}") from error
        if not isinstance(error, KilledWorker):
            self._end(flight, error)
            return
        deaths = int(getattr(error, "allowed_failures", 0)) + 1
        last = getattr(error.last_worker, "address", "unknown")
        what = f"{deaths} worker{'s' if deaths > 1 else ''} died at it, the last at {last}"
        kind = WorkerKillerError if deaths >= SURE_DEATHS else TaskLostError
        self._end(flight, kind(what))

    def _look_after(self) -> None:
        """Find out whether there are workers, and which have stalled."""
        self.cluster.look()
        self._looked = now = time.monotonic()
        if self._seen - set(self.cluster.threads):
            self._end_killers()
        self._seen = set(self.cluster.threads)
        if not self.cluster.threads:
            self.cluster.complain_without_workers()
            return
        self.capacity = sum(self.cluster.threads.values())
        self._pass_on_stalled(now)

    def _pass_on_stalled(self, now: float) -> None:
        """Have the tasks of workers that are not heard of done elsewhere."""
        patience = max(SILENT_SECONDS, STALLED_TIMES * max(self._seconds, default=0.0))
        overdue = [f for f in self._flights.values() if now - f.since > patience]
        if not overdue:
            return
        at_work = self.cluster.at_work()
        for flight in overdue:
            places = {at_work.get(future.key, "") for future in flight.futures}
            if all(self.cluster.silent(a, SILENT_SECONDS) for a in places):
                self._send_again(flight, f"its worker {', '.join(places)} stalled")
