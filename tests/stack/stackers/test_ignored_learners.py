"""Learners without weight are not asked about new rows."""

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from foldwise import StackingClassifier, StackingRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
ASKED: list[int] = []


class CountingRegressor(DummyRegressor):
    def predict(self, X):
        ASKED.append(len(X))
        return super().predict(X)


class CountingClassifier(DummyClassifier):
    def predict_proba(self, X):
        ASKED.append(len(X))
        return super().predict_proba(X)


def test_a_learner_of_no_weight_is_not_asked_and_the_prediction_is_that_of_the_others() -> None:
    learners = [("linear", LinearRegression()), ("mean", CountingRegressor())]
    stack = StackingRegressor(learners, "best", random_state=0).fit(X, Y)
    ASKED.clear()
    predictions = stack.predict(X)
    assert ASKED == []
    np.testing.assert_array_equal(predictions, stack.named_estimators_["linear"].predict(X))


def test_intervals_do_not_ask_it_either() -> None:
    learners = [("linear", LinearRegression()), ("mean", CountingRegressor())]
    stack = StackingRegressor(learners, "best", random_state=0).fit(X, Y)
    ASKED.clear()
    stack.predict_interval(X)
    assert ASKED == []


def test_classifiers_of_no_weight_are_not_asked() -> None:
    learners = [("prior", CountingClassifier()), ("logistic", LogisticRegression())]
    stack = StackingClassifier(learners, "best", random_state=0).fit(X, Y > 0)
    ASKED.clear()
    probabilities = stack.predict_proba(X)
    assert ASKED == []
    np.testing.assert_allclose(
        probabilities, stack.named_estimators_["logistic"].predict_proba(X), rtol=1e-12
    )


def test_transform_and_other_stackers_still_ask_everybody() -> None:
    learners = [("linear", LinearRegression()), ("mean", CountingRegressor())]
    stack = StackingRegressor(learners, "ridge", random_state=0).fit(X, Y)
    ASKED.clear()
    stack.predict(X)
    assert ASKED
    best = StackingRegressor(learners, "best", random_state=0).fit(X, Y)
    np.testing.assert_allclose(best.transform(X)[:, 1], Y.mean(), atol=0.1)
