"""scikit-learn's estimator checks, none expected to fail."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import StackingClassifier, StackingRegressor


# Checks with a handful of rows make us lower cv or go without a score, each with a warning.
@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        StackingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor())], cv=3),
        StackingRegressor([[("ridge", Ridge())], [("top", Ridge())]], "nnls", cv=4),
        StackingClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())], cv=3),
        StackingClassifier([("logistic", LogisticRegression())], LogisticRegression(), cv=3),
    ]
)
def test_scikit_learns_estimator_checks_pass(estimator, check) -> None:
    check(estimator)
