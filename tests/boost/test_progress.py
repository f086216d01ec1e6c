import logging

import numpy as np
import pytest

from foldwise import AdaBoostClassifier
from foldwise.boost import progress
from foldwise.boost.progress import LOGGER, Progress


@pytest.fixture
def lines(caplog) -> list[str]:
    caplog.set_level(logging.INFO, "foldwise")
    return caplog


def test_silence_is_silent(lines) -> None:
    Progress("Owner", 10, verbose=0).step(10)
    assert not lines.messages


def test_the_first_line_comes_at_once_and_the_last_at_the_end(lines) -> None:
    report = Progress("Owner", 3, verbose=1)
    assert lines.messages == ["Owner: 0 of 3"]
    report.step(1)
    report.step(3)
    assert lines.messages[1:] == ["Owner: 3 of 3, 0 s left"]


def test_lines_tell_the_time_left(lines, monkeypatch) -> None:
    now = iter([0.0, 3.0, 3.5, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    report = Progress("Owner", 10, verbose=1)
    report.step(1)
    report.step(2)
    report.step(4)
    assert lines.messages[1:] == ["Owner: 1 of 10, 27 s left", "Owner: 4 of 10, 9 s left"]


def test_every_round_can_be_told(lines) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    AdaBoostClassifier(n_estimators=3, verbose=2).fit(X, y)
    assert len(lines.messages) == 4


def test_a_handler_is_added_where_nothing_listens(monkeypatch) -> None:
    monkeypatch.setattr(LOGGER, "hasHandlers", lambda: False)
    before = list(LOGGER.handlers)
    Progress("Owner", 1, verbose=1)
    added = [handler for handler in LOGGER.handlers if handler not in before]
    assert len(added) == 1
    LOGGER.removeHandler(added[0])
