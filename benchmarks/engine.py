"""The engine: what a task costs beside its fit, resuming, processes, Dask, memory.

Each part prints what was measured with the goal beside it, and the goal over the measure (or the
other way round, where more is better) as a ratio. Times are wall-clock: run it on a machine that
has nothing else to do.

    python benchmarks/engine.py [--quick] [--only overhead|resume|processes|dask|memory]
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from lightgbm import LGBMRegressor
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor
from foldwise.engine import Run, Task
from foldwise.engine.executor import InProcess
from foldwise.engine.processes.pool import Processes


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def say(what, value, goal, ratio):
    print(f"{what:40s}{value:9.3f}  (goal {goal})  ratio: {ratio:.2f}")


class Busy(RegressorMixin, BaseEstimator):
    """Uses the processor for some seconds, then predicts the mean."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def fit(self, X, y):
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            sum(range(10_000))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def nothing(_shared, job):
    return [job]


def overhead(quick: bool) -> None:
    """Tasks that do nothing, so that all they take is the engine's."""
    n = 200 if quick else 1000
    data = np.zeros((10_000, 20))
    print(f"{n} tasks that do nothing, milliseconds a task")
    for name, executor, goal in (
        ("in this process", InProcess(), 3.0),
        ("in two processes", Processes(2), 10.0),
    ):
        with Run(executor) as run:
            tasks = [Task(i, (f"learner{i % 5}",)) for i in range(n)]
            run.do(nothing, data, tasks[:4], lambda *_: ())
            seconds, _ = timed(
                lambda run=run, tasks=tasks: run.do(nothing, data, tasks, lambda *_: ())
            )
        each = 1000 * seconds / n
        say(name, each, f"{goal:.0f}", goal / each)
    X, y = data[:1000], np.arange(1000.0)
    learners = [(f"busy{i}", Busy()) for i in range(10)]
    for name, n_jobs, goal in (
        ("a stack in this process", None, 3.0),
        ("in two processes", 2, 10.0),
    ):
        stack = StackingRegressor(learners, "mean", random_state=0, n_jobs=n_jobs)
        stack.fit(X, y)
        seconds, _ = timed(lambda stack=stack: stack.fit(X, y))
        combining, _ = timed(stack.restack)
        each = 1000 * (seconds - combining) / stack.n_fits_
        say(f"{name}, fit of nothing", each, f"{goal:.0f}", goal / each)


def mixed_learners(n: int):
    X, y = make_regression(n, 30, n_informative=15, noise=20.0, random_state=0)
    y = y + 40 * np.sin(X[:, 0] * 3) * X[:, 1]
    learners = [
        ("ridge", Ridge()),
        ("knn", KNeighborsRegressor(10)),
        ("forest", RandomForestRegressor(100, random_state=0)),
        ("gbm", LGBMRegressor(n_estimators=200, random_state=0, verbosity=-1, n_jobs=1)),
    ]
    return X, y, learners


def resume(quick: bool) -> None:
    X, y, learners = mixed_learners(2_000 if quick else 20_000)
    with tempfile.TemporaryDirectory() as folder:
        stack = StackingRegressor(learners, random_state=0, run_dir=folder)
        plain_s, _ = timed(lambda: StackingRegressor(learners, random_state=0).fit(X, y))
        first_s, first = timed(lambda: stack.fit(X, y))
        again_s, again = timed(lambda: stack.fit(X, y))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    assert again.run_.fits == 0
    assert (first.predict(X[:100]) == again.predict(X[:100])).all()
    print(
        f"\nridge + kNN + forest(100) + LightGBM(200), n = {len(y)}: 60 fits, {size / 1e6:.0f} MB"
    )
    print(f"{'without a run directory':40s}{plain_s:9.2f} s")
    print(f"{'with one':40s}{first_s:9.2f} s")
    print(f"{'the same call again':40s}{again_s:9.2f} s")
    share = again_s / first_s
    say("resumed, share of the first time", share, "0.05", 0.05 / share)


def processes(quick: bool) -> None:
    X, y, learners = mixed_learners(4_000 if quick else 20_000)
    StackingRegressor(learners, random_state=0, n_jobs=2).fit(X[:500], y[:500])
    one_s, one = timed(lambda: StackingRegressor(learners, random_state=0, n_jobs=1).fit(X, y))
    two_s, two = timed(lambda: StackingRegressor(learners, random_state=0, n_jobs=2).fit(X, y))
    assert one.score_ == two.score_
    gain = one_s / two_s
    print(
        f"\nthe nested stack, n = {len(y)}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(f"{'one process':40s}{one_s:9.2f} s")
    print(f"{'two processes':40s}{two_s:9.2f} s")
    say("two against one", gain, "1.7", gain / 1.7)


def dask(quick: bool) -> None:
    from distributed import Client, LocalCluster

    X, y = np.zeros((1000, 10)), np.arange(1000.0)
    learners = [(f"busy{i}", Busy(2.0)) for i in range(2 if quick else 6)]

    def fit(**where):
        return StackingRegressor(learners, "mean", cv=3, random_state=0, **where).fit(X, y)

    StackingRegressor([("idle", Busy())], "mean", cv=3, n_jobs=2).fit(X, y)
    local_s, local = timed(lambda: fit(n_jobs=2))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        StackingRegressor([("idle", Busy())], "mean", cv=3, executor=client).fit(X, y)
        dask_s, remote = timed(lambda: fit(executor=client))
    assert (local.predict(X) == remote.predict(X)).all()
    loss = dask_s / local_s - 1
    print(f"\n{6 * len(learners)} fits of 2 s, load {os.getloadavg()[0]:.1f}")
    print(f"{'two local processes':40s}{local_s:9.2f} s")
    print(f"{'two Dask workers':40s}{dask_s:9.2f} s")
    say("Dask loses", loss, "0.25", 1.25 / (1 + loss))


def touch_and_stay(shared, job):
    total = float(shared.sum())
    Path(job, str(os.getpid())).write_text("ready")
    while not Path(job, "enough").exists():
        time.sleep(0.05)
    return [total]


def shares_of(pids) -> int:
    """Return the bytes that processes hold together, each shared page divided among its users."""
    texts = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    lines = [line for text in texts for line in text.splitlines()]
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def memory(quick: bool) -> None:
    """Measure what workers hold together while each has read all of X."""
    n_workers, n = 3, 25_000 if quick else 125_000
    held = {}
    for size in (10, n):
        X = np.random.default_rng(0).random((size, 1000))
        executor = Processes(n_workers)
        with tempfile.TemporaryDirectory() as folder:
            executor.place(touch_and_stay, X)
            for ticket in range(n_workers):
                executor.submit(ticket, folder)
            while len(list(Path(folder).iterdir())) < n_workers:
                time.sleep(0.05)
            held[size] = shares_of(path.name for path in Path(folder).iterdir())
            Path(folder, "enough").write_text("")
            while executor.running():
                executor.wait(1.0)
        executor.close()
    times = (held[n] - held[10]) / X.nbytes
    print(f"\nX of {X.nbytes / 1e9:.1f} GB, {n_workers} processes (by PSS)")
    say("times X held by the processes together", times, "1", 1.05 / times)


PARTS = {
    "overhead": overhead,
    "resume": resume,
    "processes": processes,
    "dask": dask,
    "memory": memory,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(PARTS))
    arguments = parser.parse_args()
    for name, part in PARTS.items():
        if arguments.only in (None, name):
            part(arguments.quick)
