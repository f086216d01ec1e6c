import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from foldwise.combine.calibration import fit_isotonic
from tests.combine.calibration.predictions import breast_cancer


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_scikit_learns_isotonic_regression_kept_off_the_ends(weighted) -> None:
    z, y = breast_cancer()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    found = fit_isotonic(z[::2], y[::2], None if weight is None else weight[::2])
    oracle = IsotonicRegression(out_of_bounds="clip")
    oracle.fit(z[::2], y[::2], None if weight is None else weight[::2])
    n = len(y[::2]) if weight is None else weight[::2].sum()
    expected = np.clip(oracle.predict(z), 0.5 / (n + 1), 1 - 0.5 / (n + 1))
    np.testing.assert_allclose(found.predict(z)[:, 1], expected, atol=1e-12)


def test_one_surprise_does_not_cost_an_infinite_loss() -> None:
    z, y = breast_cancer()
    p = fit_isotonic(z, y).predict(np.array([-1e9, 1e9]))
    assert (p > 0).all()
    assert (p < 1).all()


def test_it_never_falls() -> None:
    z, y = breast_cancer()
    assert (np.diff(fit_isotonic(z, 1 - y).predict(np.sort(z))[:, 1]) >= 0).all()
