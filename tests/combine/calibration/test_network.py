import numpy as np

from foldwise.combine.calibration import fit_network, fit_platt, fit_temperature
from tests.combine.calibration.predictions import breast_cancer, digits, log_loss


def test_the_same_rows_give_the_same_network() -> None:
    z, y = breast_cancer()
    np.testing.assert_array_equal(fit_network(z, y).predict(z), fit_network(z, y).predict(z))


def test_it_learns_a_bump_that_no_rising_map_can() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-4, 4, 2000)
    y = (np.abs(z) < 2).astype(int)
    assert log_loss(fit_network(z, y).predict(z), y) < 0.2
    assert log_loss(fit_platt(z, y).predict(z), y) > 0.6


def test_few_rows_change_little_beyond_the_temperature() -> None:
    z, y = np.array([-1.0, 1.0, 2.0]), np.array([0, 1, 0])
    plain = fit_temperature(z, y).predict(z)
    assert np.abs(fit_network(z, y).predict(z) - plain).max() < 0.2


def test_it_does_not_run_away_beyond_what_it_saw() -> None:
    z, y = breast_cancer()
    found = fit_network(z, y)
    ends = found.predict(np.array([z.min(), z.max()]))
    np.testing.assert_allclose(found.predict(np.array([-1e9, 1e9])), ends)


def test_several_classes_are_fitted_at_once() -> None:
    logits, y = digits()
    found = fit_network(logits[::2], y[::2]).predict(logits[1::2])
    plain = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert log_loss(found, y[1::2]) < log_loss(plain[1::2], y[1::2])
