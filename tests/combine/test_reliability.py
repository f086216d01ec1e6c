import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from foldwise.combine import decompose_loss, expected_calibration_error, reliability_curve
from foldwise.errors import InvalidParameterError
from tests.combine.calibration.predictions import breast_cancer, digits

ROWS = st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(0, 1), st.floats(0.1, 3)), min_size=2)


def cancer():
    z, y = breast_cancer()
    return 1 / (1 + np.exp(-z)), y


@pytest.mark.parametrize("n_bins", [4, 10])
def test_bins_of_equal_width_are_scikit_learns(n_bins) -> None:
    p, y = cancer()
    curve = reliability_curve(p, y, n_bins=n_bins, strategy="uniform")
    observed, predicted = calibration_curve(y, p, n_bins=n_bins)
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.predicted, predicted)


def test_quantile_bins_hold_equal_weight_and_keep_equal_predictions_together() -> None:
    rng = np.random.default_rng(0)
    p, y = rng.uniform(size=1000), rng.integers(0, 2, 1000)
    np.testing.assert_allclose(reliability_curve(p, y).weight, 0.1)
    lumped = np.repeat([0.1, 0.9], [999, 1])
    assert reliability_curve(lumped, y).predicted.tolist() == pytest.approx([0.1, 0.9])


def test_the_error_is_the_mean_distance_by_a_loop_over_bins() -> None:
    p, y = cancer()
    expected = 0.0
    for low in np.arange(10) / 10:
        inside = (p >= low) & (p < low + 0.1) if low < 0.9 else p >= low
        if inside.any():
            expected += inside.mean() * abs(p[inside].mean() - y[inside].mean())
    assert expected_calibration_error(p, y, strategy="uniform") == pytest.approx(expected)


def test_several_classes_are_judged_by_their_most_probable_one() -> None:
    logits, y = digits()
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    sure, right = p.max(axis=1), (p.argmax(axis=1) == y).astype(int)
    assert expected_calibration_error(p, y) == expected_calibration_error(sure, right)


def test_the_band_is_wilsons() -> None:
    curve = reliability_curve(np.full(10, 0.3), np.repeat([0, 1], [7, 3]))
    # R: prop.test(3, 10, correct = FALSE)$conf.int
    np.testing.assert_allclose([curve.lower[0], curve.upper[0]], [0.1077913, 0.6032219], atol=1e-6)


@given(ROWS, st.sampled_from(["log_loss", "brier"]))
def test_the_parts_add_up(rows, loss) -> None:
    p, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    parts = decompose_loss(p, y, loss, sample_weight=weight)
    assert abs(parts.calibration + parts.refinement - parts.total) < 1e-12
    assert abs(parts.uncertainty - parts.resolution - parts.refinement) < 1e-12
    assert parts.calibration >= -1e-12
    assert parts.resolution >= -1e-12


def test_totals_are_scikit_learns() -> None:
    p, y = cancer()
    weight = np.random.default_rng(0).uniform(size=len(y))
    total = decompose_loss(p, y, sample_weight=weight).total
    assert total == pytest.approx(log_loss(y, p, sample_weight=weight))
    assert decompose_loss(p, y, "brier").total == pytest.approx(brier_score_loss(y, p))
    logits, codes = digits()
    many = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert decompose_loss(many, codes).total == pytest.approx(log_loss(codes, many))
    brier = ((many - np.eye(10)[codes]) ** 2).sum(axis=1).mean()
    assert decompose_loss(many, codes, "brier").total == pytest.approx(brier)


def test_a_few_rising_values_give_murphys_parts_by_loops() -> None:
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.4, 0.8], 3000)
    y = (rng.uniform(size=3000) < 0.2 + 0.5 * p).astype(int)
    reliability = resolution = 0.0
    for value in (0.1, 0.4, 0.8):
        own = p == value
        reliability += own.mean() * (value - y[own].mean()) ** 2
        resolution += own.mean() * (y[own].mean() - y.mean()) ** 2
    parts = decompose_loss(p, y, "brier")
    assert parts.calibration == pytest.approx(reliability, abs=1e-12)
    assert parts.resolution == pytest.approx(resolution, abs=1e-12)
    assert parts.uncertainty == pytest.approx(y.mean() * (1 - y.mean()), abs=1e-12)


def test_only_the_calibration_part_sees_a_rising_change_of_the_predictions() -> None:
    p, y = cancer()
    before, after = decompose_loss(p, y), decompose_loss(p**3, y)
    assert after.refinement == pytest.approx(before.refinement, rel=1e-9)
    assert after.calibration > before.calibration


@pytest.mark.parametrize("loss", ["log_loss", "brier"])
def test_certain_mistakes_are_finite(loss) -> None:
    parts = decompose_loss(np.array([0.0, 1.0, 0.5]), np.array([1, 0, 1]), loss)
    assert np.isfinite([parts.total, parts.refinement]).all()


def test_unknown_words_are_refused() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        reliability_curve(np.array([0.5]), np.array([1]), strategy="quantiles")
    assert str(caught.value) == (
        "reliability_curve: strategy must be one of 'quantile', 'uniform'; got 'quantiles'. "
        "Did you mean 'quantile'?"
    )
    with pytest.raises(InvalidParameterError) as caught:
        decompose_loss(np.array([0.5]), np.array([1]), "logloss")
    assert str(caught.value) == (
        "decompose_loss: loss must be one of 'log_loss', 'brier'; got 'logloss'. "
        "Did you mean 'log_loss'?"
    )
