import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor
from foldwise.engine import Event, RunSummary
from foldwise.errors import InvalidParameterError

X, Y = make_regression(60, 4, noise=10, random_state=0)
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor())]


def stack(**options: Any) -> StackingRegressor:
    return StackingRegressor(LEARNERS, "mean", cv=3, random_state=0, **options)


def test_a_live_executor_survives_clone_copy_and_search_and_is_left_out_of_pickles() -> None:
    with ThreadPoolExecutor(2) as pool:
        fitted = stack(executor=pool, callback=print.__call__).set_params(callback=None).fit(X, Y)
        assert clone(fitted).executor is pool
        assert copy.deepcopy(fitted).executor is pool
        assert fitted.restack("nnls").executor is pool
        assert pickle.loads(pickle.dumps(fitted)).executor is None
        search = GridSearchCV(stack(executor=pool), {"ridge__alpha": [0.1, 10]}, cv=2).fit(X, Y)
        assert np.isfinite(search.best_score_)


def test_a_callback_hears_the_whole_run_in_order() -> None:
    events: list[Event] = []
    fitted = stack(callback=events.append).fit(X, Y)
    assert [e.kind for e in events][:1] == ["started"]
    assert [e.kind for e in events][-1] == "finished"
    assert {e.kind for e in events[1:-1]} == {"fitted"}
    assert events[0].total == events[-1].done == fitted.n_fits_
    assert {name for e in events[1:-1] for name in e.what.split(", ")} == {"ridge", "tree"}
    assert events[0].owner == "StackingRegressor"


def test_what_an_earlier_run_has_done_is_said_and_not_counted(tmp_path: Path) -> None:
    events: list[Event] = []
    stack(run_dir=tmp_path).set_params(tree="drop").fit(X, Y)
    stack(run_dir=tmp_path, callback=events.append).fit(X, Y)
    assert events[1].line == "StackingRegressor: 6 of them were done before, 6 left"
    assert [(e.done, e.total) for e in events[-2:]] == [(6, 6), (6, 6)]


def test_what_a_callback_raises_ends_the_fit_and_leaves_the_stack_as_it_was() -> None:
    def stop(event: Event) -> None:
        raise LookupError(event.kind)

    model = stack(callback=stop)
    with pytest.raises(LookupError, match="started"):
        model.fit(X, Y)
    assert not hasattr(model, "deals_")


def test_the_run_is_told_afterwards() -> None:
    fitted = stack().fit(X, Y)
    assert fitted.run_ == RunSummary(12, 0, (), fitted.run_.seconds, False, "")
    assert fitted.partial_ is False
    assert fitted.restack("nnls").run_.fits == 0
    assert fitted.add("more", Ridge(9.0)).run_.fits == 6


def test_a_fitted_stack_without_folds_has_a_run_too() -> None:
    with pytest.warns(UserWarning, match="no honest score"):
        fitted = StackingRegressor([("ridge", Ridge().fit(X, Y))], "mean", cv="prefit").fit(X, Y)
    assert fitted.run_ == RunSummary()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            {"time_budget": -1},
            "StackingRegressor: time_budget must be a number of seconds above 0, or None; got "
            "-1. Try 600.",
        ),
        (
            {"on_interrupt": "stop"},
            "StackingRegressor: on_interrupt must be one of 'raise', 'keep'; got 'stop'. Use one "
            "of 'keep', 'raise'.",
        ),
    ],
)
def test_bad_parameters_are_refused(option: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        stack(**option).fit(X, Y)
    assert str(caught.value) == message


def test_a_file_is_no_run_directory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(InvalidParameterError, match=r"^StackingRegressor: run_dir must "):
        stack(run_dir=path).fit(X, Y)
