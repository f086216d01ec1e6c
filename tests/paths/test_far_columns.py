"""Columns whose spread is small beside their mean, such as dates, count like any other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise import (
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    LassoPathClassifier,
    LassoPathRegressor,
)

MODELS = [
    LassoPathRegressor(random_state=0),
    LassoPathRegressor(loss="huber", n_lambdas=20, random_state=0),
    LassoPathRegressor(standardize=False, n_lambdas=20, random_state=0),
    LassoPathRegressor(variant="relaxed", n_lambdas=20, random_state=0),
    LassoPathRegressor(variant="adaptive", n_lambdas=20, random_state=0),
    ForwardStagewiseRegressor(random_state=0),
    ForwardStagewiseRegressor(epsilon=0, random_state=0),
    LassoPathClassifier(n_lambdas=20, random_state=0),
    ForwardStagewiseClassifier(max_steps=50, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_julian_date_gives_the_predictions_of_the_days_since(model, kind):
    rng = np.random.default_rng(0)
    days = rng.integers(0, 1024, 80) / 1024
    X = np.column_stack([days, rng.normal(size=80)])
    y = 5 * days + X[:, 1] + 0.1 * rng.normal(size=80)
    y = y > np.median(y) if hasattr(model, "predict_proba") else y
    dates = np.column_stack([X + [2_460_000.5, 0.0], np.full(80, 1e9 / 3)])
    near = _sums(model.fit(kind(X), y), kind(X))
    far = _sums(model.fit(kind(dates), y), kind(dates))
    assert abs(np.ravel(model.coef_)[0]) > 0
    assert_allclose(far, near, rtol=0, atol=1e-6)


def _sums(model, X):
    return model.decision_function(X) if hasattr(model, "predict_proba") else model.predict(X)
