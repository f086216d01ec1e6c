"""Stacks that are killed, stalled, starved of disk and damaged: same bits, nothing lost, no hang.

Slow because processes are started, killed and waited for; every wait has a deadline.
"""

import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

from foldwise import StackingRegressor
from foldwise.engine import describe
from foldwise.engine import store as store_module
from foldwise.engine.dask import cluster as cluster_module
from foldwise.engine.dask import executor as dask_module
from foldwise.errors import FoldwiseWarning, InvalidParameterError, LearnerFailedWarning
from tests.engine.cluster import LocalProcesses
from tests.engine.slow import Killer, SlowTree
from tests.forked import Forked

ROOT = Path(__file__).parents[2]
X, Y = make_friedman1(150, random_state=0)
N_FITS = 30
DEADLINE = 600


def learners(seconds: float = 0.0, size: int = 0) -> list[tuple[str, Any]]:
    return [
        ("ridge", Ridge()),
        ("small", SlowTree(2, seconds)),
        ("large", SlowTree(4, seconds, size)),
    ]


def stack(estimators: list[tuple[str, Any]] | None = None, **options: Any) -> StackingRegressor:
    return StackingRegressor(estimators or learners(), cv=4, random_state=3, **options)


def bits(model: StackingRegressor) -> tuple[bytes, bytes, float]:
    return model.predict(X[:50]).tobytes(), np.asarray(model.oof_).tobytes(), model.score_


@pytest.fixture(scope="module")
def undisturbed() -> tuple[bytes, bytes, float]:
    return bits(stack().fit(X, Y))


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """End a test that hangs."""

    def too_late(*_: object) -> None:
        raise TimeoutError(f"not over after {DEADLINE} s")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(DEADLINE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_module, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(dask_module, "TICK_SECONDS", 0.2)
    # A busy machine starts workers late.
    monkeypatch.setattr(cluster_module, "WARN_SECONDS", 300.0)
    monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 300.0)


class After:
    """A callback that does something once, after so many fits."""

    def __init__(self, n_fits: int, action: Callable[[], object]) -> None:
        self.n_fits, self.action, self.fitted = n_fits, action, 0

    def __call__(self, event: Any) -> None:
        if event.kind == "fitted":
            self.fitted += 1
            if self.fitted == self.n_fits:
                self.action()


def result_files(run_dir: Path) -> list[Path]:
    return sorted((run_dir / "results").glob("*.fit"))


def kill_and_resume(*options: str) -> None:
    sys.argv = ["kill_and_resume.py", *options]
    runpy.run_path(str(ROOT / "benchmarks" / "kill_and_resume.py"), run_name="__main__")


