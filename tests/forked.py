"""Processes of their own that come up at once.

They are forked from a server that has imported the libraries and computed nothing, so that a test
pays for what its process does and not for two seconds of imports.
"""

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any, Self
from unittest import mock

from threadpoolctl import threadpool_limits

IMPORTED = [
    "foldwise.engine.dask.worker",
    "foldwise.stack",
    "foldwise.engine.processes.pool",
    "distributed.cli.dask_worker",
]
# Of those that start, unless they are told otherwise: so it shows who keeps to one.
THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}


def server() -> Any:
    """Return a context of multiprocessing whose processes have everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    with mock.patch.dict(os.environ, THREADS):
        forkserver.ensure_running()
    return context


class Forked:
    """A call, or ``python -c``, in a process of its own, with the names of ``subprocess.Popen``.

    It has this process's environment with ``env`` in it and leads a session. Its output and errors
    are appended to the file ``log``, or can be read.
    """

    def __init__(
        self,
        work: Callable[..., object] | str,
        *arguments: Any,
        env: dict[str, str] | None = None,
        log: str | None = None,
    ) -> None:
        context = server()
        pipes = [] if log else [context.Pipe(duplex=False) for _ in range(3)]
        # We write to the first and read from the others.
        theirs = [pair[k] for pair, k in zip(pipes, (0, 1, 1), strict=False)]
        ours = [pair[k] for pair, k in zip(pipes, (1, 0, 0), strict=False)]
        environment = {**os.environ, **(env or {})}
        self.process = context.Process(
            target=_begin, args=(work, arguments, environment, log, theirs)
        )
        self.process.start()
        for connection in theirs:
            connection.close()
        self.files = [_file(one, mode) for one, mode in zip(ours, "wrr", strict=False)]
        self.stdin, self.stdout, self.stderr = self.files or [None] * 3

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float = 100) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self.process.exitcode

    def communicate(self, words: str = "", timeout: float = 100) -> tuple[str, str]:
        """Say the last words and return what it said until it was over."""
        with self:
            with suppress(BrokenPipeError):
                self.stdin.write(words)
                self.stdin.close()
            said = self.stdout.read(), self.stderr.read()
            self.wait(timeout)
        return said

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        for file in self.files:
            with suppress(BrokenPipeError):
                file.close()


def _file(connection: Connection, mode: str) -> Any:
    handle = os.dup(connection.fileno())
    connection.close()
    return os.fdopen(handle, mode)


def _begin(
    work: Callable[..., object] | str,
    arguments: tuple[Any, ...],
    environment: dict[str, str],
    log: str | None,
    streams: list[Connection],
) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    if not environment.items() >= THREADS.items():
        # Not if they are as they are: the thread that sets them is the only one that can.
        threadpool_limits(int(environment.get("OMP_NUM_THREADS", 1)))
    for number, connection in enumerate(streams):
        os.dup2(connection.fileno(), number)
        connection.close()
    if log is not None:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
    sys.stdin = os.fdopen(0)
    try:
        if isinstance(work, str):
            sys.argv = ["-c", *map(str, arguments)]
            exec(compile(work, "<string>", "exec"), {"__name__": "__main__"})
        else:
            work(*arguments)
    finally:
        # Which a process that was forked would leave out.
        atexit._run_exitfuncs()
