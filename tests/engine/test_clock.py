import time

import pytest

from foldwise.engine.clock import Clock


def test_without_a_budget_there_is_no_end() -> None:
    clock = Clock()
    clock.slice(0.1)
    assert clock.left() == float("inf")


def test_the_reserve_is_not_for_fits() -> None:
    assert Clock(10, reserve=4).left() == pytest.approx(6, abs=0.1)


def test_a_slice_ends_before_the_whole() -> None:
    clock = Clock(10)
    clock.slice(0.25)
    assert clock.left() == pytest.approx(2.5, abs=0.1)
    clock.slice(1.0)
    assert clock.left() == pytest.approx(10, abs=0.1)


def test_a_clock_that_runs_already_goes_on() -> None:
    assert Clock(10, start=time.monotonic() - 8).left() == pytest.approx(2, abs=0.1)
