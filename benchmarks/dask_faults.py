"""Six faults of a Dask cluster: each fit ends or goes on, and never waits over 30 s for anything.

A scheduler and workers are processes of this machine, on loopback. While a stack of slow learners
is fitted: no workers at all; a worker stopped (SIGSTOP) while data are placed; a worker killed at
work; all workers killed and replaced; the scheduler stopped; a learner that ends every worker.
Printed is the longest time, from the fault on, in which nothing was told and nothing ended.

    python benchmarks/dask_faults.py [--only NAME ...]

The ratio is 30 s over the longest wait of all.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from foldwise import StackingRegressor
from foldwise.engine.dask.executor import DaskExecutor
from tests.engine.cluster import LocalProcesses, wait_until
from tests.engine.odd import Odd

LONGEST = 30.0
SLOW = [("slow", Odd(seconds=1.0)), ("also", Odd(seconds=0.7))]
KILLER = [("killer", Odd("exits", seconds=0.2)), ("slow", Odd(seconds=0.5))]
Fault = Callable[[LocalProcesses], None]


def send(number: int, *which: int) -> Fault:
    """Return a fault that sends a signal to workers."""
    return lambda cluster: [cluster.workers[i].send_signal(number) for i in which] and None


def replace_all(cluster: LocalProcesses) -> None:
    for worker in list(cluster.workers):
        worker.kill()
    for _ in range(2):
        cluster.add_worker()


def stop_scheduler(cluster: LocalProcesses) -> None:
    cluster.scheduler.send_signal(signal.SIGSTOP)


def nothing(_: LocalProcesses) -> None:
    pass


# Workers, whether others take the place of those that die, learners, when ("place": while data are
# placed, else the number of fits that are done), and what happens then.
FAULTS: dict[str, tuple[int, bool, Any, Any, Fault]] = {
    "no workers": (0, False, SLOW, "place", nothing),
    "stopped while data are placed": (2, False, SLOW, "place", send(signal.SIGSTOP, 0)),
    "killed at work": (2, False, SLOW, 1, send(signal.SIGKILL, 0)),
    "all killed and replaced": (2, False, SLOW, 1, replace_all),
    "scheduler stops": (2, False, SLOW, 1, stop_scheduler),
    "poisoned task": (2, True, KILLER, "place", nothing),
}


def attempt(name: str, folder: Path) -> tuple[float, str]:
    """Return the longest wait after a fault, and how the fit ended."""
    n_workers, replaced, learners, when, fault = FAULTS[name]
    X = np.random.default_rng(0).normal(size=(400_000, 10))
    with LocalProcesses(folder, n_workers, replaced=replaced) as cluster:
        if n_workers:
            look = DaskExecutor(cluster.address)
            wait_until(lambda: look.cluster.look() or len(look.cluster.threads) == n_workers)
            look.close()
        told, since = [], [float("inf")]

        def strike() -> None:
            since[0] = time.monotonic()
            fault(cluster)

        def listen(event: Any) -> None:
            told.append(time.monotonic())
            if event.kind == "fitted" and event.done == when:
                # In a thread: the fit must not wait for it.
                threading.Thread(target=strike).start()

        stack = StackingRegressor(
            learners, "mean", cv=3, random_state=0, executor=cluster.address, callback=listen
        )
        if when == "place":
            strike()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stack.fit(X, X[:, 0])
            ended = f"fitted {stack.n_fits_}, failed {sorted(stack.failures_)}"
        except Exception as error:
            ended = f"{type(error).__name__}: {str(error)[:150]}"
        times = [since[0], *(t for t in told if t > since[0]), time.monotonic()]
        for process in [*cluster.workers, cluster.scheduler]:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
    return max(b - a for a, b in pairwise(times)), ended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(FAULTS), choices=FAULTS)
    longest = 0.0
    for name in parser.parse_args().only:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            wait, ended = attempt(name, Path(folder))
        longest = max(longest, wait)
        print(f"{name:30s} longest wait {wait:5.1f} s  {ended}", flush=True)
    print(f"ratio: {LONGEST / longest:.2f}")
    return int(longest > LONGEST)


if __name__ == "__main__":
    sys.exit(main())
