import subprocess
import sys
import warnings
from pathlib import Path
from types import CodeType

import pytest

from foldwise.errors import FoldwiseWarning

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("**/*.py"))
STARTS_PROCESSES = [path for path in EXAMPLES if path.stem == "fit_on_a_cluster"]
# What takes long because it is done often, or large, is done less here; `make docs` runs it whole.
SMALLER = {
    "isle_width": ("n_estimators=200", "n_estimators=50"),
    "trees_small_and_many": ("n_estimators=60", "n_estimators=10"),
    "dropout_networks_are_ensembles": ("EPOCHS, MASKS = 60", "EPOCHS, MASKS = 5"),
    "networks_of_boosted_units": (
        "UNITS, WIDTHS, EPOCHS = 30, [1, 2, 5, 10, 20, 30], 30",
        "UNITS, WIDTHS, EPOCHS = 2, [1, 2], 5",
    ),
    "residual_networks_are_paths": ("EPOCHS, SUBSETS = 9, 40, 12", "EPOCHS, SUBSETS = 9, 2, 2"),
    "variance_of_a_mean": ("SETS, LEARNERS = 60, 30", "SETS, LEARNERS = 8, 30"),
    "what_other_scores_say": ("REPEATS = 100, 20, 8", "REPEATS = 100, 20, 2"),
}


def test_there_are_examples_in_every_tier() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {"1_start", "2_how_to"}


def is_ours(warning: warnings.WarningMessage) -> bool:
    inside = Path(warning.filename).is_relative_to(ROOT / "src")
    return inside or issubclass(warning.category, FoldwiseWarning) or "foldwise" in str(warning)


def source_of(path: Path) -> CodeType:
    text = path.read_text(encoding="utf-8")
    if path.stem in SMALLER:
        whole, smaller = SMALLER[path.stem]
        assert whole in text
        text = text.replace(whole, smaller)
    return compile(text, str(path), "exec")


# In this process, which has imported everything already.
@pytest.mark.parametrize(
    "path", [p for p in EXAMPLES if p not in STARTS_PROCESSES], ids=lambda path: path.stem
)
def test_an_example_runs_without_a_warning_of_ours_and_leaves_no_file(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        exec(source_of(path), {"__name__": "__main__", "__file__": str(path)})
    assert capsys.readouterr().out, "an example shows something"
    assert [str(warning) for warning in caught if is_ours(warning)] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", STARTS_PROCESSES, ids=lambda path: path.stem)
def test_an_example_with_processes_runs_without_a_warning_of_ours_and_leaves_no_file(
    path: Path, tmp_path: Path
) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "default", str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout, "an example shows something"
    ours = [line for line in run.stderr.splitlines() if "foldwise" in line and "Warning" in line]
    assert ours == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, underline = text[3:].splitlines()[:2]
    assert text.startswith('"""')
    assert underline == "=" * len(title), "the gallery wants a title"
    assert len(text.splitlines()) < 100
