import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from foldwise.combine.calibration import (
    fit_matrix_scaling,
    fit_platt,
    fit_temperature,
    fit_vector_scaling,
)
from tests.combine.calibration.predictions import breast_cancer, digits, log_loss


@pytest.mark.parametrize("data", [breast_cancer, digits])
def test_temperature_is_the_minimum_of_a_search_over_temperatures(data) -> None:
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


def three_classes():
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=2.0, size=(300, 3))
    logits -= logits.mean(axis=1, keepdims=True)
    true = softmax(0.5 * logits + [0.6, 0.0, -0.6], axis=1)
    return logits, (true.cumsum(axis=1) < rng.uniform(size=(300, 1))).sum(axis=1)


@pytest.mark.parametrize("crossed", [False, True])
def test_scaling_is_the_minimum_of_the_stated_objective(crossed) -> None:
    logits, y = three_classes()
    slope, n, k = fit_temperature(logits, y).slope, len(y), 3
    off = ~np.eye(k, dtype=bool)

    def objective(flat):
        change = np.diag(flat[:k])
        change[off] = flat[2 * k :] if crossed else 0.0
        scaled = slope * logits
        p = softmax(scaled + scaled @ change.T + flat[k : 2 * k], axis=1)
        ridge = k * np.sum(flat[: 2 * k] ** 2) + k * (k - 1) * np.sum(change[off] ** 2)
        return log_loss(p, y) + ridge / n

    best = minimize(objective, np.zeros(12 if crossed else 6), tol=1e-12)
    found = (fit_matrix_scaling if crossed else fit_vector_scaling)(logits, y)
    change = np.diag(best.x[:k])
    change[off] = best.x[2 * k :] if crossed else 0.0
    np.testing.assert_allclose(found.matrix, slope * (np.eye(k) + change), atol=1e-4)
    np.testing.assert_allclose(found.intercept, best.x[k : 2 * k], atol=1e-4)


def test_each_step_fits_the_rows_better() -> None:
    logits, y = digits()
    fits = (fit_temperature, fit_vector_scaling, fit_matrix_scaling)
    losses = [log_loss(fit(logits, y).predict(logits), y) for fit in fits]
    assert losses[0] > losses[1] > losses[2]


def test_for_two_classes_vector_scaling_is_nearly_platt() -> None:
    z, y = breast_cancer()
    np.testing.assert_allclose(
        fit_vector_scaling(z, y).predict(z), fit_platt(z, y).predict(z), atol=0.01
    )


def test_weights_repeat_rows() -> None:
    logits, y = three_classes()
    times = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = fit_matrix_scaling(logits, y, times.astype(float)).predict(logits)
    np.testing.assert_allclose(
        fit_matrix_scaling(logits[rows], y[rows]).predict(logits), weighted, atol=1e-5
    )
