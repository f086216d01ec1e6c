"""A Dask cluster, asked with deadlines: no question to it can hang."""

import asyncio
import concurrent.futures
import time
from functools import partial
from typing import Any

from foldwise.engine.dask.worker import OtherVersionsError, check_versions, keep
from foldwise.engine.versions import library_versions
from foldwise.errors import InvalidParameterError, Plain, invalid_parameter, warn

CONNECT_SECONDS = 15.0
ANSWER_SECONDS = 15.0
# A worker that takes data still says that it lives, and grows; one that does not is left out.
STALLED_SECONDS = 10.0
STILL_SECONDS, GROWTH_BYTES = 20.0, 1_000_000
NO_WORKER_SECONDS = 25.0
WARN_SECONDS = 10.0
LOST = (OSError, TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError)
# Before the tasks of other users of the cluster.
FIRST = 10


class Cluster:
    """A client, and what is known of the workers behind it."""

    def __init__(self, wanted: Any, owner: str) -> None:
        self.owner = owner
        self.own = isinstance(wanted, str)
        self.client = _connected(wanted, owner) if self.own else wanted
        self.address = wanted if self.own else str(getattr(wanted.scheduler, "address", wanted))
        if self.client.asynchronous:
            got = Plain("an asynchronous one")
            raise _refused(owner, "be a synchronous Dask client", got, "Use Client(address).")
        self.threads: dict[str, int] = {}
        self.beats: dict[str, tuple[float, float]] = {}
        self.memory: dict[str, int] = {}
        self.seen = time.monotonic()
        self.warned = False

    def ask(self, question: Any, *, within: float | None = None, **kwargs: Any) -> Any:
        """Return the answer to a coroutine function of the client or scheduler, in time."""
        self._check_connected()
        try:
            return self.client.sync(question, callback_timeout=within or ANSWER_SECONDS, **kwargs)
        except LOST as error:
            raise self.gone(f"{type(error).__name__}: {error}") from error

    def submit(self, function: Any, *args: Any, **options: Any) -> Any:
        """Return the future of a call on the cluster."""
        self._check_connected()
        return self.client.submit(function, *args, pure=False, **options)

    def _check_connected(self) -> None:
        if self.client.status != "running":
            raise self.gone(f"its client is {self.client.status}")

    def look(self) -> None:
        """Find out which workers there are and when each was last heard of."""
        found = self.ask(self.client.scheduler.identity, n_workers=-1)["workers"]
        now = time.monotonic()
        self.threads = {a: int(w["nthreads"]) for a, w in found.items()}
        self.memory = {a: int(w["metrics"].get("memory", 0)) for a, w in found.items()}
        self.seen = now if found else self.seen
        for address, worker in found.items():
            if self.beats.get(address, (None, 0.0))[0] != worker["last_seen"]:
                self.beats[address] = (worker["last_seen"], now)

    def silent(self, address: str, seconds: float) -> bool:
        """Tell whether nothing was heard of a worker for so long."""
        heard = self.beats.get(address)
        return heard is not None and time.monotonic() - heard[1] > seconds

    def wait_for_workers(self, within: float = float("inf")) -> None:
        """Return when there is a worker; raise if there is none for too long."""
        self.look()
        until = time.monotonic() + within
        while not self.threads:
            if time.monotonic() > until:
                raise self.gone(f"no worker within the time budget, after {within:.0f} s")
            self.complain_without_workers()
            time.sleep(0.2)
            self.look()

    def complain_without_workers(self) -> None:
        """Warn, and at last raise, if there has been no worker for some time."""
        spent = time.monotonic() - self.seen
        if spent > NO_WORKER_SECONDS:
            raise self.gone(f"no worker for {NO_WORKER_SECONDS:.0f} s")
        if spent > WARN_SECONDS and not self.warned:
            self.warned = True
            warn(
                f"{self.owner}: the cluster {self.address} has no worker; waiting for one, at most "
                f"{NO_WORKER_SECONDS:.0f} s. Start some."
            )

    def heard(self, seconds: float) -> list[str]:
        """Return the workers that are there and were heard of, all if none was."""
        return [a for a in self.threads if not self.silent(a, seconds)] or list(self.threads)

    def give(self, value: Any, name: str, workers: list[str]) -> dict[str, Any]:
        """Place something on workers; return the futures that keep it there, none if none can.

        It is sent to one of them, from which Dask hands it to the others as they ask for it.
        Dask's own broadcast holds a lock of the scheduler until the last worker has the data: one
        stopped worker, and nobody's data arrive any more.
        """
        start = time.monotonic()
        sent = (self._sent(value, address) for address in workers)
        data = next((arrived for arrived in sent if arrived is not None), None)
        if data is None:
            return {}
        submit = partial(self.submit, keep, data, name, priority=FIRST)
        kept = {address: submit(workers=[address]) for address in workers}
        self._settle(kept, ANSWER_SECONDS + 4 * (time.monotonic() - start))
        return kept

    def _sent(self, value: Any, worker: str) -> Any:
        """Send something to a worker; return None if it is lost, or nothing arrives any more."""

        async def scatter() -> Any:
            return await self.client.scatter(value, workers=[worker], hash=False, asynchronous=True)

        self._check_connected()
        sending = asyncio.run_coroutine_threadsafe(scatter(), self.client.loop.asyncio_loop)
        held, moved = 0, time.monotonic()
        while True:
            done, _ = concurrent.futures.wait([sending], timeout=1.0)
            try:
                if done:
                    return sending.result()
            except LOST:
                self._check_connected()
                return None
            self.look()
            if self.memory.get(worker, 0) >= held + GROWTH_BYTES:
                held, moved = self.memory[worker], time.monotonic()
            still = time.monotonic() - moved > STILL_SECONDS
            if still or worker not in self.threads or self.silent(worker, STALLED_SECONDS):
                sending.cancel()
                return None

    def _settle(self, futures: dict[str, Any], within: float = ANSWER_SECONDS) -> None:
        """Return when all are over, but for those of workers that are busy or not heard of.

        A worker that was not ready gets the data with its first task.
        """
        looked = time.monotonic()
        until = looked + within
        pending = set(futures)
        while pending and time.monotonic() < until:
            pending = {address for address in pending if futures[address].status == "pending"}
            if time.monotonic() > looked + 1.0:
                self.look()
                looked = time.monotonic()
                pending = {a for a in pending if not self.silent(a, STALLED_SECONDS)}
            time.sleep(0.01)
        for future in futures.values():
            if future.status == "error":
                error = future.exception(timeout=ANSWER_SECONDS)
                kind = "" if isinstance(error, OtherVersionsError) else f"{type(error).__name__}: "
                raise self.other_versions(f"a worker: {kind}{error}") from error

    def at_work(self) -> dict[str, str]:
        """Return which worker each task is at, from key to address."""
        found = self.ask(self.client.scheduler.processing, workers=None)
        return {key: address for address, keys in found.items() for key in keys}

    def deaths(self, key: str) -> int:
        """Return how many workers died with a task."""
        story = self.ask(self.client.scheduler.get_story, keys_or_stimuli=[key])
        return sum(tuple(step[:3]) == (key, "processing", "released") for step in story)

    def check_versions(self) -> None:
        """Refuse a cluster whose workers would give other bits."""
        ours = library_versions()
        submit = partial(self.submit, check_versions, ours, priority=FIRST)
        self._settle({address: submit(workers=[address]) for address in self.threads})

    def other_versions(self, what: str) -> InvalidParameterError:
        """Return the error for workers with other versions."""
        must = "be a cluster with the same versions as this process"
        fix = "Install the same packages on every worker."
        return _refused(self.owner, must, Plain(what), fix)

    def gone(self, why: str) -> InvalidParameterError:
        """Return the error for a cluster that is lost."""
        got = Plain(f"{self.address} ({why})")
        fix = "Run the same call again; with run_dir finished fits are kept and not repeated."
        return _refused(self.owner, "be a cluster that answers", got, fix)

    def close(self) -> None:
        """Close the client if it is ours."""
        if self.own:
            self.client.close(timeout=5)


def _connected(address: str, owner: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        must = "be None, 'processes' or 'threads' without the package distributed"
        raise _refused(owner, must, address, "Install foldwise[dask].") from error
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        must = "be the address of a running Dask scheduler"
        fix = "Start one, or give a Client that is connected."
        raise _refused(owner, must, address, fix) from error


def _refused(owner: str, must: str, got: Any, fix: str) -> InvalidParameterError:
    return invalid_parameter(owner, "executor", must=must, got=got, fix=fix)
