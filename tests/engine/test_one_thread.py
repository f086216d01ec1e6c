from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from foldwise import StackingRegressor
from foldwise.engine.executor import Together, one_thread
from foldwise.engine.run import Run
from foldwise.stack.table import read
from foldwise.stack.table.read import MANY_ROWS


def threads(api: str) -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == api}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2):
        yield


@pytest.mark.parametrize("api", ["blas", "openmp"])
def test_libraries_are_held_to_one_thread_and_let_go(api) -> None:
    with one_thread(api):
        assert threads(api) == {1}
    assert threads(api) == {2}


def test_threads_of_openmp_are_no_concern_of_blas() -> None:
    with one_thread("blas"):
        assert threads("openmp") == {2}
    with one_thread("openmp"):
        assert threads("blas") == {2}


def test_who_leaves_last_restores_what_the_first_had_found() -> None:
    """Else the last would restore what another had set: one thread for good."""
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        own, other = ExitStack(), ExitStack()
        first.submit(own.enter_context, one_thread("blas")).result()
        second.submit(other.enter_context, one_thread("blas")).result()
        first.submit(own.close).result()
        assert threads("blas") == {1}
        second.submit(other.close).result()
        assert threads("blas") == {2}


def test_what_could_not_be_entered_is_not_left() -> None:
    entered = []

    class Fails:
        def __enter__(self):
            entered.append(1)
            raise KeyError

    together = Together(Fails)
    for _ in range(2):
        with pytest.raises(KeyError), together:
            pass
    assert len(entered) == 2


def test_a_run_of_this_thread_leaves_other_threads_their_limits() -> None:
    with ThreadPoolExecutor(1) as pool, Run():
        assert threads("blas") == {1}
    assert threads("blas") == {2}

    def limited() -> set[int]:
        with one_thread("blas"):
            return threads("blas")

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited).result() == {1}
    assert threads("blas") == {2}


def test_a_pool_of_the_users_has_its_threads_back() -> None:
    X, y = make_regression(40, 3, random_state=0)
    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(threads, "openmp").result()
        StackingRegressor([("a", LinearRegression())], cv=3, executor=pool).fit(X, y)
        assert pool.submit(threads, "openmp").result() == before


class Typed(LinearRegression):
    """Remembers what it was given."""

    seen: set[type] = set()  # noqa: RUF012

    def fit(self, X, y):
        Typed.seen.add(type(X))
        return super().fit(X, y)

    def predict(self, X):
        Typed.seen.add(type(X))
        return super().predict(X)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_settings_of_scikit_learn_hold_in_threads(executor, monkeypatch) -> None:
    monkeypatch.setattr(read, "BLOCK_ROWS", MANY_ROWS)
    X, y = make_regression(40, 3, random_state=0)
    learners = [("a", make_pipeline(StandardScaler(), Typed()))]
    Typed.seen = set()
    with config_context(transform_output="pandas"):
        stack = StackingRegressor(learners, cv=3, n_jobs=2, executor=executor).fit(X, y)
        stack.predict(np.zeros((4 * MANY_ROWS, 3)))
    # What processes were given is not seen here; they have the settings too.
    assert Typed.seen == {pd.DataFrame}


class Asked(LinearRegression):
    """Remembers in how many threads libraries worked when it was asked."""

    seen: set[int] = set()  # noqa: RUF012

    def predict(self, X):
        Asked.seen |= threads("blas") | threads("openmp")
        return super().predict(X)


@pytest.mark.parametrize(
    ("n_rows", "n_jobs", "number"),
    [(3, None, 1), (3, 2, 1), (MANY_ROWS, 2, 1), (MANY_ROWS, None, 2)],
)
def test_few_rows_and_rows_divided_over_threads_are_asked_in_one_each(
    n_rows, n_jobs, number
) -> None:
    X, y = make_regression(40, 3, random_state=0)
    stack = StackingRegressor([("a", Asked())], cv=3, n_jobs=n_jobs, executor="threads").fit(X, y)
    Asked.seen = set()
    stack.predict(np.zeros((n_rows, 3)))
    assert Asked.seen == {number}
