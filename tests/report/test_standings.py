import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import cross_val_predict

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.standings import BEST, NAIVE, STACK, naive_row, standings
from tests.report.conftest import CLASSIFIERS, REGRESSORS, classes, friedman


def test_the_naive_guess_is_the_mean_of_the_other_folds(regression: StackingRegressor) -> None:
    X, y = friedman()
    lattice = regression.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyRegressor(), X, y, cv=splits)
    naive = {s.model: s for s in standings(regression)}[NAIVE]
    assert naive.value == pytest.approx(root_mean_squared_error(y, expected), rel=1e-12)


def test_the_naive_guess_of_classes_is_their_shares(multiclass: StackingClassifier) -> None:
    X, y = classes(4)
    lattice = multiclass.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyClassifier(), X, y, cv=splits, method="predict_proba")
    naive = {s.model: s for s in standings(multiclass)}[NAIVE]
    # One row is spread over the classes, which moves each share by at most 1 / n.
    assert naive.value == pytest.approx(log_loss(y, expected), rel=1e-3)


def test_the_guess_for_absolute_errors_is_the_median() -> None:
    X, y = friedman()
    stack = StackingRegressor(REGRESSORS, cv=3, scoring="neg_mean_absolute_error", random_state=0)
    naive = {s.model: s for s in standings(stack.fit(X, y**2))}[NAIVE]
    lattice = stack.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyRegressor(strategy="median"), X, y**2, cv=splits)
    assert naive.value == pytest.approx(np.abs(expected - y**2).mean(), rel=1e-12)


def test_gains_are_positive_where_the_stack_is_better(stack: object) -> None:
    own = {s.model: s for s in standings(stack)}
    sign = stack._metric.sign
    for standing in own.values():
        if np.isfinite(standing.value):
            gain = sign * (own[STACK].value - standing.value)
            assert standing.gain == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "balanced_accuracy"])
def test_the_best_comes_first_whatever_the_metric(scoring: str) -> None:
    stack = StackingClassifier(CLASSIFIERS, cv=3, scoring=scoring, random_state=0).fit(*classes(2))
    board = standings(stack)
    values = [stack._metric.sign * s.value for s in board]
    assert values == sorted(values, reverse=True)
    assert {STACK, BEST, NAIVE} <= {s.model for s in board}
    assert [s.model for s in board if s.learns and s.model in ("lda", "bayes")]


def test_there_is_no_guess_without_a_score_or_for_a_scorer_that_refuses_it(
    unscored: StackingRegressor,
) -> None:
    assert NAIVE not in {s.model for s in standings(unscored)}

    def correlation(estimator: object, X: object, y: object) -> float:
        said = estimator.predict(X)
        if np.ptp(said) == 0:
            raise ValueError("a constant has no correlation")
        return float(np.corrcoef(said, y)[0, 1])

    stack = StackingRegressor(REGRESSORS, cv=3, scoring=correlation, random_state=0)
    stack.fit(*friedman())
    assert NAIVE not in {s.model for s in standings(stack)}


def test_naive_rows_by_hand() -> None:
    row, kind = naive_row(np.array([0, 0, 1]), None, np.array(["a", "b"]))
    assert kind == "probability"
    np.testing.assert_allclose(row, [[2.5 / 4, 1.5 / 4]])
    row, kind = naive_row(np.array([1.0, 3.0]), np.array([3.0, 1.0]), None)
    assert (kind, float(row[0, 0])) == ("value", 1.5)
