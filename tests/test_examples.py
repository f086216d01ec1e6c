import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from foldwise.errors import FoldwiseWarning

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("**/*.py"))
STARTS_PROCESSES = [path for path in EXAMPLES if path.stem == "fit_on_a_cluster"]


def test_there_are_examples_in_every_tier() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {"1_start", "2_how_to"}


def is_ours(warning: warnings.WarningMessage) -> bool:
    inside = Path(warning.filename).is_relative_to(ROOT / "src")
    return inside or issubclass(warning.category, FoldwiseWarning) or "foldwise" in str(warning)


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
        runpy.run_path(str(path), run_name="__main__")
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
    assert text.startswith('"""')
    assert len(text.splitlines()) < 100
