"""Kill ``foldwise fit`` at random moments, saving and report included: resume, the same bits.

Every child is forked from a process that has imported everything. For each kill: a fresh folder,
SIGKILL at a random moment (every second one near the end, where files are written), then ``foldwise
resume``. It must end with the predictions of a fit that was never killed; at no time may there be a
file of more than a kilobyte outside the run that is not a whole model, report or request, nor
anything in the temporary folder.

The ratio is how many times as long starting over takes as resuming, on average over all kills.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import lightgbm  # noqa: F401  imported once, not in every child
import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1

import foldwise.auto
import foldwise.report  # noqa: F401
from foldwise.cli import main as command
from foldwise.files import load, read_manifest

LONGEST = 300.0
FINISHED = {"model.foldwise", "report.html", "request.json"}


def typed(*words: str, kill_after: float = LONGEST) -> float:
    """Run a command in a process of its own and kill it after a while; return its seconds."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            command(list(words))
        finally:
            os._exit(0)
    while time.perf_counter() - start < kill_after:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return time.perf_counter() - start
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return time.perf_counter() - start


def check_left(folder: Path) -> None:
    """Refuse anything outside the run but whole files under their own names."""
    for path in [*folder.glob("*"), *Path(tempfile.gettempdir()).iterdir()]:
        if path.name in FINISHED:
            continue
        assert path.name == "run" or path.stat().st_size <= 1024, f"{path} was left behind"
    if (folder / "model.foldwise").exists():
        read_manifest(folder / "model.foldwise")
    if (folder / "report.html").exists():
        assert (folder / "report.html").read_text().rstrip().endswith("</html>")


def predictions(folder: Path, X: pd.DataFrame) -> bytes:
    return bytes(np.ascontiguousarray(load(folder / "model.foldwise").predict(X)).tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=70, help="from 80 on, boosted trees too")
    parser.add_argument("--quick", action="store_true", help="ten kills")
    options = parser.parse_args()
    random, n_kills = Random(options.seed), 10 if options.quick else options.kills
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "tmp").mkdir()
        tempfile.tempdir = str(place / "tmp")
        X, y = make_friedman1(options.rows, random_state=0)
        table = pd.DataFrame(X[:, :5], columns=list("abcde"))
        table.assign(y=y).to_csv(place / "t.csv", index=False)
        words = ["fit", str(place / "t.csv"), "--target", "y", "--preset", "fast", "--jobs", "1"]
        whole = min(typed(*words, "--out", str(place / f"whole{k}")) for k in range(3))
        expected, ratios = predictions(place / "whole0", table), []
        for kill in range(n_kills):
            folder = place / f"kill{kill}"
            moment = random.uniform(0.6 * whole if kill % 2 else 0.0, whole)
            typed(*words, "--out", str(folder), kill_after=moment)
            there = sorted(path.name for path in folder.glob("*"))
            if folder.exists():
                check_left(folder)
            begun = any((folder / part / "request.json").exists() for part in ("", "run"))
            again = ["resume", str(folder)] if begun else [*words, "--out", str(folder)]
            seconds = typed(*again)
            check_left(folder)
            assert predictions(folder, table) == expected, "other bits after a kill"
            ratios.append(whole / seconds)
            print(f"killed after {moment:.2f} s: {there}, ended in {seconds:.2f} s", flush=True)
    print(f"{n_kills} kills, {n_kills} ends with the predictions of a fit never killed")
    print(f"ratio: {np.mean(ratios):.2f}")


if __name__ == "__main__":
    sys.exit(main())