def test_a_run_killed_at_any_moment_continues_with_the_same_bits_and_repeats_nothing() -> None:
    # What is checked after each kill is said, and asserted, in the script.
    run = Forked(kill_and_resume, "--kills", "4", "--seconds", "0.01")
    said, errors = run.communicate(timeout=DEADLINE)
    assert run.returncode == 0, errors
    assert "4 kills, 4 continuations with the bits of a run never killed" in said


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProcesses]:
    with LocalProcesses(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def replace_all(cluster: LocalProcesses) -> None:
    for worker in cluster.workers:
        worker.kill()
    cluster.add_worker()
    cluster.add_worker()


def replace_one(cluster: LocalProcesses) -> None:
    cluster.workers[-1].kill()
    cluster.add_worker()


def stall_one(cluster: LocalProcesses) -> None:
    cluster.workers[-1].send_signal(signal.SIGSTOP)


@pytest.mark.parametrize("disturb", [replace_one, replace_all, stall_one])
def test_a_cluster_that_loses_workers_gives_the_same_bits(
    cluster: LocalProcesses, undisturbed: tuple[bytes, bytes, float], disturb: Callable[..., None]
) -> None:
    model = stack(
        learners(0.1), executor=cluster.address, callback=After(4, lambda: disturb(cluster))
    ).fit(X, Y)
    assert bits(model) == undisturbed
    assert model.failures_ == {}
    assert (model.run_.fits, model.run_.partial) == (N_FITS, False)


@pytest.mark.filterwarnings("ignore:StackingRegressor. the first 10 fits")
def test_a_learner_that_kills_its_worker_is_dropped_with_the_cause(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    with LocalProcesses(tmp_path, 1, replaced=True, allowed_failures=0) as cluster:
        model = stack([*learners(0.05), ("killer", Killer())], executor=cluster.address)
        with pytest.warns(LearnerFailedWarning, match="'killer' was dropped"):
            model.fit(X, Y)
    assert list(model.failures_) == ["killer"]
    assert "1 worker died at it, the last at tcp://127.0.0.1" in model.failures_["killer"]
    assert bits(model) == undisturbed


def test_a_run_whose_scheduler_was_killed_says_so_and_continues_elsewhere(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    run_dir = tmp_path / "run"
    with LocalProcesses(tmp_path, 1) as doomed:
        model = stack(
            learners(0.1),
            executor=doomed.address,
            run_dir=run_dir,
            callback=After(5, lambda: doomed.scheduler.kill()),
        )
        with pytest.raises(InvalidParameterError) as caught:
            model.fit(X, Y)
    words = str(caught.value)
    assert words.startswith(
        f"StackingRegressor: executor must be a cluster that answers; got {doomed.address} ("
    )
    assert words.endswith(
        "). Run the same call again; with run_dir finished fits are kept and not repeated."
    )
    there = len(result_files(run_dir))
    assert 5 <= there < N_FITS
    model = stack(learners(0.1), run_dir=run_dir).fit(X, Y)
    assert (model.run_.reused, model.run_.fits) == (there, N_FITS - there)
    assert bits(model) == undisturbed


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize("damage", [flip_a_bit, truncate])
def test_damaged_results_are_named_and_fitted_again(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float], damage: Callable[[Path], None]
) -> None:
    stack(run_dir=tmp_path).fit(X, Y)
    frame = describe(tmp_path).to_frame()
    keys = list(frame.loc[frame.learner != "ridge", "key"])[::7]
    for key in keys:
        damage(tmp_path / "results" / f"{key}.fit")
    assert describe(tmp_path).count("damaged") == len(keys) == 3
    with pytest.warns(FoldwiseWarning) as caught:
        model = stack(run_dir=tmp_path).fit(X, Y)
    said = " ".join(str(warning.message) for warning in caught)
    assert all(f"{key}.fit' is damaged" in said for key in keys)
    assert (model.run_.reused, model.run_.fits) == (N_FITS - 3, 3)
    assert bits(model) == undisturbed
    assert describe(tmp_path).count("done") == N_FITS


def test_a_run_of_other_versions_is_fitted_again_and_said_so(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = store_module.library_versions()
    monkeypatch.setattr(store_module, "library_versions", lambda: {**now, "scipy": "1.0"})
    stack(run_dir=tmp_path).fit(X, Y)
    monkeypatch.undo()
    with pytest.warns(FoldwiseWarning, match=rf"scipy 1\.0 is now {now['scipy']}\) and are fitted"):
        model = stack(run_dir=tmp_path).fit(X, Y)
    assert (model.run_.reused, model.run_.fits) == (0, N_FITS)
    assert bits(model) == undisturbed


def test_a_learner_more_refits_nothing_else_and_a_changed_one_only_itself(tmp_path: Path) -> None:
    first, small, _ = learners()
    one = stack([first, small], run_dir=tmp_path).fit(X, Y)
    assert one.run_.fits == 20
    more = stack([first, small, ("more", SlowTree(5))], run_dir=tmp_path).fit(X, Y)
    assert (more.run_.reused, more.run_.fits) == (20, 10)
    other = stack([first, ("small", SlowTree(6))], run_dir=tmp_path).fit(X, Y)
    assert (other.run_.reused, other.run_.fits) == (10, 10)
    other = stack([first, small], run_dir=tmp_path, final_estimator="nnls", scoring="r2").fit(X, Y)
    assert (other.run_.reused, other.run_.fits) == (20, 0)


def one_of_two(run_dir: Path) -> None:
    warnings.simplefilter("error", UserWarning)
    print("ready", flush=True)  # noqa: T201
    sys.stdin.readline()
    model = stack(learners(0.02), run_dir=run_dir).fit(X, Y)
    told = [model.predict(X[:50]).tobytes().hex(), model.run_.fits, model.run_.reused]
    print(json.dumps(told))  # noqa: T201


def test_two_processes_on_one_run_do_not_disturb_each_other(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    processes = [Forked(one_of_two, tmp_path / "run") for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        output, _ = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0
        predictions, fits, reused = json.loads(output)
        assert bytes.fromhex(predictions) == undisturbed[0]
        assert fits + reused == N_FITS
    assert len(result_files(tmp_path / "run")) == N_FITS
    assert describe(tmp_path / "run").count("done") == N_FITS


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a disk of a given size, where that is allowed."""
    folder.mkdir()
    if not _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)):
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def _mount(*arguments: str) -> bool:
    try:
        done = subprocess.run(["mount", *arguments], check=False, capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def test_a_full_disk_is_an_error_that_loses_nothing(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    run_dir = tmp_path / "disk"
    with small_disk(run_dir, "1m"):
        model = stack(learners(size=300_000), run_dir=run_dir)
        with pytest.raises(InvalidParameterError) as caught:
            model.fit(X, Y)
        assert str(caught.value) == (
            "StackingRegressor: run_dir must be a folder that results can be written to; got "
            f"{str(run_dir)!r} (No space left on device). Make room and run the same call again; "
            "all results stored before are kept."
        )
        there = len(result_files(run_dir))
        assert 0 < there < N_FITS
        assert describe(run_dir).count("damaged") == 0
        assert _mount("-o", "remount,size=64m", str(run_dir))
        model.fit(X, Y)
        assert (model.run_.reused, model.run_.fits) == (there, N_FITS - there)
        assert bits(model) == undisturbed


def test_a_file_that_grows_too_large_is_an_error_that_loses_nothing(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    model = stack(learners(size=300_000), run_dir=tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(InvalidParameterError, match=r"\(File too large\)\. Make room and run"):
            model.fit(X, Y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    there = len(result_files(tmp_path))
    assert 0 < there < N_FITS
    assert not list((tmp_path / "results").glob(".*.part"))
    model.fit(X, Y)
    assert (model.run_.reused, model.run_.fits) == (there, N_FITS - there)
    assert bits(model) == undisturbed


def test_a_read_only_run_can_be_used_but_not_added_to(
    tmp_path: Path, undisturbed: tuple[bytes, bytes, float]
) -> None:
    run_dir = tmp_path / "disk"
    with small_disk(run_dir, "16m"):
        stack(run_dir=run_dir).fit(X, Y)
        assert _mount("-o", "remount,ro", str(run_dir))
        model = stack(run_dir=run_dir).fit(X, Y)
        assert (model.run_.reused, model.run_.fits) == (N_FITS, 0)
        assert bits(model) == undisturbed
        with pytest.raises(InvalidParameterError) as caught:
            stack([*learners(), ("more", SlowTree(5))], run_dir=run_dir).fit(X, Y)
        assert str(caught.value) == (
            "StackingRegressor: run_dir must be a folder that results can be written to; got "
            f"{str(run_dir)!r} (Read-only file system). Make it writable or use another; all "
            "results stored before are kept."
        )
        assert describe(run_dir).count("done") == N_FITS
