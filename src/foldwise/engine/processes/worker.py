"""The other side of every pool: one task with its surroundings, its time and its memory.

:func:`perform` does a task wherever it runs and :func:`received` takes in what it returned;
:func:`serve` is the loop of our own worker processes.
"""

import contextlib
import ctypes
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import current_process
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import Any

import joblib
import sklearn
from cloudpickle import dumps

from foldwise.engine.executor import Finished, give_back, without_frames, worn

IDLE_SECONDS = 300.0
FOLLOW_SECONDS = 0.5
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Surroundings:
    """What a task elsewhere must find as it is here: scikit-learn's settings, warning filters."""

    settings: dict[str, Any] = field(default_factory=sklearn.get_config)
    filters: tuple[Any, ...] = field(default_factory=lambda: tuple(warnings.filters))

    @contextmanager
    def __call__(self) -> Iterator[list[warnings.WarningMessage]]:
        """Set them for a while; warnings are collected, to be issued at home."""
        with (
            sklearn.config_context(**self.settings),
            joblib.parallel_config(backend="sequential"),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.filters = list(self.filters)
            yield said


def here(environment: dict[str, str]) -> tuple[Any, ...]:
    """Return what :func:`move_to` needs: variables, paths, arguments, folder and key of now.

    ``environment``: Variables that are to be others there.
    """
    folder = "."
    with contextlib.suppress(OSError):
        # It may have been removed.
        folder = str(Path.cwd())
    key = bytes(current_process().authkey)
    path = [str(part) for part in sys.path]
    return {**os.environ, **environment}, path, list(sys.argv), folder, key


def inherited() -> tuple[str, ...]:
    """Return what a process keeps as it was when it was started, as far as the system tells.

    The limits of memory and files, the processors it may use and whom its files are open to.
    """
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        kept = [line for line in lines if line.startswith(("Umask:", "Cpus_allowed:"))]
        return *kept, Path("/proc/self/limits").read_text()
    return ()


def move_to(
    environment: dict[str, str], path: list[str], arguments: list[str], folder: str, key: bytes
) -> None:
    """Make this process find what another one finds, so that it can import what that one has."""
    if os.environ != environment:
        os.environ.clear()
        os.environ.update(environment)
    sys.path[:], sys.argv[:], current_process().authkey = path, arguments, key
    with contextlib.suppress(OSError):
        os.chdir(folder)


# What was said already, by place, as every module keeps for its own warnings.
_said: dict[Any, Any] = {}


def perform(work: Any, shared: Any, job: bytes, around: Surroundings) -> bytes:
    """Do one task in another process and return everything about it, pickled.

    ``work, shared, job``: ``work(shared, job)`` is called; the job comes as :func:`portable` made
    it, since what it is made of may not be known here. If a list is returned, each item travels on
    its own, so that one that cannot be pickled does not take the others with it.
    """
    result: Any = None
    error: Any = None
    said: list[warnings.WarningMessage] = []
    before = resident()
    start = time.perf_counter()
    try:
        with around() as said:
            opened = pickle.loads(job)
            # Of many rows their numbers alone are much.
            del job
            if isinstance(opened, UnsendableError):
                raise opened
            result = work(shared, opened)
    except Exception as raised:
        error = without_frames(raised)
    seconds = time.perf_counter() - start
    memory = max(highest() - before, 0)
    several = isinstance(result, list)
    parts = deque(result if several else [result])
    del result
    warned = [(str(w.message), w.category, w.filename, w.lineno) for w in said]
    return pickle.dumps(
        {
            # Each is let go of once it is packed.
            "parts": [portable(parts.popleft()) for _ in range(len(parts))],
            "several": several,
            "error": portable(error),
            "seconds": seconds,
            "memory": memory,
            "worn": worn.is_set(),
            "warned": [portable(warning) for warning in warned],
        }
    )


def received(ticket: int, answer: bytes) -> Finished:
    """Return a task's end from what :func:`perform` returned, and issue its warnings."""
    told = pickle.loads(answer)
    for warning in map(_opened, told["warned"]):
        if not isinstance(warning, UnsendableError):
            text, category, filename, line = warning
            warnings.warn_explicit(text, category, filename, line, registry=_said)
    parts = deque(told.pop("parts"))
    results = [_opened(parts.popleft()) for _ in range(len(parts))]
    result = results if told["several"] else results[0]
    error = _opened(told["error"]) or (result if isinstance(result, UnsendableError) else None)
    result = result if error is None else None
    return Finished(ticket, result, error, told["seconds"], told["memory"], told["worn"])


class UnsendableError(Exception):
    """A task or a result could not be sent from the process it was made in."""


def portable(value: Any) -> bytes:
    """Pickle something, or an error that says why not; some errors only fail when read."""
    try:
        packed = dumps(value)
        if isinstance(value, BaseException):
            pickle.loads(packed)
    except Exception as why:
        if isinstance(value, BaseException):
            kept: Exception = RuntimeError(f"{type(value).__name__}: {value}")
        else:
            kept = UnsendableError(
                f"its model cannot be sent between processes ({type(why).__name__}: {why})"
            )
        return bytes(dumps(kept))
    return bytes(packed)


def _opened(packed: bytes) -> Any:
    try:
        return pickle.loads(packed)
    except Exception as why:
        return UnsendableError(
            f"its model cannot be read back from another process ({type(why).__name__}: {why})"
        )


def resident() -> int:
    """Return the bytes this process holds, and start its high-water mark anew; 0 if unknown."""
    try:
        # Linux: 5 sets the high-water mark back to what is held now.
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return highest()
    return _status("VmRSS:")


def highest() -> int:
    """Return the most bytes this process held since :func:`resident`; 0 if unknown."""
    return _status("VmHWM:")


def _status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def serve(connection: Connection, parent: int, lasting: bool = False) -> None:
    """Do what comes through the connection until it closes.

    ``lasting``: Whether Linux is to end this process with the thread that started it.
    """
    settle(lasting=lasting)
    folders: list[str] = []
    follow = threading.Thread(target=_follow, args=(parent, folders), daemon=True)
    follow.start()
    placed: Any = None
    while connection.poll(IDLE_SECONDS):
        try:
            kind, *content = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            # A parent that was killed leaves its data to be cleared away.
            follow.join(2 * FOLLOW_SECONDS)
            return
        if kind == "task":
            work, shared, around = placed
            connection.send_bytes(perform(work, shared, content.pop(), around))
            del work, shared
            # Nothing of a task is held while the next is waited for.
            give_back()
            continue
        if kind == "move":
            move_to(*content)
            continue
        placed = None
        give_back()
        if kind == "place":
            parcel, folder = content
            folders[:] = [] if folder is None else [folder]
            if parcel.is_nameless:
                parcel = replace(parcel, file=recv_handle(connection))
            try:
                placed = parcel.open()
            except (ImportError, AttributeError) as error:
                # Every task that wants it will say so.
                placed = _refuse, error, Surroundings()


def _refuse(error: Exception, _job: Any) -> None:
    raise error


def settle(*, lasting: bool = False) -> None:
    """Lead a group of processes that is deaf to Ctrl-C, and end with the parent if asked to."""
    # Ctrl-C reaches every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    if hasattr(os, "setsid"):
        os.setsid()
    if lasting:
        with contextlib.suppress(OSError, AttributeError):
            # Even while a learner holds Python's lock.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _follow(parent: int, folders: list[str]) -> None:
    """End with a parent that was killed, and clear away the data it left behind."""
    while os.getppid() == parent:
        time.sleep(FOLLOW_SECONDS)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
