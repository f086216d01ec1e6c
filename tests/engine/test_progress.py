import logging
from collections.abc import Iterator

import pytest

from foldwise.engine import Progress
from foldwise.engine.progress import logger


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


def test_silence_at_zero(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="foldwise"):
        Progress("Stack", 3, verbose=0).step("ridge")
    assert caplog.records == []


def test_the_first_line_says_how_much_there_is_to_do(caplog: pytest.LogCaptureFixture) -> None:
    Progress("Stack", 12, verbose=1)
    assert [record.getMessage() for record in caplog.records] == ["Stack: 12 fits to do"]


def test_the_last_step_is_always_said(caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress("Stack", 100, verbose=1)
    for _ in range(100):
        progress.step("ridge")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[-1].startswith("Stack: 100/100 fits, ridge, ")
    assert lines[-1].endswith("about 0 s left")


def test_at_most_ten_lines_a_second(caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress("Stack", 100_000, verbose=1)
    for _ in range(1000):
        progress.step("ridge")
    assert len(caplog.records) < 10


def test_the_time_left_is_in_proportion(caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress("Stack", 10, verbose=1)
    progress.start -= 30
    progress.step("forest", 5)
    assert caplog.records[-1].getMessage() == "Stack: 5/10 fits, forest, 30 s, about 30 s left"


def test_a_listener_of_the_users_gets_the_lines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    Progress("Stack", 1, verbose=1).step("ridge")
    assert len(lines) == 2
    assert capsys.readouterr().err == ""
