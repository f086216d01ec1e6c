import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from foldwise.auto.tables import read_table
from tests.auto.tables.bad_tables import BAD_TABLES
from tests.forked import Forked

COMMANDS = (
    "demo", "explain", "fit", "inspect", "leaderboard", "predict", "report", "resume", "rules",
)  # fmt: skip


def run(*words, **options):
    command = [sys.executable, "-m", "foldwise.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_help_is_instant():
    # In the processor's seconds: one that is not ours for a moment must not fail the test.
    before = sum(os.times()[2:4])
    assert run("--help").returncode == 0
    assert sum(os.times()[2:4]) - before < 0.5


def test_names_that_an_encoding_lacks_are_told_all_the_same(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("町,x\n" + "東京,1\n大阪,2\n" * 10, encoding="utf-8")
    told = run("inspect", path, "--json", env=os.environ | {"PYTHONIOENCODING": "cp1252"})
    assert [column["column"] for column in json.loads(told.stdout)["columns"]] == ["町", "x"]


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from foldwise.cli.app import app; "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'pandas', 'sklearn', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, typed):
    result = typed(command, "--help")
    assert result.code == 0
    assert "--debug" in result.out


def test_the_overview_cuts_no_sentence(typed):
    shown = typed("--help").out
    assert all(command in shown for command in COMMANDS)
    assert "..." not in shown.split("Commands:")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Usage: "),
        (("fitt",), "Error: No such command 'fitt'."),
        (("fit",), "Error: Missing argument 'TABLE'."),
        (("fit", "t.csv"), "Error: Missing option '--target'."),
        (("fit", "t.csv", "--target", "y", "--time", "0"), "Error: Invalid value for '--time'"),
        (("fit", "t.csv", "--target", "y", "--preset", "slow"), "Error: Invalid value for"),
    ],
)
def test_misuse_ends_with_2(words, message, typed):
    result = typed(*words)
    assert result.code == 2
    assert message in result.err


def test_a_file_that_is_not_there_ends_with_1(typed, tmp_path):
    result = typed("fit", tmp_path / "t.csv", "--target", "y")
    assert result.code == 1
    assert result.last == "Error: t.csv must be there; got nothing. Check the path."


def test_debug_shows_where(typed, tmp_path):
    result = typed("inspect", tmp_path / "t.csv", "--debug")
    assert type(result.error).__name__ == "InvalidDataError"


@pytest.mark.parametrize("name", [n for n, (_, e) in BAD_TABLES.items() if isinstance(e, str)])
def test_a_table_that_cannot_be_read_is_one_sentence(name, typed, tmp_path):
    content, expected = BAD_TABLES[name]
    (tmp_path / "t.csv").write_bytes(content)
    for command in (("inspect",), ("fit", "--target", "a"), ("rules", "--target", "a")):
        result = typed(*command, tmp_path / "t.csv")
        assert result.code == 1
        assert result.last.startswith(f"Error: t.csv must {expected}"[:75])
        assert "Traceback" not in result.err


READ_RIGHT = ("Latin-1", "quoted newlines", "decimal commas", "infinities", "formulas")


@pytest.mark.parametrize("name", READ_RIGHT)
def test_a_bad_table_that_can_be_read_gives_a_model(name, typed, tmp_path):
    head, *rows = BAD_TABLES[name][0].split(b"\n", 1)
    mark = b";" if b";" in head else b","
    body = rows[0] * 12
    (tmp_path / "t.csv").write_bytes(head + b"\n" + body)
    frame = read_table(tmp_path / "t.csv")
    frame["goal"] = [7 * k % 11 + 0.5 for k in range(len(frame))]
    frame.to_csv(tmp_path / "t.csv", index=False, sep=mark.decode())
    options = ("--preset", "fast", "--time", 30, "--json")
    result = typed("fit", tmp_path / "t.csv", "--target", "goal", *options)
    assert result.code == 0, result.err
    assert result.json["n_rows"] == len(frame)
    assert [column["column"] for column in result.json["columns"]] == list(frame.columns[:-1])


TYPED = """
from dataclasses import replace
from foldwise.auto.presets import PRESETS
from foldwise.cli import main
PRESETS["fast"] = replace(PRESETS["fast"], folds=3, size=0.05)
main()
"""


def test_an_interrupted_run_is_continued(tmp_path, flats):
    folder = tmp_path / "model"
    table = tmp_path / "t.csv"
    pd.read_csv(flats)[["size_m2", "floor", "rent"]].to_csv(table, index=False)
    words = ["fit", str(table), "--target", "rent", "--preset", "fast", "--out", str(folder)]
    environment = {"OMP_NUM_THREADS": "1", "FOLDWISE_JOBS": "1"}
    process = Forked(TYPED, *words, env=environment)
    for line in process.stderr:
        if "fits," in line and int(line.split(": ")[1].split("/")[0]) >= 3:
            process.send_signal(signal.SIGINT)
            break
    rest = process.communicate()[1]
    assert process.returncode in (0, 1)
    assert "Traceback" not in rest
    process = Forked(TYPED, "resume", folder, "--json", env=environment)
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (folder / "model.foldwise").is_file()
    assert '"partial": false' in said
