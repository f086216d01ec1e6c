"""What the runner asks of an executor, and the plainest one: this process.

An executor runs tasks somewhere: in this process, in threads, in local processes, on a
cluster. It knows nothing of learners, budgets or results that were stored; the runner does.
"""

import contextlib
import ctypes
import math
import mmap
import sys
import threading
import time
import traceback
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from foldwise.arrays import Array

ALIGNMENT = 64
# Files whose arrays tasks read in place.
MAPPED: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class TaskLostError(Exception):
    """The place a task ran at died: a worker was killed, a machine is gone.

    It says nothing about the learner, so the runner submits the task again, at last alone; a
    task that is lost again and again is taken for the killer.
    """


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
    worn : bool
        Whether its process keeps what the work has freed, so that a new one is worth more.

    Examples
    --------
    >>> from foldwise.engine import Finished
    >>> over = Finished(3, result=15, seconds=0.2)
    >>> over.ticket, over.result, over.error
    (3, 15, None)
    """

    ticket: int
    result: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    memory: int = 0
    worn: bool = False


class Executor(Protocol):
    """Runs tasks somewhere.

    Attributes
    ----------
    capacity : int
        How many tasks run at once. The runner keeps at most this many submitted.
    kills : bool
        Whether :meth:`cancel` really ends a task at work.

    Examples
    --------
    >>> from foldwise.engine import Executor
    >>> def add_all(executor: Executor, numbers):
    ...     executor.place(lambda shared, job: shared + job, 10)
    ...     for ticket, number in enumerate(numbers):
    ...         executor.submit(ticket, number)
    ...     return [executor.wait(None)[0].result for _ in numbers]
    >>> from foldwise.engine.executor import InProcess
    >>> add_all(InProcess(), [1, 2])
    [11, 12]
    """

    capacity: int
    kills: bool

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        """Put the function and the data where tasks run; tasks call ``work(shared, job)``.

        Called before the tasks of a plan, with none at work; what was placed before may go.
        Whoever must wait for somebody raises if that takes longer than ``within`` seconds.
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


def without_frames(error: Exception) -> Exception:
    """Return the error with its traceback as text: frames would keep the task's rows alive."""
    error.add_note("".join(traceback.format_tb(error.__traceback__)))
    part: BaseException | None = error
    while part is not None:
        part.__traceback__ = None
        part = part.__cause__ or part.__context__
    return error


def aligned_room(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return an empty array that begins at a multiple of 64 bytes."""
    size = dtype.itemsize * math.prod(shape)
    raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + size].view(dtype).reshape(shape)


def let_go() -> None:
    """Tell the system that what a task read of mapped arrays will not be wanted again soon."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for mapped in list(MAPPED):
            mapped.madvise(mmap.MADV_DONTNEED)


# Set by work whose memory its process will not get back; see ``Finished.worn``.
worn = threading.Event()


def give_back() -> None:
    """Give memory that was freed in small pieces back to the system, where the C library can."""
    # Windows knows no library without a name.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class Together:
    """A context of the whole process: entered with the first thread, left with the last.

    If each of several threads restored what it had found, that would be what another had set.
    """

    def __init__(self, make: Callable[[], contextlib.AbstractContextManager[Any]]) -> None:
        self._make, self._lock, self._inside = make, threading.Lock(), 0
        self._own = make()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._own = self._make()
                self._own.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._own.__exit__(None, None, None)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# No warning is shown.
QUIET = Together(_quiet)


@lru_cache(maxsize=4)
def _libraries(_n_modules: int, **which: str) -> ThreadpoolController:
    # Looking for the libraries takes milliseconds; more come only with modules.
    return ThreadpoolController().select(**which)


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    libraries = _libraries(len(sys.modules), user_api="blas").lib_controllers
    before = [(library, library.num_threads) for library in libraries]
    for library, _ in before:
        _set_threads(library, 1)
    try:
        yield
    finally:
        for library, number in before:
            _set_threads(library, number)


def _set_threads(library: Any, number: int) -> None:
    # New versions of threadpoolctl listen to one thread alone until that lets go.
    release: Any = getattr(library, "clear_controlling_thread", lambda **_: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)


_BLAS = Together(_one_blas_thread)


@contextlib.contextmanager
def one_thread(api: str) -> Iterator[None]:
    """Let libraries work in one thread: small products and few rows only wait on more.

    More threads of BLAS change the last bits, too. ``api``: "blas", for the whole process; or
    "openmp", for what the calling thread does.
    """
    # BLAS on top of OpenMP counts by thread.
    which = {"threading_layer": "openmp"} if api == "blas" else {"user_api": "openmp"}
    whole = _BLAS if api == "blas" else contextlib.nullcontext()
    with whole, _libraries(len(sys.modules), **which).limit(limits=1):
        yield


class InProcess:
    """Runs a task when it is waited for; learners keep their own thread settings."""

    capacity = 1
    kills = False

    def __init__(self) -> None:
        self._work: Any = None
        self._shared: Any = None
        self._waiting: deque[tuple[int, Any]] = deque()
        self._over: list[Finished] = []

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        """Remember the function and the data."""
        self._work, self._shared = work, shared

    def submit(self, ticket: int, job: Any) -> None:
        """Remember a task."""
        self._waiting.append((ticket, job))

    def wait(self, timeout: float | None) -> list[Finished]:
        """Do the next task, however long it takes."""
        over, self._over = self._over, []
        if over or not self._waiting:
            return over
        ticket, job = self._waiting.popleft()
        start, result, failed = time.perf_counter(), None, None
        try:
            result = self._work(self._shared, job)
        except Exception as error:
            failed = without_frames(error)
        return [Finished(ticket, result, failed, time.perf_counter() - start)]

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
