from typing import Any

import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV

from foldwise import StackingRegressor

callback = pytest.importorskip("sklearn.callback")
X, Y = make_regression(60, 4, noise=10, random_state=0)


class Heard:
    """A callback as scikit-learn's protocol has them."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.seen.append(f"end {context.task_name}")
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        self.seen.append("teardown")


def stack(**options: Any) -> StackingRegressor:
    learners = [("ridge", Ridge()), ("lasso", Lasso())]
    return StackingRegressor(learners, "mean", cv=3, random_state=0, **options)


def test_callbacks_hear_every_fit_between_setup_and_teardown() -> None:
    heard = Heard()
    ours: list[str] = []
    stack(callback=lambda event: ours.append(event.kind)).set_callbacks(heard).fit(X, Y)
    assert heard.seen[:2] == ["setup", "begin fit"]
    assert heard.seen[-2:] == ["end fit", "teardown"]
    fits = heard.seen[2:-2]
    assert fits == ["begin ridge", "end ridge", *["begin lasso", "end lasso"] * 6]
    assert ours == ["started", *["fitted"] * 7, "finished"]


def test_they_are_torn_down_when_a_fit_fails() -> None:
    heard = Heard()

    def stop(event: Any) -> None:
        raise LookupError(event.kind)

    with pytest.raises(LookupError):
        stack(callback=stop).set_callbacks(heard).fit(X, Y)
    assert heard.seen == ["setup", "begin fit", "teardown"]


def test_a_stack_without_callbacks_works_inside_a_search_that_has_some() -> None:
    heard = Heard()
    search = GridSearchCV(stack(), {"ridge__alpha": [1.0, 2.0]}, cv=2)
    search.set_callbacks(heard).fit(X, Y)
    assert heard.seen[-1] == "teardown"


def test_scikit_learns_own_progress_bar_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    bar = callback.ProgressBar()
    search = GridSearchCV(stack(), {"ridge__alpha": [1.0]}, cv=2)
    search.set_callbacks(bar).fit(X, Y)
    fitted = stack().set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert fitted.score_ < 0
    capsys.readouterr()
