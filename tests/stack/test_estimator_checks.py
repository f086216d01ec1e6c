"""scikit-learn's estimator checks, none expected to fail."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import StackingClassifier, StackingRegressor


# Checks with a handful of rows make us lower cv or go without a score, each with a warning.
@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        StackingRegressor([("ridge", Ridge(tol=1e-12)), ("tree", DecisionTreeRegressor())], cv=3),
        StackingClassifier(
            [[("tree", DecisionTreeClassifier())], [("logistic", LogisticRegression())]],
            LogisticRegression(),
            cv=3,
            predict_with="refit",
        ),
    ]
)
def test_scikit_learns_estimator_checks_pass(estimator, check) -> None:
    check(estimator)


def test_tags_are_those_of_the_first_layer_which_alone_sees_x() -> None:
    dense_only = [[("bayes", GaussianNB())], [("logistic", LogisticRegression())]]
    assert not get_tags(StackingClassifier(dense_only)).input_tags.sparse
    takes_nan = [[("tree", DecisionTreeClassifier())], [("logistic", LogisticRegression())]]
    assert get_tags(StackingClassifier(takes_nan)).input_tags.allow_nan
    assert not get_tags(StackingClassifier(takes_nan[::-1])).input_tags.allow_nan
