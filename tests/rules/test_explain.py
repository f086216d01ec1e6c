import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_friedman1

from foldwise.errors import InvalidDataError
from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor


@pytest.fixture(scope="module")
def fitted():
    X, y = make_friedman1(200, random_state=0)
    return RuleFitRegressor(n_estimators=40, random_state=0).fit(X, y), X


def test_contributions_add_up_to_the_prediction(fitted):
    model, X = fitted
    for x in X[:5]:
        why = model.explain(x)
        assert_allclose(why.base + why.terms["contribution"].sum(), why.decision)
        assert_allclose(why.decision, model.predict(x[None])[0])


def test_the_base_is_the_mean_prediction(fitted):
    model, X = fitted
    assert_allclose(model.explain(X[0]).base, model.predict(X).mean(), rtol=1e-6)


def test_the_text_adds_up_too(fitted):
    model, X = fitted
    lines = str(model.explain(X[0])).splitlines()
    numbers = [float(line.split()[0]) for line in lines]
    assert lines[0].endswith("average row")
    assert lines[-1].endswith("this row")
    assert_allclose(sum(numbers[:-1]), numbers[-1], atol=0.02)


def test_the_most_probable_class_is_explained_unless_another_is_asked_for():
    X, y = load_iris(return_X_y=True)
    model = RuleFitClassifier(n_estimators=20, random_state=0).fit(X, y)
    scores = model.decision_function(X[:1])[0]
    assert_allclose(model.explain(X[0]).decision, scores.max())
    assert_allclose(model.explain(X[0], output=2).decision, scores[2])


def test_only_one_row_is_explained(fitted):
    model, X = fitted
    with pytest.raises(InvalidDataError, match="x must be one row; got 2"):
        model.explain(np.asarray(X[:2]))
