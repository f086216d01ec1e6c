"""Small stacks of every kind, fitted once for all tests of the report."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier, StackingRegressor

REGRESSORS = [("ridge", Ridge()), ("knn", KNeighborsRegressor(5))]
CLASSIFIERS = [("lda", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())]


def friedman(n: int = 150) -> tuple[pd.DataFrame, Any]:
    X, y = make_friedman1(n, n_features=6, noise=1.0, random_state=0)
    return pd.DataFrame(X, columns=[f"input {i}" for i in range(6)]), y


def classes(n_classes: int, n: int = 180) -> tuple[Any, Any]:
    X, y = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        random_state=0,
    )  # fmt: skip
    return X, np.array([f"kind {code}" for code in range(n_classes)])[y]


class Fails(Ridge):
    """A learner that cannot be fitted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise RuntimeError("no <b>luck</b>")


@pytest.fixture(scope="session")
def regression() -> StackingRegressor:
    return StackingRegressor(REGRESSORS, cv=4, random_state=0).fit(*friedman())


@pytest.fixture(scope="session")
def binary() -> StackingClassifier:
    return StackingClassifier(CLASSIFIERS, cv=3, random_state=0).fit(*classes(2))


@pytest.fixture(scope="session")
def multiclass() -> StackingClassifier:
    return StackingClassifier(CLASSIFIERS, cv=3, random_state=0).fit(*classes(4))


@pytest.fixture(scope="session")
def forward() -> StackingRegressor:
    cv = TimeSeriesSplit(4)
    return StackingRegressor(REGRESSORS, cv=cv, random_state=0).fit(*friedman())


@pytest.fixture(scope="session")
def grouped() -> StackingRegressor:
    X, y = friedman()
    groups = np.arange(len(y)) // 5
    return StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X, y, groups=groups)


@pytest.fixture(scope="session")
def unscored() -> StackingRegressor:
    X, y = friedman()
    learners = [(name, learner.fit(X, y)) for name, learner in REGRESSORS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StackingRegressor(learners, cv="prefit").fit(X, y)


@pytest.fixture(scope="session")
def failed() -> StackingRegressor:
    learners = [*REGRESSORS, ("broken", Fails())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StackingRegressor(learners, cv=3, random_state=0).fit(*friedman())


@pytest.fixture(scope="session")
def weighted() -> StackingClassifier:
    X, y = classes(2)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    learners = [("tree", DecisionTreeClassifier(max_depth=3)), ("bayes", GaussianNB())]
    stack = StackingClassifier(learners, cv=3, n_repeats=2, random_state=0)
    return stack.fit(X, y, sample_weight=weight)


KINDS = (
    "regression",
    "binary",
    "multiclass",
    "forward",
    "grouped",
    "unscored",
    "failed",
    "weighted",
)


@pytest.fixture(params=KINDS)
def stack(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)
