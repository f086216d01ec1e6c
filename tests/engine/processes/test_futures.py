import os
import sys
import tempfile
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from foldwise import StackingRegressor
from foldwise.engine.executor import TaskLostError
from foldwise.engine.processes import futures
from foldwise.engine.processes.futures import Futures
from foldwise.errors import InvalidParameterError
from tests.forked import server


class AtOnce(Executor):
    """Does everything in submit, as a remote executor of a few lines would."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Refusing(Executor):
    """Takes nothing."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


def total(shared: Any, job: float) -> float:
    return float(shared.sum()) * job


def dies(_shared: Any, _job: Any) -> None:
    os._exit(1)


def test_an_executor_of_a_few_lines_will_do() -> None:
    executor = Futures(AtOnce(), 2)
    for size in (3, 300_000):
        executor.place(total, np.ones(size))
        executor.submit(size, 2.0)
        assert executor.wait(1.0)[0].result == 2.0 * size
    executor.close()


def test_the_data_is_opened_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(futures, "_opened", {})
    executor = Futures(AtOnce(), 2)
    executor.place(total, np.ones(300_000))
    executor.submit(0, 1.0)
    placed = dict(futures._opened)
    executor.submit(1, 2.0)
    assert len(placed) == 1
    assert all(futures._opened[key] is value for key, value in placed.items())
    executor.close()


def test_data_that_cannot_be_read_there_is_said() -> None:
    executor = Futures(AtOnce(), 2)
    executor.place(total, np.ones(300_000))
    executor._room.close()
    executor.submit(0, 1.0)
    error = executor.wait(1.0)[0].error
    assert isinstance(error, TaskLostError)
    assert "Set TMPDIR to a folder that all workers see." in str(error)
    executor.close()


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name are Linux's")
def test_the_data_of_a_process_pool_have_no_name_that_could_be_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Here(ProcessPoolExecutor):
        submit = AtOnce.submit

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    executor = Futures(Here(1), owner="Stack")
    for value in (1.0, 2.0):
        # The handle's number is used again, what was opened under it before is not.
        executor.place(total, np.full(300_000, value))
        executor.submit(int(value), 1.0)
        assert executor.wait(1.0)[0].result == 300_000 * value
        assert not list(tmp_path.iterdir())
    executor.close()


def test_an_executor_that_takes_nothing_loses_every_task() -> None:
    executor = Futures(Refusing(), 2)
    executor.place(total, np.ones(3))
    executor.submit(0, 1.0)
    assert str(executor.wait(1.0)[0].error) == (
        "its executor failed (RuntimeError: cannot schedule new futures after shutdown)"
    )
    executor.close()


def test_a_pool_that_breaks_is_an_error_and_no_learners_fault() -> None:
    with ProcessPoolExecutor(1, mp_context=server()) as pool:
        executor = Futures(pool, owner="Stack")
        executor.place(dies, None)
        executor.submit(0, 1.0)
        with pytest.raises(
            InvalidParameterError, match="Stack: executor must be a pool that works"
        ):
            executor.wait(60.0)
        with pytest.raises(InvalidParameterError, match="got a broken one"):
            executor.submit(1, 1.0)
        executor.close()


def test_a_thread_that_its_pool_has_not_noted_yet_is_inside_it() -> None:
    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as other:

        def ask() -> tuple[bool, bool]:
            pool._threads.clear()  # as in the moment before
            return futures.is_inside(pool), futures.is_inside(other)

        assert pool.submit(ask).result(60) == (True, False)


@pytest.mark.parametrize("between", [False, True])
def test_stacks_inside_each_other_may_share_a_pool_of_threads(between: bool) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as other:

        def stack(learner: Any, executor: Any) -> StackingRegressor:
            return StackingRegressor(
                [("only", learner)], "mean", cv=3, random_state=0, executor=executor
            )

        inner = stack(Ridge(), pool)
        outer = stack(stack(inner, other) if between else inner, pool)
        plain = stack(stack(stack(Ridge(), None), None) if between else stack(Ridge(), None), None)
        # The pool itself may be where it is fitted.
        found = pool.submit(outer.fit, X, y).result(300)
        np.testing.assert_array_equal(found.oof_, plain.fit(X, y).oof_)
        if not between:
            np.testing.assert_array_equal(outer.fit(X, y).oof_, found.oof_)
