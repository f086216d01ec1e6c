import json

import numpy as np
import pandas as pd
import pytest

from foldwise.cli.screen import number, print_frame, print_json


@pytest.mark.parametrize(
    ("value", "shown"),
    [(112.0612, "112.1"), (0.00012345, "0.0001234"), (-3.0, "-3.000"), (46941.4, "46,941"),
     (1e15, "1e+15"), (float("nan"), "–"), (21_680_118.0, "21,680,118")],
)  # fmt: skip
def test_numbers_are_short_and_readable(value, shown):
    assert number(value) == shown


def test_cells_are_never_taken_as_markup(capsys):
    print_frame(pd.DataFrame({"[red]a": ["[bold]x", None], "n": [1.0, np.nan]}))
    shown = capsys.readouterr().out
    assert "[red]a" in shown
    assert "[bold]x" in shown


def test_nothing_is_cut_when_there_is_no_terminal(capsys):
    print_frame(pd.DataFrame({f"a long name of column {k}": ["x" * 50] for k in range(20)}))
    assert "…" not in capsys.readouterr().out


def test_json_has_no_infinity(capsys):
    print_json({"a": [np.inf, np.int64(3)], 1: pd.Timestamp("2024-01-01")})
    told = json.loads(capsys.readouterr().out)
    assert told == {"a": [None, 3], "1": "2024-01-01 00:00:00"}
