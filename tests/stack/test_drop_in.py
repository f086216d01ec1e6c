"""Promise 5: scikit-learn's own stacking tests pass with the import changed.

The installed test module is loaded again while ``sklearn.ensemble`` offers our classes in
place of its own (and forests of 4 trees, which nothing tested depends on), and its tests are
collected here. A test that touches a difference listed in DESIGN section 3 stands in one of
two tables with its reason: SWITCHED_OFF runs it with the difference switched off by our own
parameters, LEFT_OUT skips it.
"""

import importlib.util
import inspect
import sys
from functools import partial, wraps
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold

import foldwise

HOME = "sklearn.ensemble.tests.test_stacking"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::foldwise.errors.NoScoreWarning"),
    # scikit-learn's mock classifiers return probabilities that are none.
    pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one"),
]

SWITCHED_OFF = {
    "test_stacking_classifier_drop_estimator": "cv=int shuffles: two fits need one random_state",
    "test_stacking_regressor_drop_estimator": "cv=int shuffles: two fits need one random_state",
    "test_stacking_cv_influence": "new rows get the mean of the fold models, not one refitted",
    "test_metadata_routing_for_stacking_estimators": "the same: it looks into one refitted model",
}
MULTILABEL = "multilabel is a clear error for now"
PLAIN = "fit takes sample_weight and groups as plain arguments, and no other metadata"
LEFT_OUT = {
    "test_stacking_classifier_multilabel_predict_proba": MULTILABEL,
    "test_stacking_classifier_multilabel_decision_function": MULTILABEL,
    "test_stacking_classifier_multilabel_auto_predict": MULTILABEL,
    "test_metadata_routing_error_for_stacking_estimators": PLAIN,
    "test_stacking_without_n_features_in": "n_features_in_ is the stack's own, not a learner's",
}
# Of these only the parameters that touch the difference.
PARTLY_LEFT_OUT = {
    "test_metadata_routing_for_stacking_estimators": ({"prop": "metadata"}, PLAIN),
}


class LikeScikitLearn:
    """Our stack with the listed differences switched off."""

    default_stacker: object

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        stack_method="auto",
        n_jobs=None,
        passthrough=False,
        predict_with="refit",
        on_error="raise",
        random_state=0,
    ):
        super().__init__(
            estimators,
            self.default_stacker if final_estimator is None else final_estimator,
            cv=cv,
            stack_method=stack_method,
            n_jobs=n_jobs,
            passthrough=passthrough,
            predict_with=predict_with,
            on_error=on_error,
            random_state=random_state,
        )


def like_scikit_learn(ours, stacker):
    return type(ours.__name__, (LikeScikitLearn, ours), {"default_stacker": stacker})


def loaded(classifier, regressor) -> ModuleType:
    """Return a fresh copy of scikit-learn's test module that imported these two classes."""
    offered = {
        "StackingClassifier": classifier,
        "StackingRegressor": regressor,
        "RandomForestClassifier": partial(RandomForestClassifier, n_estimators=4),
        "RandomForestRegressor": partial(RandomForestRegressor, n_estimators=4),
    }
    spec = importlib.util.find_spec(HOME)
    copy = importlib.util.module_from_spec(spec)
    with mock.patch.multiple(sklearn.ensemble, **offered):
        spec.loader.exec_module(copy)
    return copy


def callers() -> list[SimpleNamespace]:
    """Return what ``inspect.stack`` says about the names of functions, without their sources."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found.append(SimpleNamespace(function=frame.f_code.co_name))
        frame = frame.f_back
    return found


def left_out(test, reason):
    """Return the test under its own marks and parameters, skipped with the reason."""
    return pytest.mark.skip(reason=reason)(wraps(test)(lambda **_: None))


def partly_left_out(test, parameters, reason):
    """Return the test, skipped where it has these parameters."""

    @wraps(test)
    def run(**arguments):
        if all(arguments[name] == value for name, value in parameters.items()):
            pytest.skip(reason)
        # It asks for the names of its callers alone, thousands of times.
        with mock.patch("inspect.stack", callers):
            test(**arguments)

    return run


def collected() -> dict:
    plain = loaded(foldwise.StackingClassifier, foldwise.StackingRegressor)
    switched = loaded(
        like_scikit_learn(foldwise.StackingClassifier, LogisticRegression()),
        like_scikit_learn(foldwise.StackingRegressor, RidgeCV()),
    )
    tests = {}
    for name, test in inspect.getmembers(plain, inspect.isfunction):
        if name in LEFT_OUT:
            tests[name] = left_out(test, LEFT_OUT[name])
        elif name.startswith("test_"):
            tests[name] = getattr(switched, name) if name in SWITCHED_OFF else test
        if name in PARTLY_LEFT_OUT:
            tests[name] = partly_left_out(tests[name], *PARTLY_LEFT_OUT[name])
    return tests


globals().update(collected())


def test_the_tables_name_tests_that_exist() -> None:
    assert {*SWITCHED_OFF, *LEFT_OUT, *PARTLY_LEFT_OUT} <= set(collected())


class Recorded(KFold):
    """A splitter that keeps what it is given, as one that purges by dates would look at it."""

    given: tuple = ()

    def split(self, X, y=None, groups=None):
        Recorded.given = (X, y, groups)
        return super().split(X, y)


def test_a_splitter_is_given_x_y_and_groups_as_the_user_gave_them() -> None:
    dates = pd.date_range("2026-01-01", periods=30, freq="D")
    X = pd.DataFrame({"a": np.arange(30.0)}, index=dates)
    y, groups = np.where(np.arange(30) % 2, "yes", "no"), np.asarray(dates)
    stack = foldwise.StackingClassifier(
        [("logistic", LogisticRegression())], "mean", cv=Recorded(3)
    )
    stack.fit(X, y, groups=groups)
    assert Recorded.given[0].index.equals(dates)
    assert np.array_equal(Recorded.given[1], y)
    assert np.array_equal(Recorded.given[2], groups)
