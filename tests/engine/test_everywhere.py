"""Whole stacks on every executor: the same bits, the same counts, the same failures.

Slow because real processes are started, killed and waited for.
"""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import FoldwiseWarning, LearnerFailedWarning
from tests.engine.odd import Odd, StaysHere
from tests.forked import Forked, server

X, Y = make_friedman1(240, random_state=0)
LEARNERS = [
    ("ridge", Ridge()),
    ("scaled", make_pipeline(StandardScaler(), SVR())),
    ("knn", KNeighborsRegressor(5)),
    ("kernel", KernelRidge(1.0, kernel="rbf")),
    ("forest", RandomForestRegressor(5)),
    ("gbm", LGBMRegressor(n_estimators=5, n_jobs=1)),
]
PLACES = ["processes", "threads", "thread pool", "process pool"]


@contextmanager
def place(name: str) -> Iterator[Any]:
    if name == "thread pool":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif name == "process pool":
        with ProcessPoolExecutor(2, mp_context=server()) as pool:
            yield pool
    else:
        yield name


def misaligned(array: Any) -> Any:
    """Return the same numbers eight bytes past a multiple of 64."""
    moved = np.empty(array.nbytes + 64, dtype=np.uint8)
    start = (8 - moved.ctypes.data) % 64
    view = moved[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def regressor(data: Any = X, learners: Any = None, **options: Any) -> StackingRegressor:
    options = {"cv": 3, "random_state": 0, "n_jobs": 2, **options}
    return StackingRegressor(learners or LEARNERS, **options).fit(data, Y)


def bits(stack: Any, data: Any = X) -> tuple[bytes, bytes, float]:
    return stack.predict(data).tobytes(), np.asarray(stack.oof_).tobytes(), stack.score_


@pytest.fixture(scope="module")
def here() -> tuple[bytes, bytes, float]:
    return bits(regressor(n_jobs=None))


@pytest.mark.parametrize("name", PLACES)
def test_every_executor_gives_the_same_bits(name: str, here: tuple[bytes, bytes, float]) -> None:
    with place(name) as executor:
        stack = regressor(executor=executor)
    assert bits(stack) == here
    assert stack.run_.fits == stack.n_fits_ == 6 * len(LEARNERS)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_memory_that_is_aligned_otherwise_gives_the_same_bits(
    n_jobs: int | None, here: tuple[bytes, bytes, float]
) -> None:
    moved = misaligned(X)
    assert moved.ctypes.data % 64 == 8
    assert bits(regressor(moved, n_jobs=n_jobs)) == here


@pytest.mark.parametrize(
    "make",
    [lambda X: pd.DataFrame(X).add_prefix("c"), sparse.csr_array, np.asfortranarray],
    ids=["frame", "sparse", "columns"],
)
def test_every_kind_of_table_gives_the_same_bits_in_processes(make: Any) -> None:
    table = make(X)
    learners = [LEARNERS[0], LEARNERS[4]]
    ours = regressor(table, learners, n_jobs=None)
    assert bits(regressor(table, learners), table) == bits(ours, table)


def test_classes_weights_and_groups_give_the_same_bits_in_processes() -> None:
    classes = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    learners = [("logistic", LogisticRegression()), ("gauss", make_pipeline(StandardScaler(),
                LogisticRegression(C=0.1)))]  # fmt: skip
    options = {"cv": 3, "random_state": 0}
    weight, groups = np.linspace(1, 2, 240), np.arange(240) // 4
    each = [
        StackingClassifier(learners, n_jobs=n, **options).fit(X, classes, weight, groups)
        for n in (None, 2)
    ]
    assert each[0].predict_proba(X).tobytes() == each[1].predict_proba(X).tobytes()
    assert each[0].score_ == each[1].score_


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raises", "RuntimeError: as told"),
        ("memory", "MemoryError: no room"),
        ("nan", "ValueError: Odd.predict returned values that are not finite"),
        ("shape", "ValueError: Odd.predict returned shape"),
        ("wide", "ValueError: Odd.predict returned 3 columns for 1 target"),
        ("dies", "TaskLostError: its process was killed by SIGKILL"),
        ("locks", "UnsendableError: its model cannot be sent between processes"),
    ],
)
def test_a_learner_that_misbehaves_is_dropped_with_the_reason(how: str, reason: str) -> None:
    learners = [("odd", Odd(how)), ("tree", DecisionTreeRegressor())]
    with pytest.warns(LearnerFailedWarning, match="'odd' was dropped"):
        stack = regressor(learners=learners)
    assert reason in stack.failures_["odd"]
    assert bits(stack) == bits(regressor(learners=learners[1:], n_jobs=None))


