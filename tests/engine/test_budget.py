import time

import pytest

from foldwise.engine import budget as module
from foldwise.engine.budget import Clock, Costs, Task, free_memory


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


def test_cost_is_in_proportion_to_size_within_an_owner() -> None:
    costs = Costs()
    costs.learn(Task(None, ("a",), size=10), 1.0, 50)
    costs.learn(Task(None, ("a",), size=30), 5.0, 30)
    assert costs.seconds(Task(None, ("a",), size=20)) == pytest.approx(3.0)
    assert costs.memory(Task(None, ("a",), size=20)) == pytest.approx(100.0)
    assert costs.highest == 50


def test_what_was_expected_counts_half_until_something_was_done() -> None:
    costs = Costs({"a": 8.0})
    assert costs.least_rate("a") == 4.0
    assert costs.least_rate("b") is None
    costs.learn(Task(None, ("a",), size=2), 1.0, 0)
    assert costs.least_rate("a") == 0.5


def test_where_others_took_longer_than_expected_more_is_expected() -> None:
    costs = Costs({"a": 8.0, "b": 1.0, "c": 1.0})
    costs.learn(Task(None, ("b",), size=2), 6.0, 0)
    costs.learn(Task(None, ("d",), size=2), 99.0, 0)
    assert costs.least_rate("a") == 0.5 * 3.0 * 8.0
    # Nor is it less where they were quick.
    costs.learn(Task(None, ("c",), size=30), 1.0, 0)
    assert costs.least_rate("a") == 4.0


def test_unknown_owners_cost_what_others_do_on_average() -> None:
    costs = Costs()
    assert costs.total([Task(None, ("a",))]) is None
    costs.learn(Task(None, ("a",), size=10), 20.0, 0)
    assert costs.total([Task(None, ("a",), size=1), Task(None, ("b",), size=2)]) == 6.0


def test_free_memory_is_a_number_where_the_system_tells() -> None:
    free = free_memory()
    assert free is None or 0 < free < 1 << 50


def test_a_limit_of_the_container_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    if free_memory() is None:
        pytest.skip("this system does not tell")
    numbers = {"/sys/fs/cgroup/memory.max": 1000, "/sys/fs/cgroup/memory.current": 900}
    monkeypatch.setattr(module, "_number", numbers.get)
    assert free_memory() == 100
