"""scikit-learn's estimator checks, none expected to fail."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import StackingClassifier, StackingRegressor

REGRESSORS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2))]
CLASSIFIERS = [("logistic", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]


# Checks with a handful of rows make us lower cv or go without a score, each with a warning.
@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        StackingRegressor(REGRESSORS, cv=3),
        StackingRegressor(REGRESSORS, Ridge(), cv=3, predict_with="refit"),
        StackingRegressor(REGRESSORS, "nnls", cv=3, predict_with="pairs"),
        StackingRegressor([REGRESSORS, [("upper", Ridge())]], "mean", cv=4),
        StackingClassifier(CLASSIFIERS, cv=3),
        StackingClassifier(CLASSIFIERS, LogisticRegression(), cv=3, predict_with="refit"),
        StackingClassifier(CLASSIFIERS, "nnls", cv=3, predict_with="pairs"),
    ]
)
def test_scikit_learns_estimator_checks_pass(estimator, check) -> None:
    check(estimator)
