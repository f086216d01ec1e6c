"""Tasks in any ``concurrent.futures.Executor``: threads, processes, MPI, Ray.

mpi4py's ``MPIPoolExecutor`` is one already::

    with MPIPoolExecutor() as pool:
        StackingRegressor(learners, executor=pool).fit(X, y)

Anything that can run a function elsewhere becomes one in a few lines; for Ray::

    class RayExecutor(concurrent.futures.Executor):
        def submit(self, function, /, *args):
            return ray.remote(max_retries=0)(function).remote(*args).future()

Only bytes travel, so the executor's own pickling does not matter. Data over 1 MB goes through
a file in the temporary folder (``TMPDIR``): for workers on other machines, that folder must be
one they can read too. For Python's own process pools the file has no name where the system can do
without, so that nothing is left of it if this process is killed. A task at work cannot be ended,
only forgotten.
"""

import contextlib
import os
import pickle
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures import wait as wait_for
from dataclasses import replace
from typing import Any
from uuid import uuid4

from sklearn import config_context, get_config

from foldwise.engine.executor import (
    Finished,
    TaskEndedError,
    TaskLostError,
    one_thread,
    without_frames,
)
from foldwise.engine.processes.packing import Parcel, open_room, pack
from foldwise.engine.processes.worker import Surroundings, perform, portable, received
from foldwise.errors import InvalidParameterError, Plain, invalid_parameter

_opened: dict[str, Any] = {}
# Of each thread: the pools whose tasks it is in.
_inside = threading.local()


def is_inside(pool: Executor) -> bool:
    """Tell whether this thread is doing a task of the pool, which then must not wait for it."""
    outer: tuple[Executor, ...] = getattr(_inside, "pools", ())
    thread = threading.current_thread()
    # A pool notes its new thread only when that is at work already; its name is there before.
    prefix = f"{getattr(pool, '_thread_name_prefix', None)}_"
    own = thread in getattr(pool, "_threads", ()) or thread.name.startswith(prefix)
    if pool not in outer and own:
        # The user handed the whole fit to the pool; tasks begun from here are inside it too.
        _inside.pools = outer = (*outer, pool)
    return pool in outer


