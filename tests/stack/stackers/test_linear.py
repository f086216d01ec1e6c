import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.stack.stackers.linear import PoolStacker, RidgeStacker

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=40)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_the_ridge_stacker_is_ridge_on_scaled_columns(make: object) -> None:
    expected = make_pipeline(StandardScaler(), Ridge(3.0)).fit(X, Y).predict(X)
    stacker = RidgeStacker(3.0).fit(make(X), Y)
    np.testing.assert_allclose(stacker.predict(make(X)).ravel(), expected)


def test_a_path_is_each_penalty_alone() -> None:
    points = [RidgeStacker(0.1), RidgeStacker(10.0)]
    for fitted in RidgeStacker().fit_points(X, Y, None, points):
        alone = RidgeStacker(fitted.alpha).fit(X, Y)
        np.testing.assert_allclose(fitted.predict(X), alone.predict(X), rtol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pool_is_a_logistic_regression_on_all_logits(shared: bool, n_classes: int) -> None:
    width = 1 if n_classes == 2 else n_classes
    codes = RNG.integers(0, n_classes, 60)
    logits = RNG.normal(size=(60, 2, width))
    stacker = PoolStacker(None, np.arange(n_classes), shared=shared).fit(logits, codes)
    coefficients, intercepts = stacker.as_logistic()
    scores = logits.reshape(60, -1) @ coefficients.T + intercepts
    if n_classes == 2:
        scores = np.column_stack([np.zeros(60), scores])
    np.testing.assert_allclose(softmax(scores, axis=1), stacker.respond(logits).values, rtol=1e-10)
