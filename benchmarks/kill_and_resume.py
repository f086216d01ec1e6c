"""Kill a run at random moments and continue it: the same bits, and no finished fit again.

Every child is a process of its own, forked from one that has imported everything but computed
nothing. For each kill: a fresh run, SIGKILL at a random moment of it, then the same call again. The
continuation must have the bits of a run that was never killed, reuse every result whose file was
there at the kill, leave those files untouched and fit exactly what was missing; every fit writes a
line to a log, so fits are counted, not believed.

The ratio is how many times as long starting over takes as continuing, on average over all kills.
"""

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor
from foldwise.engine import describe

CHILD_SECONDS = 120


class Logged(RegressorMixin, BaseEstimator):
    """A regressor that writes a line to a log for every fit, and takes its time."""

    def __init__(self, regressor: Any, log: str = "", seconds: float = 0.0) -> None:
        self.regressor = regressor
        self.log = log
        self.seconds = seconds

    def fit(self, X: Any, y: Any) -> "Logged":
        # One short write to a file opened for appending is one whole line.
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{os.environ.get('RUN', '')}\n".encode())
        os.close(handle)
        time.sleep(self.seconds)
        self.regressor_ = self.regressor.fit(X, y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        return self.regressor_.predict(X)


def stack(run_dir: Path, log: Path, seconds: float, n_jobs: int | None) -> StackingRegressor:
    trees = ExtraTreesRegressor(8, random_state=0)
    learners = [
        ("ridge", Ridge()),
        ("neighbours", Logged(KNeighborsRegressor(4), str(log), seconds)),
        ("trees", Logged(trees, str(log), seconds)),
    ]
    return StackingRegressor(learners, cv=4, random_state=7, run_dir=run_dir, n_jobs=n_jobs)


def bits(model: StackingRegressor, X: Any) -> str:
    """Return a hash of everything that must not depend on being killed."""
    parts = [model.predict(X), model.oof_, np.array([model.score_, model.score_se_])]
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    ).hexdigest()


def child(run_dir: Path, log: Path, answer: Path, seconds: float, n_jobs: int | None) -> None:
    """Fit, in a process of its own, and write down what came out."""
    os.environ["RUN"] = answer.name
    X, y = make_friedman1(200, random_state=0)
    start = time.perf_counter()
    model = stack(run_dir, log, seconds, n_jobs).fit(X, y)
    told = {
        "bits": bits(model, X[::3]),
        "fits": model.run_.fits,
        "reused": model.run_.reused,
        "seconds": time.perf_counter() - start,
    }
    answer.write_text(json.dumps(told))


def in_child(kill_after: float | None, *arguments: Any) -> float:
    """Fork, fit there, and kill the child after a while or let it end; return its seconds."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            child(*arguments)
            status = 0
        finally:
            os._exit(status)
    until = start + (CHILD_SECONDS if kill_after is None else kill_after)
    while time.perf_counter() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0 or kill_after is not None, f"the child ended with {status}"
            return time.perf_counter() - start
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert kill_after is not None, f"the child did not end in {CHILD_SECONDS} s"
    return time.perf_counter() - start


def files(run_dir: Path) -> dict[str, tuple[int, int]]:
    """Return the finished results, and what would show that one was written again."""
    found = (run_dir / "results").glob("*.fit")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def n_logged_there(run_dir: Path) -> int:
    """Return how many finished results are of learners that write to the log."""
    if not (run_dir / "run.json").exists():
        return 0
    fits = describe(run_dir).fits
    return sum(fit.state == "done" and fit.about["learner"] != "ridge" for fit in fits)


def logged(log: Path, run: str) -> int:
    return log.read_text().splitlines().count(run) if log.exists() else 0


def one_kill(
    folder: Path, moment: float, whole: dict[str, Any], seconds: float, n_jobs: int | None
) -> tuple[int, float]:
    """Kill one run and continue it; return how many results were there and the time it took."""
    run_dir, log, answer = folder / "run", folder / "log", folder / "continued"
    in_child(moment, run_dir, log, folder / "killed", seconds, n_jobs)
    there, finished = files(run_dir), n_logged_there(run_dir)
    in_child(None, run_dir, log, answer, seconds, n_jobs)
    told = json.loads(answer.read_text())
    after = files(run_dir)
    assert told["bits"] == whole["bits"], "other bits after a kill"
    assert told["reused"] == len(there), f"{told['reused']} of {len(there)} results were used"
    assert logged(log, "continued") == 20 - finished, "a finished fit was done again"
    assert told["reused"] + told["fits"] == whole["fits"], "fits are missing or done twice"
    assert {name: after[name] for name in there} == there, "a finished result was written again"
    assert len(after) == whole["fits"], "a result is missing"
    assert not list((run_dir / "results").glob(".*.part")), "something half-written was left"
    return len(there), told["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.02, help="of each fit")
    parser.add_argument("--n-jobs", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="ten kills")
    options = parser.parse_args()
    random, n_kills = Random(options.seed), 10 if options.quick else options.kills
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = (
            folder / "run",
            folder / "log",
            folder / "whole",
            options.seconds,
            options.n_jobs,
        )
        lasted = in_child(None, *arguments)
        whole = json.loads((folder / "whole").read_text())
        assert logged(folder / "log", "whole") == 20, "10 nodes for each of the two logged learners"
        ratios = []
        for kill in range(n_kills):
            moment = random.uniform(0.0, lasted)
            place = folder / f"kill{kill}"
            place.mkdir()
            there, seconds = one_kill(place, moment, whole, options.seconds, options.n_jobs)
            ratios.append(whole["seconds"] / seconds)
            print(
                f"killed after {moment:.2f} s: {there} of {whole['fits']} results there, "
                f"{logged(place / 'log', 'continued')} of 20 logged fits done in {seconds:.2f} s, "
                "same bits",
                flush=True,
            )
    print(f"{n_kills} kills, {n_kills} continuations with the bits of a run never killed")
    print(f"ratio: {np.mean(ratios):.2f}")


if __name__ == "__main__":
    sys.exit(main())