class Futures:
    """Runs tasks in an executor of the user's; it is not shut down.

    ``capacity``: How many at once; None asks the pool for its number of workers.
    """

    kills = False

    def __init__(self, pool: Executor, capacity: int | None = None, owner: str = "Futures") -> None:
        self._pool, self._owner = pool, owner
        self._inside = (*getattr(_inside, "pools", ()), pool)
        self.remote = not isinstance(pool, ThreadPoolExecutor)
        workers = getattr(pool, "_max_workers", None)
        self.capacity = int(capacity or workers or os.cpu_count() or 1)
        self._room: Any = None
        self._futures: dict[Future[Any], tuple[int, float]] = {}
        self._over: list[Finished] = []
        self._placed: Any = None

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        """Pack the function and the data; threads share them as they are."""
        self._placed = (work, shared, get_config())
        if not self.remote:
            return
        self._drop_room()
        # Processes of this machine can open what this one has open; others need a name.
        self._room, where = open_room(nameless=isinstance(self._pool, ProcessPoolExecutor))
        parcel = pack((work, shared, Surroundings()), where)
        if parcel.is_nameless:
            parcel = replace(parcel, file=f"/proc/{os.getpid()}/fd/{self._room.fileno()}")
        self._placed = pickle.dumps((uuid4().hex, parcel))

    def submit(self, ticket: int, job: Any) -> None:
        """Hand a task to the pool."""
        try:
            future: Future[Any] = (
                self._pool.submit(_do_elsewhere, self._placed, portable(job))
                if self.remote
                else self._pool.submit(_do_in_thread, self._placed, job, self._inside)
            )
        except BrokenExecutor as error:
            raise self._broken(error) from error
        except Exception as error:
            self._over.append(Finished(ticket, None, _as_lost(error)))
            return
        self._futures[future] = (ticket, time.monotonic())

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return tasks that are over."""
        if not self._over and self._futures:
            done, _ = wait_for(self._futures, timeout, return_when="FIRST_COMPLETED")
            for future in done:
                ticket, since = self._futures.pop(future)
                if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
                    raise self._broken(future.exception()) from future.exception()
                self._over.append(_finished(future, ticket, time.monotonic() - since))
        over, self._over = self._over, []
        return over

    def _broken(self, error: Any) -> InvalidParameterError:
        """Return the error for a pool that will never do a task again, whoever broke it."""
        must, got = "be a pool that works", Plain(f"a broken one ({type(error).__name__}: {error})")
        fix = "Make a new one; with run_dir finished fits are kept and not repeated."
        return invalid_parameter(self._owner, "executor", must=must, got=got, fix=fix)

    def running(self) -> dict[int, float]:
        """Return the tickets at work and since when, as far as known."""
        return {t: since for future, (t, since) in self._futures.items() if future.running()}

    def cancel(self, ticket: int, reason: str) -> None:
        """Forget a task; one at work goes on without anybody waiting for it."""
        for future in [f for f, (number, _) in self._futures.items() if number == ticket]:
            future.cancel()
            _, since = self._futures.pop(future)
            error = TaskEndedError(reason)
            self._over.append(Finished(ticket, None, error, time.monotonic() - since))

    def close(self) -> None:
        """Forget all tasks."""
        for future in self._futures:
            future.cancel()
        self._futures, self._over, self._placed = {}, [], None
        self._drop_room()

    def _drop_room(self) -> None:
        if self._room is not None:
            self._room.close()
        self._room = None


class Threads(Futures):
    """Runs tasks in threads of this process, for learners that release the GIL."""

    def __init__(self, n_threads: int) -> None:
        super().__init__(ThreadPoolExecutor(n_threads, thread_name_prefix="foldwise"))

    def close(self) -> None:
        """Forget all tasks; the threads end with what they are doing."""
        super().close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _finished(future: Future[Any], ticket: int, seconds: float) -> Finished:
    try:
        answer = future.result()
    except (Exception, CancelledError) as error:
        return Finished(ticket, None, _as_lost(error), seconds)
    if isinstance(answer, bytes):
        return received(ticket, answer)
    result, raised, took = answer
    return Finished(ticket, result, raised, took)


def _as_lost(error: BaseException) -> TaskLostError:
    """Return what an executor raised by itself: our tasks never raise."""
    return TaskLostError(f"its executor failed ({type(error).__name__}: {error})")


def _do_in_thread(
    placed: tuple[Any, Any, dict[str, Any]], job: Any, pools: tuple[Executor, ...]
) -> tuple[Any, Exception | None, float]:
    work, shared, config = placed
    before, _inside.pools = getattr(_inside, "pools", ()), pools
    start = time.perf_counter()
    try:
        # Both count by thread; BLAS is limited for all while a stack is fitted.
        with config_context(**config), one_thread("openmp"):
            return work(shared, job), None, time.perf_counter() - start
    except Exception as error:
        return None, without_frames(error), time.perf_counter() - start
    finally:
        _inside.pools = before


def _do_elsewhere(packed: bytes, job: bytes) -> bytes:
    """Do a task in a process that may have opened the same parcel before."""
    parcel: Parcel
    key, parcel = pickle.loads(packed)
    if key not in _opened:
        _opened.clear()
        with contextlib.suppress(OSError):
            _opened[key] = parcel.open()
        if key not in _opened:
            raise FileNotFoundError(
                f"{parcel.file} cannot be read here. Set TMPDIR to a folder that all workers see."
            )
    work, shared, around = _opened[key]
    with one_thread("blas"), one_thread("openmp"):
        return perform(work, shared, job, around)
