"""What a fit in two processes holds at most, as times X: the peak of PSS over all its processes.

PSS counts a page that several processes share once. The bars, 3 times X for a stack and 5 for
AutoStack at 1,000,000 x 50, are for all that is held: the user's own X (once X), the libraries
(told apart, since they are the same for any X), and the rest, while learners are fitted and while
they are judged. Boosters have few rounds: how many there are changes the time, not the memory.
AutoStack fits all its members, which takes minutes.

    python benchmarks/memory.py [--rows 1000000] [--only stack|auto]

The ratio is the bar over what was measured.
"""

import argparse
import os
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMRegressor
from sklearn.linear_model import Ridge

from foldwise import AutoStackRegressor, StackingRegressor
from foldwise.auto.portfolio.member import TableProfile
from foldwise.engine import fit_many

BARS = {"stack": 3.0, "auto": 5.0}
ROUNDS = 5


def family(pid: int) -> list[int]:
    """Return a process and all that it and they have started."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(c) for t in threads for c in (t / "children").read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(p for child in children for p in family(child))]


def held(pid: int) -> int:
    """Return the bytes that a process holds, shared pages divided among their users."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


class Watch(threading.Thread):
    """Keeps the highest sum over all processes, until it is left."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.parts, self.when, self.over = 0, [], 0.0, False

    def run(self) -> None:
        while not self.over:
            now = [held(pid) for pid in family(os.getpid())]
            if sum(now) > self.peak:
                self.peak, self.parts, self.when = sum(now), now, time.perf_counter()
            time.sleep(0.05)

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        self.join()


def idle(_shared: object, _job: object) -> None:
    """Import in a worker what a fit imports there."""
    import lightgbm  # noqa: F401

    time.sleep(2.0)


def model(kind: str):
    if kind == "auto":
        TableProfile.trees = lambda *_: ROUNDS
        return AutoStackRegressor(n_jobs=2, random_state=0)
    few = {"n_estimators": ROUNDS, "verbosity": -1, "n_jobs": 1}
    learners = [
        ("ridge", Ridge()),
        ("boosted", LGBMRegressor(**few)),
        ("deep", LGBMRegressor(**few, num_leaves=127)),
    ]
    return StackingRegressor(learners, n_jobs=2, random_state=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=BARS)
    options = parser.parse_args()
    with Watch() as before:
        fit_many(idle, None, [1, 2], n_jobs=2)
    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, 50))
    y = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=options.rows)
    print(f"X {X.nbytes / 1e6:.0f} MB; without data {before.peak / 1e6:.0f} MB")
    ratios = {}
    for kind in [options.only] if options.only else BARS:
        start = time.perf_counter()
        with warnings.catch_warnings(), Watch() as watch:
            warnings.simplefilter("ignore")
            fitted = model(kind).fit(X, y)
        all_, more = watch.peak / X.nbytes, (watch.peak - before.peak) / X.nbytes
        ratios[kind] = BARS[kind] / all_
        print(
            f"{kind:6s} {len(fitted.oof_.columns)} learners, {time.perf_counter() - start:.0f} s: "
            f"{all_:.2f} times X (bar {BARS[kind]:g}), {more:.2f} without libraries; at "
            f"{watch.when - start:.0f} s, by process, MB: {[p // 10**6 for p in watch.parts]}",
            flush=True,
        )
        del fitted
    for kind, ratio in ratios.items():
        print(f"{kind}, {options.rows:,} rows, bar over memory held  ratio: {ratio:.2f}")
    return int(min(ratios.values()) < 1)


if __name__ == "__main__":
    sys.exit(main())
