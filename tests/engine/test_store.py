import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from foldwise.engine import store as store_module
from foldwise.engine.store import RESULTS, RunStore, describe
from foldwise.errors import FoldwiseWarning, InvalidParameterError
from tests.forked import Forked

ABOUT = {"learner": "ridge", "node": [0, 1], "seconds": 0.5}


def result_files(run_dir: Path) -> list[Path]:
    return sorted((run_dir / RESULTS).iterdir())


def test_a_result_is_found_again_and_an_unknown_one_is_not(tmp_path: Path) -> None:
    first, second = RunStore(tmp_path / "deep" / "run"), RunStore(tmp_path / "deep" / "run")
    model = Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    first.put("a", (np.arange(3.0), model), ABOUT)
    predictions, found = second.get("a")
    np.testing.assert_array_equal(predictions, np.arange(3.0))
    assert found.coef_ == model.coef_
    assert second.get("b") is None
    assert (first.n_stored, first.n_reused, second.n_stored, second.n_reused) == (1, 0, 0, 1)


def test_a_result_is_written_once(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.put("a", 1, ABOUT)
    (file,) = result_files(tmp_path)
    before = file.stat().st_ino, file.read_bytes()
    store.put("a", 2, ABOUT)
    assert (file.stat().st_ino, file.read_bytes()) == before
    assert store.n_stored == 1


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-7])


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-3] ^= 4
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, empty])
def test_a_damaged_result_is_named_and_can_be_stored_again(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    RunStore(tmp_path).put("a", [1.5] * 10, ABOUT)
    (file,) = result_files(tmp_path)
    damage(file)
    store = RunStore(tmp_path)
    with pytest.warns(FoldwiseWarning, match=r"a\.fit' is damaged \(.*\) and is fitted again\."):
        assert store.get("a") is None
    store.put("a", [1.5] * 10, ABOUT)
    assert store.get("a") == [1.5] * 10
    assert (store.n_reused, store.n_stored) == (1, 1)


def test_the_words_about_a_damaged_result(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "StackingRegressor")
    store.put("a", 1, ABOUT)
    (file,) = result_files(tmp_path)
    flip_a_bit(file)
    with pytest.warns(FoldwiseWarning) as caught:
        store.get("a")
    assert str(caught[0].message) == (
        f"StackingRegressor: the result {str(file)!r} is damaged (its content does not have its "
        "hash) and is fitted again. Check the disk."
    )
    assert caught[0].filename == __file__


def test_results_of_other_versions_are_said_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = store_module.library_versions()
    monkeypatch.setattr(store_module, "library_versions", lambda: {**now, "numpy": "1.0"})
    RunStore(tmp_path).put("a", "old", ABOUT)
    monkeypatch.undo()
    with pytest.warns(FoldwiseWarning) as caught:
        store = RunStore(tmp_path, "StackingRegressor")
    assert [str(w.message) for w in caught] == [
        f"StackingRegressor: the results in run_dir {str(tmp_path)!r} were made with other "
        f"versions (numpy 1.0 is now {now['numpy']}) and are fitted again. Use a run_dir for each "
        "environment to keep both."
    ]
    assert store.get("a") is None
    store.put("a", "new", ABOUT)
    assert RunStore(tmp_path).get("a") == "new"


def test_a_run_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": 99, "versions": {}}')
    with pytest.raises(InvalidParameterError) as caught:
        RunStore(tmp_path, "StackingRegressor")
    assert str(caught.value) == (
        "StackingRegressor: run_dir must hold a run of format 1; got 99. Use a new folder, or the "
        "version of foldwise that made this one."
    )


def test_a_damaged_manifest_is_written_anew(tmp_path: Path) -> None:
    RunStore(tmp_path).put("a", 1, ABOUT)
    (tmp_path / "run.json").write_text("{")
    assert RunStore(tmp_path).get("a") == 1


def test_a_file_is_not_a_run_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InvalidParameterError) as caught:
        RunStore(file, "StackingRegressor")
    assert str(caught.value) == (
        "StackingRegressor: run_dir must be a folder that results can be written to; got "
        f"{str(file)!r} (Not a directory). Name a folder; all results stored before are kept."
    )


def test_a_new_run_folder_is_closed_to_others(tmp_path: Path) -> None:
    RunStore(tmp_path / "run")
    assert stat.S_IMODE((tmp_path / "run" / RESULTS).stat().st_mode) == 0o700


@pytest.mark.parametrize("umask", [0o000, 0o002])
def test_a_run_folder_we_made_ourselves_works_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        RunStore(tmp_path / "new" / "run").put("a", [1.0], {})
        assert RunStore(tmp_path / "new" / "run").get("a") == [1.0]
    finally:
        os.umask(before)
    run = tmp_path / "new" / "run"
    assert [path.stat().st_mode & 0o077 for path in (run, run / "results")] == [0, 0]


