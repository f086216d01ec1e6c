import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_is_fitted

from foldwise import StackingClassifier, StackingRegressor

X, Y = make_regression(60, 4, noise=10, random_state=0)
XC, YC = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_a_fitted_learner_predicts_what_transform_shows(predict_with: str) -> None:
    learners = [("ridge", Ridge()), ("ols", LinearRegression())]
    stack = StackingRegressor(
        learners, "mean", cv=3, predict_with=predict_with, random_state=0
    ).fit(X, Y)
    for m, (name, _) in enumerate(learners):
        model = stack.named_estimators_[name]
        check_is_fitted(model)
        np.testing.assert_allclose(model.predict(X), stack.transform(X)[:, m])
        assert stack.estimators_[m] is model


def test_a_tuned_learner_counts_each_model_as_often_as_the_stack_does() -> None:
    stack = StackingRegressor(
        [("ridge", Ridge())],
        "mean",
        cv=4,
        predict_with="pairs",
        tune={"ridge": {"alpha": [0.1, 3.0, 10.0]}},
        random_state=0,
    ).fit(X, Y)
    np.testing.assert_allclose(stack.named_estimators_["ridge"].predict(X), stack.predict(X))


def test_probabilities_are_the_mean_over_models() -> None:
    stack = StackingClassifier([("nb", GaussianNB())], "mean", cv=3, random_state=0).fit(XC, YC)
    model = stack.named_estimators_["nb"]
    np.testing.assert_allclose(model.predict_proba(XC), stack.predict_proba(XC))
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict(XC) == stack.predict(XC)).all()


def test_models_without_probabilities_vote_for_classes() -> None:
    learners = [("ridge", RidgeClassifier())]
    stack = StackingClassifier(learners, "mean", cv=3, random_state=0).fit(XC, YC)
    assert set(stack.named_estimators_["ridge"].predict(XC)) <= {0, 1, 2}


def test_learners_of_all_layers_are_there() -> None:
    layers = [[("low", Ridge())], [("high", Ridge())]]
    stack = StackingRegressor(layers, "mean", cv=4, random_state=0).fit(X, Y)
    assert set(stack.named_estimators_) == {"low", "high"}
