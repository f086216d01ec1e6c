"""Tasks in local processes.

The processes need no ``if __name__ == "__main__"`` and take what is defined in a script: they are
forked from a server that imports but never computes, or loky's where that cannot be. Each has a
pipe of its own: the parent always knows which task is where. So a worker that is killed loses its
own task and no other, and a task that hangs can be ended without touching its neighbours. Idle
workers are kept for the next fit, for some minutes.
"""

import atexit
import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import send_handle
from typing import Any

from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.backend.process import LokyProcess

from foldwise.engine.executor import Finished, TaskEndedError, TaskLostError, give_back
from foldwise.engine.processes.packing import SMALL, Parcel, open_room, pack
from foldwise.engine.processes.server import Forked, Server
from foldwise.engine.processes.worker import (
    Surroundings,
    here,
    inherited,
    portable,
    received,
    serve,
)

POOLS = (
    "OMP_NUM",
    "OPENBLAS_NUM",
    "MKL_NUM",
    "BLIS_NUM",
    "VECLIB_MAXIMUM",
    "NUMEXPR_NUM",
    "NUMBA_NUM",
)
ONE_THREAD = {f"{pool}_THREADS": "1" for pool in POOLS}
# How long a silent death can go unnoticed: a learner's own children keep pipes open.
LOOK_SECONDS = 0.2
# A pipe holds at least this much that nobody has read.
PIPE_BYTES = 16_384

# How long a worker that has closed its pipe may take to end by itself, so that its end tells why.
DYING_SECONDS = 1.0

# Windows has no harder signal.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

_idle: list["_Worker"] = []
_coming: set["_Worker"] = set()
# By process, since one that is forked must have its own.
_servers: dict[int, Server] = {}
_making = threading.RLock()
if hasattr(os, "register_at_fork"):
    # Or a process forked while another thread holds it would wait for ever.
    os.register_at_fork(
        before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release
    )


class _Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        self.home, self.made = os.getpid(), inherited()
        self.pipe, theirs = multiprocessing.Pipe()
        self.process: Any = None
        self.ticket: int | None = None
        self.since = 0.0
        self.parcel: Parcel | None = None
        self.sender: threading.Thread | None = None
        self._unwanted, self._lock = False, threading.Lock()
        if sys.platform == "linux":
            # The first waits for imports: nobody else may have to.
            _coming.add(self)
            threading.Thread(target=self._fork, args=(_server(), theirs), daemon=True).start()
        else:
            self.process = self._spawn(theirs)

    def _fork(self, server: Server, theirs: Connection) -> None:
        """Have the process forked, or start one if that cannot be; without one the pipe closes."""
        process = None
        with contextlib.suppress(OSError), theirs:
            process = server.fork(theirs) or (None if self._unwanted else self._spawn(theirs))
        with self._lock:
            self.process = process
        _coming.discard(self)
        if self._unwanted:
            self.end()

    def _spawn(self, theirs: Connection) -> LokyProcess:
        # Not a daemon: those may have no children, and some learners want some.
        process = LokyProcess(target=serve, args=(theirs, self.home), env=ONE_THREAD)
        for tracker in (resource_tracker, loky_tracker) if os.name == "posix" else ():
            # Those that start with the first process let Ctrl-C through once they run.
            tracker.ensure_running()
        with _without_interrupts(), theirs:
            process.start()
        return process

    def send(self, *messages: tuple[Any, ...] | int) -> None:
        """Send messages and handles of files, in their order.

        What is small goes at once, what the pipe may not hold while nobody waits for it.
        """
        packed = [m if isinstance(m, int) else pickle.dumps(m) for m in messages]
        if sum(len(part) for part in packed if isinstance(part, bytes)) <= PIPE_BYTES:
            self._send(packed)
            return
        # A worker that is still coming up reads nothing: waiting for it would miss deadlines.
        self.sender = threading.Thread(target=self._send, args=(packed,), daemon=True)
        self.sender.start()

    def _send(self, packed: list[bytes | int]) -> None:
        # A worker that has just died is found by wait.
        with contextlib.suppress(OSError):
            for part in packed:
                if isinstance(part, bytes):
                    self.pipe.send_bytes(part)
                else:
                    # Only Windows asks whose it will be.
                    send_handle(self.pipe, part, getattr(self.process, "pid", 0))

    def state(self) -> str:
        """Return "alive", "over" (its number is still its own) or "gone"."""
        if self.home != os.getpid():
            return "gone"
        if self.process is None:
            return "alive"
        if not hasattr(os, "waitid"):
            return "alive" if self.process.is_alive() else "gone"
        try:
            # Not waited for, or its number could be another's when its group is ended.
            found = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "gone"
        return "alive" if found is None else "over"

    def is_alive(self) -> bool:
        return self.state() == "alive"

    def end(self) -> None:
        if self.home != os.getpid():
            return
        with self._lock:
            self._unwanted = True
            if self.process is None:
                # It is ended as soon as it is there.
                return
        if self.state() != "gone":
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    # The worker leads a group, so what its learner started ends with it.
                    os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                # It leads none before it has come up.
                os.kill(self.process.pid, KILL)
        self.process.join(1.0)
        if self.sender is not None:
            # It writes to a pipe that nobody reads any more, which is an error at once.
            self.sender.join(1.0)
        self.pipe.close()


