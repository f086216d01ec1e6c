"""Every estimator of the library as a learner inside a stack."""

import pkgutil
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import foldwise
from foldwise.errors import InvalidParameterError

REGRESSORS = {
    "AveragedCVRegressor": {"cv": 2},
    "BaggingRegressor": {"n_estimators": 5},
    "BayesianModelAveragingRegressor": {},
    "BestSubsetRegressor": {},
    "EnsembleSelectionRegressor": {
        "estimators": [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))],
        "cv": 3,
    },
    "ForwardStagewiseRegressor": {"cv": 2},
    "GradientBoostingRegressor": {"n_estimators": 10},
    "ISLERegressor": {"n_estimators": 20, "cv": 2},
    "LassoPathRegressor": {"cv": 2},
    "NetRegressor": {"width": 16, "epochs": 20},
    "NewtonBoostingRegressor": {"n_estimators": 10},
    "RuleFitRegressor": {"n_estimators": 10, "cv": 2},
}
CLASSIFIERS = {
    "AdaBoostClassifier": {"n_estimators": 5},
    "AveragedCVClassifier": {"cv": 2},
    "BaggingClassifier": {"n_estimators": 5},
    "BayesianModelAveragingClassifier": {},
    "CalibratedClassifier": {"estimator": DecisionTreeClassifier(max_depth=3), "cv": 3},
    "EnsembleSelectionClassifier": {
        "estimators": [("logit", LogisticRegression()), ("tree", DecisionTreeClassifier())],
        "cv": 3,
    },
    "ForwardStagewiseClassifier": {"cv": 2},
    "GradientBoostingClassifier": {"n_estimators": 10},
    "ISLEClassifier": {"n_estimators": 20, "cv": 2},
    "LassoPathClassifier": {"cv": 2},
    "NetClassifier": {"width": 16, "epochs": 20},
    "NewtonBoostingClassifier": {"n_estimators": 10},
    "RuleFitClassifier": {"n_estimators": 10, "cv": 2},
}
STACKS: dict[str, dict[str, Any]] = {
    "AutoStackClassifier": {"preset": "fast"},
    "AutoStackRegressor": {"preset": "fast"},
    "StackingClassifier": CLASSIFIERS["EnsembleSelectionClassifier"],
    "StackingRegressor": REGRESSORS["EnsembleSelectionRegressor"],
}
ESTIMATORS = REGRESSORS | CLASSIFIERS | STACKS


def test_no_estimator_is_left_out() -> None:
    """Of this list, and of every room's ``__all__``; encoders and a step in front are no models."""
    exported = [room for room in pkgutil.iter_modules(foldwise.__path__, "foldwise.") if room.ispkg]
    named = {
        name
        for module in [foldwise, *(import_module(room.name) for room in exported)]
        for name in getattr(module, "__all__", ())
        if hasattr(getattr(module, name), "fit")
    }
    assert named == ESTIMATORS.keys() | {"TableEncoder", "PickColumns"}


