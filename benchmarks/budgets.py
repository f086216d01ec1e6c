"""Every budget of AutoStack ends in a model, late by at most the larger of 10 % and 2 s.

Generated tables up to 20,000 rows (numbers, counts, 2, 7 and 20 classes, wide, text), budgets from
one second on; from ten seconds on tables of 100,000 and 500,000 rows too; one and two jobs. Each
fit is a process of its own, so that no worker of an earlier one is warm; start-up is not counted
but printed. ``cpu`` is the time this process and its workers were at work, ``waited`` the time this
process waited for a processor: on a machine that others use too, a fit may be late without having
done more. With ``--command`` it is ``foldwise fit --time``, model file and report included.

The ratio is the smallest of a table's allowed over taken seconds: above 1 all budgets were kept.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TABLES = ("small", "regression", "counts", "classes2", "classes7", "classes20", "wide", "text")
LARGE = ("rows100000", "rows500000", "large_classes2", "large_classes7")
FROM_SECONDS = 10.0
BUDGETS = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
WORDS = ("red", "large", "old", "broken", "shipped", "paid", "late", "green", "house", "north")


def table(name: str) -> tuple[Any, Any]:
    """Return the rows and the target of a generated problem."""
    random = np.random.default_rng(0)
    if name == "text":
        words = random.choice(WORDS, (3000, 12))
        X = pd.DataFrame(
            {"note": [" ".join(row) for row in words], "size": random.normal(size=3000)}
        )
        return X, (words == "late").sum(1) + X["size"] + random.normal(size=3000)
    n_rows, n_columns = {"small": (200, 10), "wide": (1500, 3000)}.get(name, (20_000, 20))
    if name in LARGE:
        n_rows = int(name[4:]) if name.startswith("rows") else 500_000
    X = random.normal(size=(n_rows, n_columns))
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + random.normal(size=n_rows)
    if "classes" in name:
        return X, np.argsort(np.argsort(signal)) * int(name.split("classes")[1]) // n_rows
    return X, random.poisson(np.exp(0.3 * signal)) if name == "counts" else signal


def fit_once(name: str, budget: float, n_jobs: int) -> dict[str, Any]:
    """Return how long a fit took and what came of it; run in a fresh process."""
    from foldwise import AutoStackClassifier, AutoStackRegressor

    X, y = table(name)
    kind = AutoStackClassifier if "classes" in name else AutoStackRegressor
    model = kind(time_budget=budget, n_jobs=n_jobs, random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds, times = time.perf_counter() - start, os.times()
    return {
        "seconds": seconds,
        "cpu": sum(times[:4]),
        "waited": waited(),
        "members": len(model.members_),
        "folds": model.stack_.deals_[0].lattice.n_folds,
        "score": float(model.score_),
    }


def waited() -> float:
    """Return the seconds this process could have worked and had no processor; NaN if unknown."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return float("nan")


def fit_typed(name: str, budget: float, n_jobs: int) -> dict[str, Any]:
    """Return the same of the command line; what it counts itself, start-up and reading apart."""
    from foldwise.cli import main as command

    X, y = table(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pd.DataFrame(X).rename(columns=str).assign(target=y).to_csv(path, index=False)
        words = ["fit", str(path), "--target", "target", "--time", str(budget), "--json"]
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            command([*words, "--jobs", str(n_jobs), "--out", str(Path(folder) / "model")])
    result = json.loads(told.getvalue())
    return {
        "seconds": result["seconds"],
        "cpu": sum(os.times()[:4]),
        "waited": waited(),
        "members": len(result["leaderboard"]) - 3,
        "folds": 0,
        "score": result["score"],
    }


def run(name: str, budget: float, n_jobs: int, *, typed: bool) -> dict[str, Any]:
    """Return the result of a fit in a process of its own, or how it failed."""
    command = [sys.executable, __file__, "--one", name, str(budget), str(n_jobs)]
    command += ["--command"] if typed else []
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * budget + 300)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    result = json.loads(done.stdout.splitlines()[-1])
    return {**result, "startup": time.perf_counter() - start - result["seconds"]}


def main() -> int:
    """Print a line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "BUDGET", "JOBS"))
    parser.add_argument("--command", action="store_true", help="time foldwise fit --time")
    every = (*TABLES, *LARGE)
    parser.add_argument("--tables", nargs="+", default=every, choices=every)
    parser.add_argument("--budgets", nargs="+", type=float, default=BUDGETS)
    parser.add_argument("--jobs", nargs="+", type=int, default=(1, 2))
    options = parser.parse_args()
    if options.one:
        name, budget, n_jobs = options.one
        once = fit_typed if options.command else fit_once
        print(json.dumps(once(name, float(budget), int(n_jobs))))
        return 0
    least = dict.fromkeys(options.tables, float("inf"))
    print("table          budget jobs   seconds    cpu waited start-up members folds   score")
    for name in options.tables:
        for budget in [b for b in options.budgets if name in TABLES or b >= FROM_SECONDS]:
            for n_jobs in options.jobs:
                got = run(name, budget, n_jobs, typed=options.command)
                head = f"{name:14s} {budget:6g} {n_jobs:4d}  "
                if "error" in got:
                    least[name] = 0.0
                    print(f"{head} {got['error'][:120]}", flush=True)
                    continue
                ratio = max(1.1 * budget, budget + 2.0) / got["seconds"]
                least[name] = min(least[name], ratio)
                print(
                    f"{head} {got['seconds']:7.1f} {got['cpu']:6.1f} {got['waited']:6.1f} "
                    f"{got['startup']:8.1f} "
                    f"{got['members']:7d} {got['folds']:6d} {got['score']:9.3f}"
                    f"{'' if ratio >= 1 else '  late'}",
                    flush=True,
                )
    for name, ratio in least.items():
        if ratio < float("inf"):
            print(f"{name}: allowed over taken, the least  ratio: {ratio:.2f}")
    return int(min(least.values()) < 1)


if __name__ == "__main__":
    sys.exit(main())
