import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingRegressor


def one_layer() -> StackingRegressor:
    pipe = make_pipeline(StandardScaler(), Ridge(2.0))
    return StackingRegressor(
        [("ridge", Ridge()), ("pipe", pipe), ("few", Ridge(), [0])], Ridge(7.0)
    )


def two_layers() -> StackingRegressor:
    return StackingRegressor([[("ridge", Ridge())], [("top", Ridge()), ("lasso", Lasso())]])


def test_nested_parameters_are_listed() -> None:
    parameters = one_layer().get_params()
    assert parameters["ridge__alpha"] == 1.0
    assert parameters["pipe__ridge__alpha"] == 2.0
    assert parameters["few__alpha"] == 1.0
    assert parameters["final_estimator__alpha"] == 7.0
    assert "ridge__alpha" not in one_layer().get_params(deep=False)


def test_nested_parameters_are_set_in_any_layer() -> None:
    stack = one_layer().set_params(
        pipe__ridge__alpha=5.0, few__alpha=6.0, final_estimator__alpha=8.0, cv=7
    )
    found = stack.get_params()
    assert [found["pipe__ridge__alpha"], found["few__alpha"], stack.cv] == [5.0, 6.0, 7]
    assert stack.final_estimator.alpha == 8.0
    assert two_layers().set_params(lasso__alpha=3.0).get_params()["lasso__alpha"] == 3.0


def test_a_learner_can_be_replaced_or_dropped_and_keeps_its_columns() -> None:
    stack = one_layer().set_params(few=LinearRegression(), ridge="drop")
    assert stack.estimators[0] == ("ridge", "drop")
    assert isinstance(stack.estimators[2][1], LinearRegression)
    assert stack.estimators[2][2] == [0]
    layers = two_layers().set_params(top="drop")
    assert layers.estimators[1][0] == ("top", "drop")


def test_replacing_a_learner_leaves_the_given_list_alone() -> None:
    learners = [("ridge", Ridge())]
    StackingRegressor(learners).set_params(ridge="drop")
    assert isinstance(learners[0][1], Ridge)


def test_all_learners_and_a_parameter_of_one_can_be_set_at_once() -> None:
    stack = one_layer().set_params(estimators=[("new", Ridge())], new__alpha=4.0)
    assert stack.estimators[0][1].alpha == 4.0


def test_an_unknown_parameter_is_an_error() -> None:
    with pytest.raises(ValueError, match="Invalid parameter 'rigde'"):
        one_layer().set_params(rigde__alpha=1.0)


@pytest.mark.parametrize("make", [one_layer, two_layers])
def test_a_clone_shares_no_learner(make: object) -> None:
    stack = make()
    copy = clone(stack)
    assert copy.get_params().keys() == stack.get_params().keys()
    copy.set_params(ridge__alpha=99.0)
    assert stack.get_params()["ridge__alpha"] == 1.0


def test_fitting_changes_no_parameter() -> None:
    rng = np.random.default_rng(0)
    stack = one_layer().set_params(cv=3)
    before = repr(stack.get_params())
    stack.fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    assert repr(stack.get_params()) == before
    assert not hasattr(stack.estimators[0][1], "coef_")


def test_a_dropped_learner_is_not_fitted_but_remembered() -> None:
    rng = np.random.default_rng(0)
    stack = one_layer().set_params(cv=3, ridge="drop")
    stack.fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    assert stack.named_estimators_["ridge"] == "drop"
    assert list(stack.oof_.columns) == ["pipe", "few"]
    fitted = stack.set_params(pipe="drop").estimators_
    assert [type(model).__name__ for model in fitted] == ["FoldModels"] * 2
    assert not hasattr(one_layer(), "estimators_")
    stack.fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    assert stack.named_estimators_["pipe"] == "drop"
