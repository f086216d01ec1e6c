from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor, save

X = np.random.default_rng(0).normal(size=(60, 4))
Y = X[:, 0] + np.sin(X[:, 1])


@pytest.fixture(scope="session")
def stack() -> StackingRegressor:
    learners = [
        ("ridge", Ridge()),
        ("line", LinearRegression()),
        ("tree", DecisionTreeRegressor(max_depth=2)),
    ]
    return StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(X, Y)


@pytest.fixture(scope="session")
def saved(stack: StackingRegressor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "stack.foldwise"
    save(stack, path)
    return path
