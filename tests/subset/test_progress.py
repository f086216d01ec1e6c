from types import SimpleNamespace

import pytest

from foldwise.errors import FoldwiseWarning
from foldwise.subset import progress
from foldwise.subset.progress import drive


def test_a_finished_search_is_complete_and_silent(caplog):
    assert drive(iter([0.5, 1.0]), "Test")
    assert not caplog.messages


def test_lines_say_how_much_is_decided(caplog):
    assert drive(iter([0.5, 1.0]), "Test", verbose=2)
    assert caplog.messages[0] == "Test: subsets to do"
    assert caplog.messages[1].startswith("Test: 50.0 % of the subsets, 0 s, about ")
    assert caplog.messages[-1] == "Test: 100.0 % of the subsets done in 0 s"


def test_the_time_limit_stops_a_search(monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.warns(FoldwiseWarning, match=r"^Test: stopped after 2 seconds with the best"):
        assert not drive(iter([0.5, 1.0]), "Test", time_limit=2)


def test_ctrl_c_keeps_what_was_found():
    def search():
        yield 0.5
        raise KeyboardInterrupt

    with pytest.warns(FoldwiseWarning, match=r"^Test: interrupted; the best models so far"):
        assert not drive(search(), "Test")
