"""One small model for all tests of the command line, and a way to type commands."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner

from foldwise.auto.presets import PRESETS
from foldwise.cli.app import app
from tests.cli.flats import make_flats


class Typed:
    """What a command printed and how it ended."""

    def __init__(self, *words):
        runner = CliRunner(env={"FOLDWISE_JOBS": "1"})
        result = runner.invoke(app, [str(word) for word in words])
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr
        self.error = result.exception

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def last(self):
        return self.err.strip().splitlines()[-1]


@contextmanager
def smaller() -> Iterator[None]:
    """Make the fast preset faster: all its members, few trees, one deal of three folds."""
    fast = replace(PRESETS["fast"], folds=3, folds_in_time=(3,), size=0.05)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "fast", fast)
        patch.setattr("foldwise.stack.parameters.MOST_REPEATS", 1)
        yield


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    # Not for the session: tests of other folders follow in the same process.
    with smaller():
        yield


@pytest.fixture(scope="session")
def typed():
    return Typed


@pytest.fixture(scope="session")
def flats(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "flats.csv"
    make_flats(80).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def prices(flats, tmp_path_factory):
    """A model of a quantity, fitted by typing."""
    folder = tmp_path_factory.mktemp("models") / "prices"
    options = ("--preset", "fast", "--time", 13, "--drop", "description", "--out", folder)
    with smaller():
        result = Typed("fit", flats, "--target", "rent", *options, "--json")
    assert result.code == 0, result.err
    return folder, result.json


HOSTILE = '<b>"[red]{x}:,'
CLASSES = ["=1+1", "@[bold]b", "ünï"]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A table whose names and classes are meant to break something."""
    path = tmp_path_factory.mktemp("tables") / "hostile.csv"
    n = 90
    frame = pd.DataFrame(
        {
            HOSTILE: [k % 7 for k in range(n)],
            "[/red] " + "x" * 150: [["p", "q"][k % 3 > 0] for k in range(n)],
            "class": [CLASSES[k % 3] for k in range(n)],
        }
    )
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def kinds(hostile, tmp_path_factory):
    """A model of three classes, fitted by typing."""
    folder = tmp_path_factory.mktemp("models") / "kinds"
    options = ("--preset", "fast", "--time", 13, "--out", folder, "--json")
    with smaller():
        result = Typed("fit", hostile, "--target", "class", *options)
    assert result.code == 0, result.err
    return folder, result.json
