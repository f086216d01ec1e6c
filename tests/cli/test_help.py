"""What people read before they type, and what they are told afterwards."""

import subprocess
import sys

import pytest
from click.shell_completion import get_completion_class

from foldwise.cli.app import app
from tests.cli.test_app import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_how_it_is_typed(command, typed):
    assert f"$ foldwise {command}" in typed(command, "--help").out


def test_the_overview_shows_how_to_begin(typed):
    assert "$ foldwise fit houses.csv --target price --out model" in typed("--help").out


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o nosort"), ("zsh", "compdef")])
def test_completion_can_be_sourced(shell, word, typed):
    assert word in typed("completion", shell).out


@pytest.mark.parametrize(
    ("typed_so_far", "completed"),
    [
        ("le", "plain,leaderboard"),
        ("fit table.csv --tar", "plain,--target"),
        ("fit t.csv --preset f", "plain,fast"),
        ("fit ta", "file,ta"),
        ("fit table.csv --out mod", "file,mod"),
        ("predict mod", "file,mod"),
        ("predict model ne", "file,ne"),
        ("resume mod", "file,mod"),
    ],
)
def test_commands_options_and_files_are_completed(typed_so_far, completed, monkeypatch):
    words = f"foldwise {typed_so_far}"
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    shell = get_completion_class("bash")(app, {}, "foldwise", "_FOLDWISE_COMPLETE")
    assert shell.complete().splitlines() == [completed]


def test_the_shell_asks_the_command_itself():
    begun = "_FOLDWISE_COMPLETE='zsh_complete', COMP_WORDS='foldwise le', COMP_CWORD='1'"
    ask = f"import os; os.environ.update({begun}); from foldwise.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert "leaderboard" in found.stdout


def test_kinds_of_columns_can_be_overruled(typed, flats):
    words = ("inspect", flats, "--target", "rent", "--json")
    kinds = {
        c["column"]: c["kind"] for c in typed(*words, "--kind", "floor=category").json["columns"]
    }
    assert kinds["floor"] == "category"
    assert {c["column"]: c["kind"] for c in typed(*words).json["columns"]}["floor"] == "number"
    assert typed("inspect", flats, "--kind", "flor=category").last == (
        "Error: --kind must name a column of the table; got 'flor'. Did you mean 'floor'?"
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("floor", "--kind must be COL=KIND, with a kind that is known; got 'floor'. "
         "Try --kind code=category."),
        ("floor=catgory", "--kind must be COL=KIND, with a kind that is known; got "
         "'floor=catgory'. Did you mean 'category'?"),
        ("flor=category", "--kind must name a column of the table; got 'flor'. "
         "Did you mean 'floor'?"),
    ],
)  # fmt: skip
def test_a_kind_that_cannot_be_meant_is_misuse(said, message, typed, flats):
    result = typed("inspect", flats, "--target", "rent", "--kind", said)
    assert (result.code, result.last) == (2, f"Error: {message}")


def test_predictions_for_machines_are_those_for_people(typed, prices, flats):
    told = typed("predict", prices[0], flats, "--json").json["predictions"]
    shown = typed("predict", prices[0], flats).out.splitlines()
    assert [f"{row['prediction']}" for row in told] == shown[1:]


def test_a_kept_model_says_what_next(capsys, tmp_path):
    from foldwise.cli.fitting import Fitted, say_what_next

    say_what_next(tmp_path, Fitted(None, None, [], 0.0))
    assert f"foldwise predict {tmp_path} NEW_ROWS.csv" in capsys.readouterr().err
