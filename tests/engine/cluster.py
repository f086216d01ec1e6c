"""A Dask cluster of real processes on loopback, to be killed by tests."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
START_SECONDS = 120.0


class LocalProcesses:
    """A scheduler and workers as separate processes that listen on loopback only."""

    def __init__(
        self, folder: Path, n_workers: int = 2, *, nanny: bool = False, allowed_failures: int = 3
    ) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.nanny = nanny
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures),
            # More than one, so that it shows whether tasks keep to one.
            "OMP_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "2",
        }
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.n_workers = n_workers

    def __enter__(self) -> Self:
        self.scheduler = self._start("dask_scheduler", "--port", "0")
        # The scheduler does not write it in one step.
        wait_until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))
        for _ in range(self.n_workers):
            self.add_worker()
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                # A nanny and its worker are one group.
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=10)

    @property
    def address(self) -> str:
        return json.loads(self.file.read_text())["address"]

    def add_worker(self) -> subprocess.Popen[bytes]:
        kind = "--nanny" if self.nanny else "--no-nanny"
        worker = self._start(
            "dask_worker",
            "--nthreads",
            "1",
            kind,
            "--local-directory",
            str(self.folder),
            "--preload",
            "foldwise.engine.dask.worker",
        )
        self.workers.append(worker)
        return worker

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable, "-m", f"distributed.cli.{name}",
            "--scheduler-file", str(self.file),
            "--host", "127.0.0.1",
            "--dashboard-address", "127.0.0.1:0",
            *arguments,
        ]  # fmt: skip
        log = (self.folder / f"{name}-{time.monotonic_ns()}.log").open("wb")
        with log:
            return subprocess.Popen(
                command,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )


def wait_until(condition, seconds: float = START_SECONDS) -> None:
    """Return when something holds; fail if it does not in time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not so after {seconds:.0f} s"
        time.sleep(0.02)
