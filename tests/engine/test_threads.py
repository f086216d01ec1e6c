import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_info, threadpool_limits

from foldwise import StackingRegressor
from foldwise.engine.threads import one_thread
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
