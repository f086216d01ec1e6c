import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("**/*.py"))


def test_there_are_examples_in_every_tier() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {"1_start", "2_how_to"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_without_a_warning_of_ours_and_leaves_no_file(
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
