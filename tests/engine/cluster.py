"""A Dask cluster of real processes on loopback, to be killed by tests."""

import importlib
import json
import threading
import time
from pathlib import Path
from typing import Self

from tests.forked import THREADS, Forked

START_SECONDS = 120.0


class LocalProcesses:
    """A scheduler and workers as separate processes that listen on loopback only.

    With ``replaced``, a worker takes the place of each that dies, as nannies see to it.
    """

    def __init__(
        self, folder: Path, n_workers: int = 2, *, replaced: bool = False, allowed_failures: int = 3
    ) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.replaced = replaced
        self.settings = {"distributed.scheduler.allowed-failures": allowed_failures}
        self.over = threading.Event()
        self.keeper = threading.Thread(target=self._replace)
        self.scheduler: Forked | None = None
        self.workers: list[Forked] = []
        self.n_workers = n_workers

    def __enter__(self) -> Self:
        self.scheduler = self._start("dask_scheduler", "--port", "0")
        # The scheduler does not write it in one step.
        wait_until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))
        for _ in range(self.n_workers):
            self.add_worker()
        if self.replaced:
            self.keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.replaced:
            self.keeper.join()
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def _replace(self) -> None:
        while not self.over.wait(0.05):
            if sum(worker.poll() is None for worker in self.workers) < self.n_workers:
                self.add_worker()

    @property
    def address(self) -> str:
        return json.loads(self.file.read_text())["address"]

    def add_worker(self) -> Forked:
        worker = self._start(
            "dask_worker",
            "--nthreads",
            "1",
            "--no-nanny",
            "--local-directory",
            str(self.folder),
            "--preload",
            "foldwise.engine.dask.worker",
        )
        self.workers.append(worker)
        return worker

    def _start(self, name: str, *arguments: str) -> Forked:
        options = [
            "--scheduler-file", str(self.file),
            "--host", "127.0.0.1",
            "--dashboard-address", "127.0.0.1:0",
            *arguments,
        ]  # fmt: skip
        log = self.folder / f"{name}-{time.monotonic_ns()}.log"
        # More threads than one, so that it shows whether tasks keep to one.
        return Forked(_dask, name, options, self.settings, env=THREADS, log=str(log))


def _dask(name: str, options: list[str], settings: dict[str, int]) -> None:
    import dask

    from foldwise.engine.dask import worker

    dask.config.set(settings)
    worker.LEASE_SECONDS = 1.5
    importlib.import_module(f"distributed.cli.{name}").main(options)


def wait_until(condition, seconds: float = START_SECONDS) -> None:
    """Return when something holds; fail if it does not in time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not so after {seconds:.0f} s"
        time.sleep(0.02)
