import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import KNNImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from foldwise import BaggingRegressor, StackingRegressor
from foldwise.files.rows import learners_with_rows
from tests.files.conftest import X, Y


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsRegressor(),
        KNeighborsRegressor(algorithm="brute"),
        RadiusNeighborsRegressor(),
        SVR(),
        KernelRidge(),
        GaussianProcessRegressor(),
    ],
    ids=repr,
)
def test_learners_that_keep_rows_are_named(learner) -> None:
    assert learners_with_rows(learner.fit(X, Y)) == [type(learner).__name__]


def test_learners_that_do_not_are_not() -> None:
    for learner in (LinearRegression(), DecisionTreeRegressor()):
        assert learners_with_rows(learner.fit(X, Y)) == []


def test_they_are_found_inside_pipelines_bags_and_stacks() -> None:
    hidden = make_pipeline(KNNImputer(), LinearRegression())
    learners = [("plain", LinearRegression()), ("hidden", hidden), ("near", KNeighborsRegressor())]
    stack = StackingRegressor(learners, "mean", cv=3).fit(X, Y)
    assert learners_with_rows(stack) == ["hidden", "near"]
    bag = BaggingRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, Y)
    assert learners_with_rows(bag) == ["KNeighborsRegressor"]


def test_the_manifest_does_not_name_the_stacks_own_reference() -> None:
    stack = StackingRegressor([("a", LinearRegression()), ("b", LinearRegression())], "mean", cv=3)
    stack.fit(X, Y)
    assert stack._X is not None
    assert learners_with_rows(stack) == []
    assert np.isfinite(stack.predict(X)).all()