def learner_named(name: str, parameters: dict[str, Any]) -> Any:
    if name.startswith("Net"):
        pytest.importorskip("torch")
    return getattr(foldwise, name)(**parameters)


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_of_weight_zero_change_no_bit(name: str) -> None:
    X, y = make_friedman1(60, n_features=5, random_state=0)
    y = (y > y.mean()).astype(float) if name.endswith("Classifier") else y
    few = (X, y, np.random.default_rng(0).integers(1, 4, 60) / 2, np.arange(60) // 2)
    # No number at all, weight zero, groups that no other row is of.
    more = [np.full((80, 5), np.nan), np.full(80, np.nan), np.zeros(80), np.arange(1000, 1080)]
    for whole, part in zip(more, few, strict=True):
        whole[np.arange(80) % 4 > 0] = part
    models = [learner_named(name, ESTIMATORS[name]) for _ in range(2)]
    seeded = {"random_state": 0} if "random_state" in models[0].get_params(deep=False) else {}
    grouped = "groups" in signature(models[0].fit).parameters
    one, two = (
        model.set_params(**seeded).fit(*(rows if grouped else rows[:3]))
        for model, rows in zip(models, (few, more), strict=True)
    )
    np.testing.assert_array_equal(getattr(one, "score_", 0), getattr(two, "score_", 0))
    answers = "predict_proba" if hasattr(one, "predict_proba") else "predict"
    np.testing.assert_array_equal(getattr(one, answers)(X), getattr(two, answers)(X))
    if hasattr(one, "classes_"):
        np.testing.assert_array_equal(one.classes_, two.classes_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_splits_of_the_users_that_tear_groups_are_refused(name: str) -> None:
    model = learner_named(name, ESTIMATORS[name])
    known = model.get_params(deep=False)
    if not known.keys() & {"cv", "validation"}:
        pytest.skip("takes no splits")
    torn = {"cv": KFold(3), "validation": KFold(3), "early_stopping": True, "criterion": "cv"}
    model.set_params(**{key: value for key, value in torn.items() if key in known})
    X, y = make_friedman1(60, n_features=5, random_state=0)
    y = (y > y.mean()).astype(float) if name.endswith("Classifier") else y
    with pytest.raises(InvalidParameterError, match="keep the rows of a group on one side"):
        model.fit(X, y, groups=np.arange(60) % 20)


BEYOND = [(range(20), range(20, 60)), (range(20, 40), range(20))]


@pytest.mark.parametrize("weightless", [0, 1])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_splits_of_rows_that_there_are_not_are_refused(name: str, weightless: int) -> None:
    model = learner_named(name, ESTIMATORS[name])
    known = model.get_params(deep=False)
    if not known.keys() & {"cv", "validation"}:
        pytest.skip("takes no splits")
    asked = {"cv": BEYOND, "validation": BEYOND, "early_stopping": True, "criterion": "cv"}
    model.set_params(**{key: value for key, value in asked.items() if key in known})
    X, y = make_friedman1(40, n_features=5, random_state=0)
    y = (y > y.mean()).astype(float) if name.endswith("Classifier") else y
    weight = np.ones(40)
    weight[:weightless] = 0.0
    with pytest.raises(InvalidParameterError, match="must give row numbers from 0 to 39; got 59"):
        model.fit(X, y, sample_weight=weight)


WRONG = {"cv": b"five", "ensemble": -7, "generator": -7, "split_features": "half"}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (name, wrong)
        for name in ESTIMATORS
        for wrong in WRONG
        if wrong in signature(getattr(foldwise, name)).parameters
    ],
)
def test_a_wrong_argument_is_told_by_its_own_name(name: str, wrong: str) -> None:
    model = learner_named(name, ESTIMATORS[name] | {wrong: WRONG[wrong]})
    model.set_params(**({"criterion": "cv"} if name.startswith("BestSubset") else {}))
    X, y = make_friedman1(30, n_features=5, random_state=0)
    with pytest.raises(InvalidParameterError, match=rf"^{name}: {wrong} must be "):
        model.fit(X, y > y.mean() if name.endswith("Classifier") else y)


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_works_inside_a_stack(name: str) -> None:
    X, y = make_friedman1(90, n_features=6, random_state=0)
    learner = learner_named(name, REGRESSORS[name])
    stack = foldwise.StackingRegressor(
        [("ours", learner), ("ridge", Ridge())], "nnls", cv=3, random_state=0, on_error="raise"
    ).fit(X, y, sample_weight=np.linspace(0.5, 1.5, len(y)))
    assert stack.n_fits_ == 12
    assert -stack.score_ < y.std()


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_works_inside_a_stack(name: str) -> None:
    X, y = make_classification(120, 6, random_state=1)
    learner = learner_named(name, CLASSIFIERS[name])
    stack = foldwise.StackingClassifier(
        [("ours", learner), ("logistic", LogisticRegression())],
        "mean",
        cv=3,
        random_state=0,
        on_error="raise",
    ).fit(X, np.array(["no", "yes"])[y])
    assert stack.n_fits_ == 12
    assert -stack.score_ < np.log(2)


@pytest.mark.parametrize("name", ["BaggingRegressor", "GradientBoostingRegressor"])
def test_a_stack_works_inside_another_ensemble(name: str) -> None:
    X, y = make_friedman1(60, n_features=5, random_state=0)
    inner = foldwise.StackingRegressor(
        [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2))], "mean", cv=3
    )
    outer = getattr(foldwise, name)(inner, n_estimators=2, random_state=0).fit(X, y)
    assert np.isfinite(outer.predict(X)).all()


def test_a_stack_of_stacks() -> None:
    X, y = make_classification(100, 5, n_classes=3, n_informative=4, n_redundant=0, random_state=0)
    inner = foldwise.StackingClassifier(
        [("tree", DecisionTreeClassifier(max_depth=2)), ("logistic", LogisticRegression())],
        "mean",
        cv=3,
    )
    outer = foldwise.StackingClassifier(
        [("inner", inner), ("logistic", LogisticRegression())], "nnls", cv=3, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(outer.predict_proba(X).sum(axis=1), 1.0)
