import io
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from foldwise.engine.events import Event, Stream
from foldwise.engine.listeners import (
    LogLines,
    NotebookBar,
    TerminalBar,
    listeners_for,
    logger,
)


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
