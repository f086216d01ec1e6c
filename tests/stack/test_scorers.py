"""Scorers of the user's, metrics that are not known everywhere."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from foldwise import EnsembleSelectionRegressor, StackingClassifier, StackingRegressor
from foldwise.errors import FoldsWarning, LearnerFailedWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=60)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2, random_state=0))]


def where_a_is_positive(model, rows, y) -> float:
    """Score some rows only, found by a column of X."""
    assert list(rows.columns) == ["a", "b", "c"]
    some = rows["a"].to_numpy() > 0
    return -mean_squared_error(y[some], model.predict(rows)[some])


@pytest.mark.parametrize("top", [None, "best", "greedy", ["mean", "ridge"]])
def test_a_callable_scorer_sees_the_rows_it_scores(top) -> None:
    stack = StackingRegressor(LEARNERS, top, cv=3, scoring=where_a_is_positive, random_state=0)
    stack.fit(FRAME, Y)
    verdict = stack.deals_[0].verdict
    each = []
    for fold in range(3):
        rows = verdict.rows[verdict.target.fold == fold]
        some = X[rows, 0] > 0
        given = verdict.response.values[verdict.target.fold == fold, 0]
        each.append(-mean_squared_error(Y[rows][some], given[some]))
    assert stack.score_ == pytest.approx(np.mean(each))
    np.testing.assert_allclose(stack.fold_scores_, each)


def test_a_selection_by_a_callable_scorer_sees_its_rows_and_keeps_none() -> None:
    stack = EnsembleSelectionRegressor(
        LEARNERS, n_steps=3, cv=3, scoring=where_a_is_positive, random_state=0
    ).fit(FRAME, Y)
    assert stack.stacker_.metric.X is None
    again = pickle.loads(pickle.dumps(stack))
    assert again.deals_[0].verdict.target.X is None
    with pytest.raises(ValueError, match="X must be given after unpickling"):
        again.restack(scoring=where_a_is_positive)
    assert again.restack(scoring=where_a_is_positive, X=FRAME).score_ == stack.score_


def test_a_fold_without_a_class_is_said_where_the_metric_needs_all() -> None:
    y = np.arange(60) % 2 * (np.arange(60) < 45)
    stack = StackingClassifier(
        [("bayes", GaussianNB()), ("logistic", LogisticRegression())],
        "mean",
        cv=KFold(4),
        scoring="roc_auc",
    )
    with pytest.warns(FoldsWarning, match=r"roc_auc is not known in fold 3, where a class"):
        stack.fit(X, y)


COUNTS = np.random.default_rng(1).poisson(np.exp(1.5 * X[:, 0]))


@pytest.mark.parametrize("scoring", ["neg_mean_poisson_deviance", "neg_mean_squared_log_error"])
def test_a_learner_outside_the_domain_of_the_metric_is_dropped_with_the_reason(scoring) -> None:
    learners = [("poisson", PoissonRegressor()), ("linear", LinearRegression())]
    stack = StackingRegressor(learners, scoring=scoring, random_state=0)
    with pytest.warns(LearnerFailedWarning, match="learner 'linear' was dropped, it failed to pre"):
        stack.fit(X, COUNTS)
    assert list(stack.failures_) == ["linear"]
    assert np.isfinite(stack.score_)
    with pytest.raises(ValueError, match="scoring must be able to score what 'linear' predicts"):
        stack.set_params(on_error="raise").fit(X, COUNTS)


def test_a_stacker_that_stays_inside_the_domain_is_chosen() -> None:
    learners = [("one", PoissonRegressor(alpha=1e-3)), ("more", PoissonRegressor(alpha=1.0))]
    tops = [LinearRegression(fit_intercept=False), "mean"]
    y = COUNTS * (X[:, 0] > 0)
    stack = StackingRegressor(
        learners, tops, scoring="neg_mean_poisson_deviance", random_state=0
    ).fit(X, y)
    assert np.isfinite(stack.score_) or stack.deals_[0].verdict.option.candidate == 1
