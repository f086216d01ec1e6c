"""Workers that come up at once: forked, on Linux, from a process that has done their imports.

That server computes nothing and forks only while no other thread is in it, so that no lock and no
pool of threads is torn. What libraries hold is then held once for all workers. A new worker is
adopted by this process, which so has it as a child of its own, like one that it started.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.process import current_process
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import Any

import numpy as np
from joblib.externals.loky.backend.process import LokyProcess

from foldwise.engine.processes.worker import (
    FOLLOW_SECONDS,
    IDLE_SECONDS,
    PR_SET_PDEATHSIG,
    serve,
    settle,
)

# The server imports what this process has of these; a user's own modules may change.
SHARED = {"foldwise", "sklearn", "lightgbm", "xgboost", "catboost"}
# Threads that set their own locks right when their process is forked.
HARMLESS = {"jemalloc_bg_thd"}
PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
LOOK_SECONDS = 0.005
# Before its imports, which take seconds, it is settled that it ends with its parent.
START = f"""
import ctypes, os, sys
if {{}}:
    ctypes.CDLL(None).prctl({PR_SET_PDEATHSIG}, 9)
if os.getppid() != {{}}:
    os._exit(1)
sys.path[:] = {{!r}}
from {{}} import offer
offer"""


class Forked:
    """A worker that was forked, as far as a process is asked of it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.exitcode: int | None = None

    def join(self, seconds: float) -> None:
        """Wait for its end."""
        until = time.monotonic() + seconds
        with contextlib.suppress(ChildProcessError):
            while self.exitcode is None:
                found, status = os.waitpid(self.pid, os.WNOHANG)
                if found:
                    self.exitcode = os.waitstatus_to_exitcode(status)
                elif time.monotonic() > until:
                    return
                else:
                    time.sleep(LOOK_SECONDS)


class Server:
    """The process that workers are forked from; it starts in the background.

    ``environment``: What is set for it and its workers besides the environment of this process.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.home, self.environment, self.gone = os.getpid(), environment, False
        self._lock = threading.Lock()
        self._pipe, theirs = Pipe()
        # Linux ends a child with the thread that made it, not with the process.
        lasting = threading.current_thread() is threading.main_thread()
        code = START.format(lasting, self.home, [str(part) for part in sys.path], __name__)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{code}({theirs.fileno()}, {self.home})"],
                env={**os.environ, **environment},
                pass_fds=[theirs.fileno()],
            )

    def fork(self, pipe: Connection) -> Forked | None:
        """Return a new worker at the other end of the pipe; None if there can be none."""
        parts = {name: name.split(".") for name in list(sys.modules)}
        # To import what runs as a program would be to run it.
        modules = [n for n, part in parts.items() if part[0] in SHARED and part[-1] != "__main__"]
        around = _around(self.environment)
        streams = [handle for handle in (1, 2) if _is_open(handle)]
        with self._lock, _adopting():
            try:
                self._pipe.send_bytes(pickle.dumps((modules, streams, around)))
                for handle in (pipe.fileno(), *streams):
                    send_handle(self._pipe, handle, self._process.pid)
                pid = int(self._pipe.recv_bytes())
            except (OSError, EOFError):
                self.end()
                return None
            with contextlib.suppress(OSError):
                # A worker that is not ours, or none, is an error.
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                return Forked(pid)
        return None

    def is_alive(self) -> bool:
        """Tell whether it has not been killed and has not left."""
        return not self.gone and self._process.poll() is None

    def end(self) -> None:
        """End the server; its workers stay."""
        if self.home == os.getpid() and not self.gone:
            self.gone = True
            self._process.kill()
            self._process.wait()


def _around(environment: dict[str, str]) -> tuple[Any, ...]:
    """Return what a worker must find as it is here: variables, paths, arguments, folder, key."""
    folder = "."
    with contextlib.suppress(OSError):
        # It may have been removed.
        folder = str(Path.cwd())
    key = bytes(current_process().authkey)
    return {**os.environ, **environment}, list(sys.path), list(sys.argv), folder, key


def _is_open(handle: int) -> bool:
    with contextlib.suppress(OSError):
        return bool(os.fstat(handle))
    return False


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Make this process the parent of what its children leave behind, for a moment."""
    control, before = ctypes.CDLL(None).prctl, ctypes.c_int(0)
    control(PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    control(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        control(PR_SET_CHILD_SUBREAPER, before.value)


def offer(handle: int, parent: int) -> None:
    """Import and fork as asked, until the parent is gone or idle; this is the server."""
    settle()
    requests, since = Connection(handle), time.monotonic()
    while os.getppid() == parent and time.monotonic() < since + IDLE_SECONDS:
        if not requests.poll(FOLLOW_SECONDS):
            continue
        try:
            modules, streams, around = pickle.loads(requests.recv_bytes())
            handles = [recv_handle(requests) for _ in range(1 + len(streams))]
        except (EOFError, OSError):
            return
        with warnings.catch_warnings():
            # Python warns of any second thread.
            warnings.simplefilter("ignore")
            for name in modules:
                # Whoever needs it will say what is wrong with it.
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
            pid = _fork(requests, parent, (handles, streams, around)) if _is_alone() else 0
        for handle in handles:
            os.close(handle)
        requests.send_bytes(str(pid).encode())
        since = time.monotonic()


def _is_alone() -> bool:
    """Tell whether no other thread could hold a lock that a fork would leave locked."""
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    return sum(name not in HARMLESS for name in names) == 1


def _fork(requests: Connection, parent: int, given: tuple[Any, ...]) -> int:
    """Return the number of a worker that is orphaned at once, for the parent to adopt."""
    gc.freeze()
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            between = os.getpid()
            pid = os.fork()
            if pid == 0:
                for handle in (requests.fileno(), reading, writing):
                    os.close(handle)
                work = LokyProcess(target=_come_up, args=(between, parent, *given))
                os._exit(work._bootstrap())
            os.write(writing, str(pid).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(between, 0)
    with os.fdopen(reading) as told:
        return int(told.read() or 0)


def _come_up(
    between: int, parent: int, handles: list[int], streams: list[int], around: tuple[Any, ...]
) -> None:
    """Be a worker, in the surroundings that the parent has now."""
    pipe, *given = handles
    for handle, stream in zip(given, streams, strict=True):
        os.dup2(handle, stream)
        os.close(handle)
    environment, sys.path[:], sys.argv[:], folder, current_process().authkey = around
    os.environ.clear()
    os.environ.update(environment)
    with contextlib.suppress(OSError):
        os.chdir(folder)
    # Or all workers would draw the same.
    np.random.seed()  # noqa: NPY002
    while os.getppid() == between:
        time.sleep(LOOK_SECONDS / 5)
    serve(Connection(pipe), parent, lasting=True)