def test_a_folder_everybody_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunStore(folder).put("a", 1, ABOUT)
    folder.chmod(0o777)
    with pytest.raises(InvalidParameterError) as caught:
        RunStore(folder, "StackingRegressor")
    assert str(caught.value) == (
        "StackingRegressor: run_dir must be yours alone, because reading its models can run code; "
        f"got {str(folder)!r}, which everybody may write to. Use a new folder, or change owner and "
        "mode if you trust every file in it."
    )


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_belongs_to_another_user_is_refused(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(tmp_path)
    store.put("a", 1, ABOUT)
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    with pytest.raises(InvalidParameterError, match=f"which belongs to user {mine}"):
        RunStore(tmp_path) if what == "folder" else store.get("a")


def test_a_result_with_a_lambda_is_stored_by_value(tmp_path: Path) -> None:
    model = make_pipeline(FunctionTransformer(lambda X: X[:, :1]), Ridge()).fit(np.eye(2), [0, 1])
    RunStore(tmp_path).put("a", model, ABOUT)
    found, X = RunStore(tmp_path).get("a"), np.array([[3.0, 1.0]])
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_a_result_that_cannot_be_pickled_is_said_and_not_stored(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "StackingRegressor")
    with pytest.warns(FoldwiseWarning) as caught:
        store.put("a", threading.Lock(), ABOUT)
    assert str(caught[0].message) == (
        "StackingRegressor: a result of 'ridge' cannot be stored in run_dir (TypeError: cannot "
        "pickle '_thread.lock' object); it will be fitted again when the run is continued. Use a "
        "learner that can be pickled."
    )
    assert store.get("a") is None


TWO_WRITERS = """
import sys
from foldwise.engine.store import RunStore
store = RunStore(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for i in range(60):
    assert store.get(str(i)) in (None, [i] * 1000)
    store.put(str(i), [i] * 1000, {"learner": "x"})
    assert store.get(str(i)) == [i] * 1000
"""


def test_two_processes_may_write_one_run(tmp_path: Path) -> None:
    processes = [
        Forked(f"import warnings; warnings.simplefilter('error'){TWO_WRITERS}", tmp_path / "run")
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.communicate("go\n")
    assert [process.returncode for process in processes] == [0, 0]
    store = RunStore(tmp_path / "run")
    assert [store.get(str(i)) for i in range(60)] == [[i] * 1000 for i in range(60)]
    assert len(result_files(tmp_path / "run")) == 60


WRITER = """
import sys
from foldwise.engine.store import RunStore
store = RunStore(sys.argv[1])
print("ready", flush=True)
for i in range(10**6):
    store.put(str(i), bytes([i % 256]) * 3_000_000, {"learner": "x"})
"""


def test_a_writer_killed_at_any_moment_leaves_whole_files_only(tmp_path: Path) -> None:
    for attempt in range(2):
        run_dir = tmp_path / str(attempt)
        with Forked(WRITER, run_dir) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.05 + 0.037 * attempt)
        store = RunStore(run_dir)
        for file in result_files(run_dir):
            assert file.suffix == ".fit", "what was half-written is cleared away"
            assert store.get(file.stem) == bytes([int(file.stem) % 256]) * 3_000_000


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    about = {
        key: {"learner": learner, "node": node, "seconds": 0.5}
        for key, learner, node in [
            ("a", "ridge", [0]),
            ("b", "ridge", [0, 1]),
            ("c", "forest", [0]),
            ("d", "forest", [1]),
            ("e", "forest", []),
        ]
    }
    now = store_module.library_versions()
    monkeypatch.setattr(store_module, "library_versions", lambda: {**now, "numpy": "1.0"})
    RunStore(tmp_path).put("e", 1, about["e"])
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="other versions"):
        store = RunStore(tmp_path)
    store.expect(about)
    for key in "abd":
        store.put(key, [1.0] * 100, about[key])
    damaged = tmp_path / RESULTS / "d.fit"
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    return tmp_path


def test_every_fit_is_in_one_state(run_dir: Path) -> None:
    found = describe(run_dir)
    assert {fit.key: fit.state for fit in found.fits} == {
        "a": "done",
        "b": "done",
        "c": "unfinished",
        "d": "damaged",
        "e": "other versions",
    }


def test_the_text_counts_by_learner(run_dir: Path) -> None:
    assert str(describe(run_dir)).splitlines() == [
        f"{run_dir}: 2 done, 1 unfinished, 1 damaged, 1 other versions, 0.0 MB",
        "  forest  0 of 3 fits, 0.0 s",
        "  ridge   2 of 2 fits, 1.0 s",
    ]


def test_the_frame_has_a_row_a_fit(run_dir: Path) -> None:
    frame = describe(run_dir).to_frame()
    assert list(frame) == ["learner", "node", "state", "seconds", "bytes", "key"]
    ridge = frame[frame.learner == "ridge"]
    expected = pd.DataFrame({"node": [[0], [0, 1]], "seconds": 0.5}, index=ridge.index)
    pd.testing.assert_frame_equal(ridge[["node", "seconds"]], expected)
    assert (ridge["bytes"] == [(run_dir / RESULTS / f"{k}.fit").stat().st_size for k in "ab"]).all()


def test_without_reading_the_files_changed_bits_are_not_found(run_dir: Path) -> None:
    assert describe(run_dir, verify=False).count("damaged") == 0
    cut = run_dir / RESULTS / "d.fit"
    cut.write_bytes(cut.read_bytes()[:-1])
    assert describe(run_dir, verify=False).count("damaged") == 1


def test_an_empty_run_has_nothing(tmp_path: Path) -> None:
    RunStore(tmp_path)
    assert str(describe(tmp_path)) == f"{tmp_path}: nothing stored, 0.0 MB"
    assert len(describe(tmp_path).to_frame()) == 0


def test_a_file_is_no_run(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.touch()
    with pytest.raises(InvalidParameterError, match="run_dir must be the folder of a run; got"):
        describe(file)


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        describe(tmp_path)
    assert str(caught.value) == (
        f"describe: run_dir must be the folder of a run; got {str(tmp_path)!r}. Give the folder "
        "that was given to fit."
    )
