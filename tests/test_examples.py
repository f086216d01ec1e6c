import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from foldwise.auto.presets import PRESETS
from foldwise.errors import FoldwiseWarning

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("**/*.py"))
STARTS_PROCESSES = [path for path in EXAMPLES if path.stem == "fit_on_a_cluster"]
# What takes long because it is done often, or large, is done less here; `make docs` runs it whole.
LEARNERS = re.compile(
    r"((?<!AdaBoostClassifier\()n_estimators=|n_bags=|(?:Forest|Trees)[A-Z]\w+\()(\d+)"
)
SMALLER = {
    "bet_on_sparsity": ("REPEATS = 50, 300, 8", "REPEATS = 50, 300, 2"),
    "dropout_networks_are_ensembles": ("EPOCHS, MASKS = 60", "EPOCHS, MASKS = 5"),
    "fit_on_a_cluster": ("n_workers=2", "n_workers=1"),
    "networks_of_boosted_units": (
        "UNITS, WIDTHS, EPOCHS = 30, [1, 2, 5, 10, 20, 30], 30",
        "UNITS, WIDTHS, EPOCHS = 2, [1, 2], 5",
    ),
    "residual_networks_are_paths": ("EPOCHS, SUBSETS = 9, 40, 12", "EPOCHS, SUBSETS = 9, 2, 2"),
    "the_seeds_procedure": ("SAMPLES = 16", "SAMPLES = 1"),
    "variance_of_a_mean": ("SETS, LEARNERS = 120, 30", "SETS, LEARNERS = 8, 30"),
    "when_averaging_helps": ("default=40", "default=4"),
    "what_other_scores_say": ("REPEATS = 100, 20, 8", "REPEATS = 100, 20, 2"),
}


def test_there_are_examples_in_every_tier() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {"1_start", "2_how_to"}


def is_ours(warning: warnings.WarningMessage) -> bool:
    inside = Path(warning.filename).is_relative_to(ROOT / "src")
    return inside or issubclass(warning.category, FoldwiseWarning) or "foldwise" in str(warning)


def source_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.stem in SMALLER:
        whole, smaller = SMALLER[path.stem]
        assert whole in text
        text = text.replace(whole, smaller)
    return LEARNERS.sub(lambda found: f"{found[1]}{min(int(found[2]), 10)}", text)


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
    monkeypatch.setattr(sys.modules["foldwise.folds.lattice"], "DEFAULT_FOLDS", 3)
    monkeypatch.setitem(PRESETS, "fast", replace(PRESETS["fast"], folds=3, size=0.05))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        exec(
            compile(source_of(path), str(path), "exec"),
            {"__name__": "__main__", "__file__": str(path)},
        )
    assert capsys.readouterr().out, "an example shows something"
    assert [str(warning) for warning in caught if is_ours(warning)] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", STARTS_PROCESSES, ids=lambda path: path.stem)
def test_an_example_with_processes_runs_without_a_warning_of_ours_and_leaves_no_file(
    path: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / path.name).write_text(source_of(path), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "default", str(tmp_path / path.name)],
        capture_output=True,
        text=True,
        cwd=here,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout, "an example shows something"
    ours = [line for line in run.stderr.splitlines() if "foldwise" in line and "Warning" in line]
    assert ours == []
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, underline = text[3:].splitlines()[:2]
    assert text.startswith('"""')
    assert underline == "=" * len(title), "the gallery wants a title"
    assert len(text.splitlines()) < 100
    assert '"--save"' in text, "the gallery shows a picture"
