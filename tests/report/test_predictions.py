import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.predictions import given_predictions, naive_response
from foldwise.report.stack_values import stack_values
from foldwise.scores.metric import Target, as_metric
from tests.report.conftest import classes, friedman


def test_judged_rows_carry_the_predictions_the_score_is_made_of(
    regression: StackingRegressor,
) -> None:
    judged = stack_values(regression).judged
    rmse = np.sqrt(np.mean((judged.predicted - judged.target.y) ** 2))
    np.testing.assert_allclose(-regression.score_uncorrected_, rmse, rtol=1e-12)
    assert judged.words == "150 judged rows, each predicted by a stack that never saw it"


def test_judged_classes_carry_probabilities(binary: StackingClassifier) -> None:
    judged = stack_values(binary).judged
    chosen = judged.probabilities[np.arange(len(judged.target.y)), judged.target.y]
    np.testing.assert_allclose(binary.score_uncorrected_, np.log(chosen).mean(), rtol=1e-9)


def test_nothing_judged_is_no_prediction(unscored: StackingRegressor) -> None:
    assert stack_values(unscored).judged is None


def test_given_rows_are_predicted_by_the_model() -> None:
    X, y = friedman()
    model = LinearRegression().fit(X, y)
    np.testing.assert_array_equal(given_predictions(model, X, y).predicted, model.predict(X))


def test_classes_the_model_does_not_know_are_left_out() -> None:
    X, y = classes(3)
    known = y != "kind 2"
    target = given_predictions(GaussianNB().fit(X[known], y[known]), X, y).target
    assert len(target.y) == known.sum()
    np.testing.assert_array_equal(target.labels[target.y], y[known])


def test_a_classifier_without_probabilities_gives_labels() -> None:
    X, y = classes(2)
    model = LinearSVC(random_state=0).fit(X, y)
    given = given_predictions(model, X, y)
    assert given.probabilities is None
    np.testing.assert_array_equal(given.target.labels[given.predicted], model.predict(X))


RMSE = as_metric(None, owner="x", classify=False, has_probabilities=False)


def test_given_rows_are_scored_like_scikit_learn_does() -> None:
    X, y = friedman()
    model = LinearRegression().fit(X[:100], y[:100])
    given = given_predictions(model, X[100:], y[100:])
    own = RMSE.evaluate(given.response, given.target)
    naive = RMSE.evaluate(naive_response(given.target, RMSE, 50), given.target)
    assert -own.score == pytest.approx(root_mean_squared_error(y[100:], model.predict(X[100:])))
    assert -naive.score == pytest.approx(np.std(y[100:]))


def test_naive_guesses_by_hand() -> None:
    classes = Target(np.array([0, 0, 1]), np.array(["a", "b"]), None, np.zeros(3, int))
    guess = naive_response(classes, RMSE, 2)
    assert guess.kind == "probability"
    np.testing.assert_allclose(guess.values, [[2.5 / 4, 1.5 / 4]] * 2)
    numbers = Target(np.array([1.0, 3.0]), None, np.array([3.0, 1.0]), np.zeros(2, int))
    guess = naive_response(numbers, RMSE, 1)
    assert (guess.kind, guess.values.tolist()) == ("value", [[1.5]])
