import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.evidence import given_evidence, judged_evidence
from tests.report.conftest import classes, friedman


def test_judged_rows_carry_the_predictions_the_score_is_made_of(
    regression: StackingRegressor,
) -> None:
    evidence = judged_evidence(regression)
    rmse = np.sqrt(np.mean((evidence.predicted - evidence.y) ** 2))
    np.testing.assert_allclose(-regression.score_, rmse, rtol=1e-12)
    assert evidence.words == "150 judged rows, each predicted by a stack that never saw it"


def test_judged_classes_carry_probabilities(binary: StackingClassifier) -> None:
    evidence = judged_evidence(binary)
    chosen = evidence.probabilities[np.arange(len(evidence.y)), evidence.y]
    np.testing.assert_allclose(binary.score_, np.log(chosen).mean(), rtol=1e-9)


def test_nothing_judged_is_no_evidence(unscored: StackingRegressor) -> None:
    assert judged_evidence(unscored) is None


def test_given_rows_are_predicted_by_the_model() -> None:
    X, y = friedman()
    model = LinearRegression().fit(X, y)
    np.testing.assert_array_equal(given_evidence(model, X, y).predicted, model.predict(X))


def test_classes_the_model_does_not_know_are_left_out() -> None:
    X, y = classes(3)
    known = y != "kind 2"
    evidence = given_evidence(GaussianNB().fit(X[known], y[known]), X, y)
    assert len(evidence.y) == known.sum()
    np.testing.assert_array_equal(evidence.classes[evidence.y], y[known])


def test_a_classifier_without_probabilities_gives_labels() -> None:
    X, y = classes(2)
    assert given_evidence(LinearSVC(random_state=0).fit(X, y), X, y).probabilities is None
