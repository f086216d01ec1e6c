import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from foldwise.combine.calibration import fit_quadratic
from tests.combine.calibration.predictions import breast_cancer


def test_it_is_logistic_regression_on_the_logit_and_its_square() -> None:
    z, y = breast_cancer()
    found = fit_quadratic(z, y, ridge=0.0)
    columns = np.column_stack([z, z**2])
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(columns, y)
    np.testing.assert_allclose([found.a, found.b], model.coef_[0], rtol=1e-6)
    np.testing.assert_allclose(found.predict(z), model.predict_proba(columns), atol=1e-8)


def test_it_does_not_turn_beyond_what_it_saw() -> None:
    z, y = breast_cancer()
    found = fit_quadratic(z, y)
    ends = found.predict(np.array([z.min(), z.max()]))
    np.testing.assert_array_equal(found.predict(np.array([-1e9, 1e9])), ends)


def test_rows_without_weight_do_not_widen_its_range() -> None:
    z, y = breast_cancer()
    weight = np.ones(len(y))
    weight[np.argmax(z)] = 0.0
    assert fit_quadratic(z, y, weight).highest == np.sort(z[weight > 0])[-1]


def test_a_parabola_is_found() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=50_000)
    y = (rng.uniform(size=50_000) < expit(-0.5 + z + 0.3 * z**2)).astype(int)
    found = fit_quadratic(z, y)
    np.testing.assert_allclose([found.c, found.a, found.b], [-0.5, 1.0, 0.3], atol=0.05)