@pytest.mark.parametrize("how", ["prints", "forks"])
def test_a_learner_that_only_looks_odd_is_kept(how: str) -> None:
    learners = [("odd", Odd(how)), ("tree", DecisionTreeRegressor())]
    plain = [("odd", Odd()), ("tree", DecisionTreeRegressor())]
    assert bits(regressor(learners=learners)) == bits(regressor(learners=plain, n_jobs=None))


def test_a_learner_that_cannot_be_sent_is_dropped_with_the_reason() -> None:
    learners = [("odd", Odd(rows=StaysHere())), ("tree", DecisionTreeRegressor())]
    with pytest.warns(LearnerFailedWarning, match="'odd' was dropped"):
        stack = regressor(learners=learners)
    assert "UnsendableError: its model cannot be sent between proc" in stack.failures_["odd"]
    assert bits(stack) == bits(regressor(learners=learners[1:], n_jobs=None))
    assert regressor(learners=learners, n_jobs=None).failures_ == {}


def test_a_model_that_cannot_be_pickled_is_fine_in_this_process() -> None:
    assert regressor(learners=[("odd", Odd("locks"))], n_jobs=None).failures_ == {}


def test_a_budget_is_kept_with_a_learner_that_never_ends() -> None:
    learners = [("tree", DecisionTreeRegressor()), ("odd", Odd("hangs")), ("ridge", Ridge())]
    regressor(learners=learners[:1])
    start = time.monotonic()
    with pytest.warns(FoldwiseWarning, match="is partial, without 'odd'"):
        # On a busy machine there may be no time to choose what stands on top.
        stack = regressor(learners=learners, time_budget=4.0, final_estimator="mean")
    assert time.monotonic() - start < 60
    assert stack.partial_
    assert stack.failures_ == {"odd": "time budget: not finished in time"}
    whole = regressor(learners=[learners[0], learners[2]], n_jobs=None, final_estimator="mean")
    assert bits(stack) == bits(whole)


SCRIPT = """
import sys, warnings
warnings.simplefilter("always")
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor
from foldwise import StackingRegressor
from tests.engine.odd import Odd

X, y = make_friedman1(240, random_state=0)
learners = [("tree", DecisionTreeRegressor()), ("odd", Odd("hangs"))]
n_jobs = None if sys.argv[1] == "here" else 2
def tell(event):
    print(event.kind, event.what, flush=True)
stack = StackingRegressor(
    learners, "mean", cv=3, n_jobs=n_jobs, random_state=0, on_interrupt=sys.argv[2], callback=tell
).fit(X, y)
print("partial", stack.partial_, stack.failures_, stack.predict(X).sum(), flush=True)
"""


@contextmanager
def interrupted(where: str, how: str) -> Iterator[tuple[Forked, list[str]]]:
    """Run a stack in a process of its own and press Ctrl-C once the first learner is done."""
    with Forked(SCRIPT, where, how) as process:
        lines: list[str] = []
        while sum(line == "fitted tree" for line in lines) < 6:
            lines.append(process.stdout.readline().strip())
            assert process.poll() is None, lines
        time.sleep(0.2)
        # As a terminal does: to every process of the group.
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate()
        yield process, [*output.splitlines(), *errors.splitlines()]


@pytest.mark.parametrize("where", ["here", "processes"])
def test_ctrl_c_keeps_what_is_finished_if_asked_to(where: str) -> None:
    with interrupted(where, "keep") as (process, lines):
        assert process.returncode == 0, lines
        whole = StackingRegressor(
            [("tree", DecisionTreeRegressor())], "mean", cv=3, random_state=0
        ).fit(X, Y)
        (told,) = [line for line in lines if line.startswith("partial")]
        assert told == f"partial True {{'odd': 'interrupted'}} {whole.predict(X).sum()}"
        assert any("was interrupted and the stack is partial" in line for line in lines)
        assert not any("Traceback" in line for line in lines)


def test_ctrl_c_is_raised_if_not() -> None:
    with interrupted("processes", "raise") as (process, lines):
        assert process.returncode != 0
        assert lines[-1] == "KeyboardInterrupt"
        assert not any(line.startswith("partial") for line in lines)
