from pathlib import Path

import pandas as pd
import pytest

from foldwise.engine import store as store_module
from foldwise.engine.describe import describe
from foldwise.engine.store import RESULTS, RunStore
from foldwise.errors import InvalidParameterError


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


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        describe(tmp_path)
    assert str(caught.value) == (
        f"describe: run_dir must be the folder of a run; got {str(tmp_path)!r}. Give the folder "
        "that was given to fit."
    )