def _server() -> Server:
    """Return the server of this process, which comes up in the background if it is new."""
    with _making, _without_interrupts():
        server = _servers.get(os.getpid())
        if server is not None and server.made != inherited():
            server.end()
        if server is None or not server.is_alive():
            server = _servers[os.getpid()] = Server(ONE_THREAD)
        return server


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back; a process started meanwhile holds it back until it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Processes:
    """Runs tasks in processes of this machine.

    Each process has one thread a pool. Data over 1 MB is written once to a file in the
    temporary folder (``TMPDIR``) and mapped read-only by each process. On Linux the file has no
    name, so that nothing is left of it however this process ends.
    """

    kills = True

    def __init__(self, n_workers: int) -> None:
        self.capacity = n_workers
        self._workers: list[_Worker] = []
        self._over: list[Finished] = []
        self._parcel: Parcel | None = None
        self._room: Any = None

    def place(self, work: Any, shared: Any, within: float = float("inf")) -> None:
        """Pack the function and the data; a worker gets them with its first task."""
        self._drop_parcel()
        self._room, where = open_room()
        self._parcel = pack((work, shared, Surroundings()), where)

    def submit(self, ticket: int, job: Any) -> None:
        """Give a task to a free worker."""
        worker = self._free()
        packed = portable(job)
        worker.ticket, worker.since = ticket, time.monotonic()
        messages: list[tuple[Any, ...] | int] = [("task", packed)]
        if self._parcel is not None and worker.parcel is not self._parcel:
            # A worker that was kept may know paths and variables of long ago. The data come
            # before the task, or the handle of the file they are in.
            room = self._room
            handle = [room.fileno()] if self._parcel.is_nameless else []
            name = room.name if isinstance(room.name, str) else None
            moved = ("move", *here(ONE_THREAD))
            messages[:0] = [moved, ("place", self._parcel, name), *handle]
            worker.parcel = self._parcel
        worker.send(*messages)

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return tasks that are over."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._over and any(worker.ticket is not None for worker in self._workers):
            left = LOOK_SECONDS if end is None else min(LOOK_SECONDS, end - time.monotonic())
            busy: dict[Any, _Worker] = {w.pipe: w for w in self._workers if w.ticket is not None}
            for pipe in wait(list(busy), max(left, 0.0)):
                self._receive(busy[pipe])
            for worker in [w for w in self._workers if w.ticket is not None and not w.is_alive()]:
                # It may have answered before it died.
                answered = worker.pipe.poll()
                (self._receive if answered else self._bury)(worker)
            if end is not None and time.monotonic() >= end:
                break
        over, self._over = self._over, []
        return over

    def running(self) -> dict[int, float]:
        """Return the tickets at work and since when."""
        return {w.ticket: w.since for w in self._workers if w.ticket is not None}

    def cancel(self, ticket: int, reason: str) -> None:
        """End a task by ending its process."""
        for worker in [w for w in self._workers if w.ticket == ticket]:
            seconds = time.monotonic() - worker.since
            self._over.append(Finished(ticket, None, TaskEndedError(reason), seconds))
            self._workers.remove(worker)
            worker.end()

    def close(self) -> None:
        """End what is at work; keep idle workers for the next fit."""
        for ticket in list(self.running()):
            self.cancel(ticket, "closed")
        for worker in self._workers:
            worker.send(("forget",))
            worker.parcel = None
        _idle.extend(self._workers)
        self._workers, self._over = [], []
        self._drop_parcel()

    def _free(self) -> _Worker:
        for worker in [w for w in self._workers if w.ticket is None]:
            if worker.is_alive():
                return worker
            self._workers.remove(worker)
            worker.end()
        worker = _kept() or _Worker()
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker) -> None:
        """Take a worker's answer; without one the worker is dead."""
        assert worker.ticket is not None
        try:
            answer = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            self._bury(worker)
            return
        self._over.append(received(worker.ticket, answer))
        worker.ticket = None
        if self._over[-1].worn and isinstance(worker.process, Forked):
            # Another is there at once.
            self._workers.remove(worker)
            worker.end()
        if len(answer) > SMALL:
            del answer
            # It was taken apart in several steps.
            give_back()

    def _bury(self, worker: _Worker) -> None:
        """Say that a worker's task is lost."""
        assert worker.ticket is not None
        until = time.monotonic() + DYING_SECONDS
        while worker.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        self._workers.remove(worker)
        seconds = time.monotonic() - worker.since
        worker.end()
        lost = TaskLostError(_cause(getattr(worker.process, "exitcode", None)))
        self._over.append(Finished(worker.ticket, None, lost, seconds))

    def _drop_parcel(self) -> None:
        # Workers still map it; POSIX gives the room back when they let go.
        if self._room is not None:
            self._room.close()
        self._parcel = self._room = None


def _kept() -> _Worker | None:
    """Return a worker that was kept, if one can be used; those that have left are waited for."""
    now = inherited()
    # Another thread may take the last.
    with contextlib.suppress(IndexError):
        while (worker := _idle.pop()).made != now or not worker.is_alive():
            worker.end()
        return worker
    return None


def warm(n_workers: int, needs: Any) -> None:
    """Start workers that will soon be wanted; meanwhile they import what ``needs`` is made of."""
    for _ in range(n_workers - len(_idle)):
        worker = _Worker()
        worker.send(("forget", needs))
        _idle.append(worker)


@atexit.register
def _end_idle() -> None:
    """End workers that were kept or are coming up, or this process would wait for them."""
    for worker in [*_idle, *_coming]:
        worker.end()
    _idle.clear()
    for server in _servers.values():
        server.end()


def _cause(exitcode: int | None) -> str:
    if exitcode is None:
        return "its process is gone"
    if exitcode >= 0:
        return f"its process ended with code {exitcode}"
    # Not every system names every signal.
    names = {number.value: number.name for number in signal.Signals}
    name = names.get(-exitcode, f"signal {-exitcode}")
    memory = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"its process was killed by {name}{memory}"
