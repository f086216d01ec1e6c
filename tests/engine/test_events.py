import io
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from foldwise.engine import events
from foldwise.engine.events import (
    Event,
    LogLines,
    NotebookBar,
    Stream,
    TerminalBar,
    listeners_for,
    logger,
    progress,
)
from foldwise.wording import memory, rough_duration


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Event("started", "S", total=1200), "S: 1,200 fits to do"),
        (Event("planned", "S", "90 fits, about 4 min, 1.2 GB"), "S: 90 fits, about 4 min, 1.2 GB"),
        (Event("fitted", "S", "a", 5, 10, 30.0, 31.0), "S: 5/10 fits, a, 30 s, about 31 s left"),
        (Event("fitted", "S", "a", 5, 10, 30.0), "S: 5/10 fits, a, 30 s"),
        (Event("failed", "S", "a", reason="no"), "S: a failed: no"),
        (Event("dropped", "S", "a", reason="time"), "S: a dropped: time"),
        (Event("finished", "S", done=10, seconds=7300), "S: 10 fits done in 2.0 h"),
    ],
)
def test_every_event_is_one_line(event: Event, line: str) -> None:
    assert event.line == line


def test_a_stream_counts_and_tells_everybody() -> None:
    one: list[Event] = []
    two: list[Event] = []
    stream = Stream("S", 4, [one.append, two.append])
    stream.tell("started")
    stream.tell("fitted", "a", fits=3, took=1.5)
    assert one == two
    assert [(e.done, e.total) for e in one] == [(0, 4), (3, 4)]
    assert one[1].took == 1.5
    assert one[1].seconds >= one[0].seconds


def test_more_fits_than_foreseen_raise_the_total() -> None:
    stream = Stream("S", 1)
    stream.tell("fitted", fits=3)
    assert stream.total == 3


def test_words_for_time_and_memory() -> None:
    assert [rough_duration(s) for s in (0, 89, 91, 5399, 5401)] == [
        "0 s", "89 s", "2 min", "90 min", "1.5 h",
    ]  # fmt: skip
    assert memory(999e6) == "999 MB"


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture
def nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest itself always does.
    monkeypatch.setattr(logger, "hasHandlers", lambda: False)


def told(listener: Any, n: int) -> None:
    stream = Stream("Stack", n, [listener])
    stream.tell("started")
    for _ in range(n):
        stream.tell("fitted", "ridge", fits=1, left=3.0)
    stream.tell("dropped", "[bold]gbm", reason="time budget")
    stream.tell("finished")


def test_silence_at_zero() -> None:
    assert listeners_for(0, None) == []
    assert listeners_for(0, print) == [print]


def test_lines_if_anybody_listens_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    (listener,) = listeners_for(1, None)
    assert isinstance(listener, LogLines)
    told(listener, 2)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "Stack: 2 fits to do"
    assert lines[-3] == "Stack: 2/2 fits, ridge, 0 s, about 3 s left"
    assert lines[-1] == "Stack: 2 fits done in 0 s"


def test_at_most_ten_lines_a_second_but_always_the_last(caplog: pytest.LogCaptureFixture) -> None:
    logger.setLevel(logging.INFO)
    told(LogLines(), 1000)
    fitted = [r.getMessage() for r in caplog.records if "/1,000 fits" in r.getMessage()]
    assert len(fitted) < 20
    assert fitted[-1].startswith("Stack: 1,000/1,000 fits")


@pytest.mark.usefixtures("nobody_listens")
def test_lines_on_the_error_stream_if_it_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (listener,) = listeners_for(1, None)
    told(listener, 1)
    captured = capsys.readouterr()
    assert captured.err.startswith("Stack: 1 fits to do\n")
    assert captured.out == ""


@pytest.mark.usefixtures("nobody_listens")
def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert [type(listener) for listener in listeners_for(1, None)] == [TerminalBar]


def test_the_bar_shows_counts_learner_and_time_left_and_takes_names_literally() -> None:
    text = io.StringIO()
    bar = TerminalBar(Console(file=text, force_terminal=True, width=120))
    stream = Stream("Stack", 3, [bar])
    stream.tell("started")
    stream.tell("fitted", "[red]ridge", fits=2, left=3.0)
    bar.progress.refresh()
    stream.tell("dropped", "[bold]gbm", reason="time budget")
    stream.tell("finished")
    shown = text.getvalue()
    assert "2/3" in shown
    assert "[red]ridge" in shown
    assert "about 3 s left" in shown
    assert "[bold]gbm dropped: time budget" in shown


@pytest.mark.usefixtures("nobody_listens")
def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, what: str) -> None:
            shown.append(what)

    def display(what: str, **_: bool) -> Handle:
        shown.append(what)
        return Handle()

    class ZMQInteractiveShell:
        pass

    shell = types.ModuleType("IPython")
    shell.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    module = types.ModuleType("IPython.display")
    module.HTML, module.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    (listener,) = listeners_for(1, None)
    assert isinstance(listener, NotebookBar)
    listener(Event("started", "Stack", total=2))
    listener(Event("finished", "Stack", done=2, total=2))
    assert shown == [
        '<progress value="0" max="2"></progress> Stack: 2 fits to do',
        '<progress value="2" max="2"></progress> Stack: 2 fits done in 0 s',
    ]


def test_a_loop_tells_its_first_and_its_last_step(caplog: pytest.LogCaptureFixture) -> None:
    with progress("Owner", 3, verbose=1, unit="rounds") as stream:
        assert caplog.messages == ["Owner: 3 rounds to do"]
        stream.reach(1)
        stream.advance(2)
    assert caplog.messages[1:] == [
        "Owner: 3/3 rounds, 0 s, about 0 s left",
        "Owner: 3 rounds done in 0 s",
    ]


def test_a_loop_tells_every_two_seconds_and_how_long_it_will_take(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    with progress("Owner", 10, verbose=1, unit="rounds") as stream:
        stream.start = 0.0
        for done, now[0] in [(1, 3.0), (2, 3.5), (4, 6.0)]:
            stream.reach(done)
    assert caplog.messages[1:-1] == [
        "Owner: 1/10 rounds, 3 s, about 27 s left",
        "Owner: 4/10 rounds, 6 s, about 9 s left",
    ]


def test_every_step_can_be_told_and_none(caplog: pytest.LogCaptureFixture) -> None:
    with progress("Owner", 3, verbose=0) as stream:
        stream.reach(3)
    assert stream.done == 3
    assert not caplog.messages
    with progress("Owner", 3, verbose=2) as stream:
        for _ in range(3):
            stream.advance()
    assert len(caplog.messages) == 5


def test_where_only_shares_are_known_they_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with progress("Owner", 1.0, verbose=2, unit="subsets") as stream:
        stream.reach(0.25)
    assert caplog.messages[0] == "Owner: subsets to do"
    assert caplog.messages[1].startswith("Owner: 25.0 % of the subsets, 0 s, about ")
    assert caplog.messages[2] == "Owner: 25.0 % of the subsets done in 0 s"
