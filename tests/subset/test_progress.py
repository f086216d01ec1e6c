import pytest

from foldwise.errors import FoldwiseWarning
from foldwise.subset import progress
from foldwise.subset.progress import drive


def test_a_finished_search_is_complete_and_silent(capsys):
    assert drive(iter([0.5, 1.0]), "Test")
    assert capsys.readouterr().err == ""


def test_lines_say_how_long_it_will_take(monkeypatch, capsys):
    clock = iter([0.0, 3.0, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    drive(iter([0.5, 1.0]), "Test", verbose=1)
    assert capsys.readouterr().err == (
        "Test: 50.0 % of the subsets decided in 3 s, about 3 s left\n"
        "Test: 100.0 % of the subsets decided in 6 s, about 0 s left\n"
    )


def test_the_time_limit_stops_a_search(monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with pytest.warns(FoldwiseWarning, match=r"^Test: stopped after 2 seconds with the best"):
        assert not drive(iter([0.5, 1.0]), "Test", time_limit=2)


def test_ctrl_c_keeps_what_was_found():
    def search():
        yield 0.5
        raise KeyboardInterrupt

    with pytest.warns(FoldwiseWarning, match=r"^Test: interrupted; the best models so far"):
        assert not drive(search(), "Test")
