"""Workers that come up at once: forked, on Linux, from a process that has done their imports.

That server computes nothing and forks only while no other thread is in it, so that no lock and no
pool of threads is torn. What libraries hold is then held once for all workers. A new worker is
adopted by this process, which so has it as a child of its own, like one that it started.
"""

import contextlib
import ctypes
import gc
import importlib
import io
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from multiprocessing.util import _args_from_interpreter_flags  # type: ignore[attr-defined]
from pathlib import Path

import numpy as np
from joblib.externals.loky.backend.process import LokyProcess

from foldwise.engine.processes.worker import (
    FOLLOW_SECONDS,
    IDLE_SECONDS,
    PR_SET_PDEATHSIG,
    here,
    inherited,
    move_to,
    serve,
    settle,
)

# The server imports what this process has of these; a user's own modules may change.
SHARED = {"foldwise", "sklearn", "lightgbm", "xgboost", "catboost"}
# Threads that set their own locks right when their process is forked, and one that waits for polars
# to have written to disk, which CatBoost imports.
HARMLESS = {"jemalloc_bg_thd", "polars-ooc-clea"}
PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
LOOK_SECONDS = 0.005
# Before its imports, which take seconds, it is settled that it ends with its parent.
START = f"""
import ctypes, os, sys
from multiprocessing.connection import Connection
parent, lasting = map(int, sys.argv[1:])
if lasting:
    ctypes.CDLL(None).prctl({PR_SET_PDEATHSIG}, 9)
if os.getppid() != parent:
    os._exit(1)
requests = Connection(0)
sys.path[:] = requests.recv()
from {__name__} import offer
offer(requests, parent)
"""


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
        self.made = inherited()
        self._lock = threading.Lock()
        self._pipe, theirs = Pipe()
        # Linux ends a child with the thread that made it, and only this one lasts.
        lasting = int(threading.get_native_id() == self.home)
        with theirs:
            self._process = subprocess.Popen(
                # As this process was started, and with nothing imported from its folder.
                [sys.executable, *_args_from_interpreter_flags(), "-P", "-c", START]
                + [str(self.home), str(lasting)],
                env={**os.environ, **environment},
                # Its streams are open, or what it is handed would take their numbers.
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        with contextlib.suppress(OSError):
            self._pipe.send([str(part) for part in sys.path])

    def fork(self, pipe: Connection) -> Forked | None:
        """Return a new worker at the other end of the pipe; None if there can be none."""
        parts = {name: name.split(".") for name in list(sys.modules)}
        # To import what runs as a program would be to run it.
        modules = [n for n, part in parts.items() if part[0] in SHARED and part[-1] != "__main__"]
        # A worker waits for a word: one that nobody knows of would take another's tasks.
        word, told = Pipe(duplex=False)
        with self._lock, word, told:
            try:
                self._pipe.send((modules, here(self.environment)))
                # Imports take seconds; who else is orphaned meanwhile is not ours.
                self._pipe.recv_bytes()
                with _adopting():
                    self._pipe.send(streams := _streams())
                    for handle in (pipe.fileno(), word.fileno(), *streams):
                        send_handle(self._pipe, handle, self._process.pid)
                    pid = int(self._pipe.recv_bytes())
                if pid:
                    # One that is not ours is an error.
                    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                    worker = Forked(pid)
                    told.send_bytes(b"")
                    return worker
            except (OSError, EOFError):
                self.end()
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


def _streams() -> list[int]:
    """Return which of output and errors are open here; without one its number is another's."""
    found = []
    for handle, stream in ((1, sys.__stdout__), (2, sys.__stderr__)):
        with contextlib.suppress(OSError):
            if stream is not None and os.fstat(handle):
                found.append(handle)
    return found


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


def offer(requests: Connection, parent: int) -> None:
    """Import and fork as asked, until the parent is gone or idle; this is the server."""
    settle()
    since = time.monotonic()
    # Where it cannot go on, the parent finds that it has ended.
    with contextlib.suppress(EOFError, OSError), warnings.catch_warnings():
        # Python warns of any second thread.
        warnings.simplefilter("ignore")
        while os.getppid() == parent and time.monotonic() < since + IDLE_SECONDS:
            if requests.poll(FOLLOW_SECONDS):
                _answer(requests, parent)
                since = time.monotonic()


def _answer(requests: Connection, parent: int) -> None:
    """Import and then fork once, in the surroundings that the parent has now."""
    modules, here = requests.recv()
    move_to(*here)
    for name in modules:
        # Whoever needs it will say what is wrong with it.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    requests.send_bytes(b"ready")
    streams = requests.recv()
    handles = [recv_handle(requests) for _ in range(2 + len(streams))]
    pid = _fork(requests, parent, handles, streams) if _is_alone() else 0
    for handle in handles:
        os.close(handle)
    requests.send_bytes(str(pid).encode())


def _is_alone() -> bool:
    """Tell whether no other thread could hold a lock that a fork would leave locked."""
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    return sum(name not in HARMLESS for name in names) == 1


def _fork(requests: Connection, parent: int, handles: list[int], streams: list[int]) -> int:
    """Return the number of a worker that is orphaned at once, for the parent to adopt."""
    gc.freeze()
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            pid = os.fork()
            if pid == 0:
                for handle in (requests.fileno(), reading, writing):
                    os.close(handle)
                work = LokyProcess(target=_come_up, args=(parent, handles, streams))
                os._exit(work._bootstrap())
            os.write(writing, str(pid).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with contextlib.suppress(ChildProcessError):
        # Nobody waits for children where their signal is ignored.
        os.waitpid(between, 0)
    with os.fdopen(reading) as told:
        return int(told.read() or 0)


def _come_up(parent: int, handles: list[int], streams: list[int]) -> None:
    """Be a worker, once the parent knows of it."""
    pipe, word, *given = handles
    for handle, stream in zip(given, streams, strict=True):
        os.dup2(handle, stream)
        os.close(handle)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # It may be killed before it has said the rest.
        sys.stdout.reconfigure(line_buffering=True)
    # Or all workers would draw the same.
    np.random.seed()  # noqa: NPY002
    with os.fdopen(word, "rb") as told:
        if not told.read(1):
            return
    serve(Connection(pipe), parent, lasting=True)
