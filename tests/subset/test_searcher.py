from types import SimpleNamespace

import pytest

from foldwise.errors import FoldwiseWarning
from foldwise.subset import search
from foldwise.subset.search import Searcher


def test_a_finished_search_is_complete_and_silent(caplog):
    assert Searcher("Test").drive(iter([0.5, 1.0]))
    assert not caplog.messages


def test_lines_say_how_much_is_decided(caplog):
    assert Searcher("Test", verbose=2).drive(iter([0.5, 1.0]))
    assert caplog.messages[0] == "Test: subsets to do"
    assert caplog.messages[1].startswith("Test: 50.0 % of the subsets, 0 s, about ")
    assert caplog.messages[-1] == "Test: 100.0 % of the subsets done in 0 s"


def test_the_time_limit_stops_a_search(monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.warns(FoldwiseWarning, match=r"^Test: stopped after 2 seconds with the best"):
        assert not Searcher("Test", time_limit=2).drive(iter([0.5, 1.0]))


def test_ctrl_c_keeps_what_was_found():
    def stopped():
        yield 0.5
        raise KeyboardInterrupt

    with pytest.warns(FoldwiseWarning, match=r"^Test: interrupted; the best models so far"):
        assert not Searcher("Test").drive(stopped())
