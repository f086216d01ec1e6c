import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from foldwise.combine.calibration import fit_temperature
from tests.combine.calibration.predictions import breast_cancer, digits, log_loss


@pytest.mark.parametrize("data", [breast_cancer, digits])
def test_it_is_the_minimum_of_a_search_over_temperatures(data) -> None:
    logits, y = data()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    found = fit_temperature(logits, y, weight, ridge=0.0)
    columns = np.column_stack([0 * logits, logits]) if logits.ndim == 1 else logits

    def loss(slope):
        return log_loss(softmax(slope * columns, axis=1), y, weight)

    brute = minimize_scalar(loss, bounds=(0.01, 5.0), method="bounded", options={"xatol": 1e-9})
    assert found.slope == pytest.approx(brute.x, rel=1e-5)
    assert log_loss(found.predict(logits), y, weight) == pytest.approx(brute.fun, abs=1e-12)


def test_the_most_probable_class_stays() -> None:
    logits, y = digits()
    found = fit_temperature(logits, y)
    np.testing.assert_array_equal(found.predict(logits).argmax(axis=1), logits.argmax(axis=1))


def test_logits_that_point_the_wrong_way_are_not_believed() -> None:
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    found = fit_temperature(z, np.array([1, 1, 0, 0]))
    assert found.slope == 0.0
    np.testing.assert_array_equal(found.predict(z), 0.5)


@pytest.mark.parametrize("size", [1e-3, 1e4])
def test_any_size_of_logits_gives_the_same_probabilities(size) -> None:
    z, y = breast_cancer()
    usual = fit_temperature(z, y, ridge=0.0).predict(z)
    np.testing.assert_allclose(
        fit_temperature(size * z, y, ridge=0.0).predict(size * z), usual, rtol=1e-6
    )


def test_constant_logits_are_left_as_they_are() -> None:
    found = fit_temperature(np.zeros(5), np.array([0, 1, 0, 1, 1]))
    assert found.slope == pytest.approx(1.0)
