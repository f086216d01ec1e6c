"""What every method promises, whatever it is fitted on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.combine.calibration import fit_calibrator, probabilities_of
from foldwise.combine.calibration.named import FOR_TWO, METHODS
from foldwise.errors import InvalidParameterError
from tests.combine.calibration.predictions import breast_cancer, digits, log_loss

RISING = ("temperature", "platt", "beta", "isotonic", "venn_abers")
each = pytest.mark.parametrize("method", METHODS)


def is_distribution(p) -> bool:
    return bool(np.isfinite(p).all() and (p >= 0).all() and np.allclose(p.sum(axis=1), 1.0))


CASES = {
    "one class": (np.linspace(-1, 1, 10), np.ones(10, dtype=int)),
    "separable": (np.linspace(-1, 1, 10), np.repeat([0, 1], 5)),
    "separable, far": (np.linspace(-1e5, 1e5, 10), np.repeat([0, 1], 5)),
    "turned round": (np.linspace(-1, 1, 10), np.repeat([1, 0], 5)),
    "turned round, far": (np.linspace(-1e5, 1e5, 10), np.repeat([1, 0], 5)),
    "constant": (np.full(10, 0.3), np.tile([0, 1], 5)),
    "constant, zero": (np.zeros(10), np.tile([0, 1], 5)),
    "infinite": (np.array([-np.inf, 0.0, np.inf, np.inf]), np.array([0, 1, 0, 1])),
    "one row": (np.array([0.5]), np.array([1])),
    "two rows": (np.array([0.5, 1.0]), np.array([1, 0])),
}


@each
@pytest.mark.parametrize("case", CASES)
def test_odd_rows_still_give_probabilities(method, case) -> None:
    z, y = CASES[case]
    p = fit_calibrator(method, z, y).predict(np.array([-np.inf, -3.0, 0.0, 3.0, np.inf]))
    assert p.shape == (5, 2)
    assert is_distribution(p)


@each
def test_without_rows_or_weight_nothing_is_changed(method) -> None:
    z, y = breast_cancer()
    for fitted in (
        fit_calibrator(method, z[:0], y[:0]),
        fit_calibrator(method, z, y, np.zeros(len(y))),
    ):
        np.testing.assert_allclose(fitted.predict(z), probabilities_of(z), rtol=1e-12)


@each
@pytest.mark.parametrize("n", [1, 4, 40])
def test_several_classes_some_unseen_still_give_probabilities(method, n) -> None:
    rng = np.random.default_rng(n)
    logits = rng.normal(size=(n, 4))
    p = fit_calibrator(method, logits, rng.integers(0, 3, n)).predict(rng.normal(size=(7, 4)))
    assert p.shape == (7, 4)
    assert is_distribution(p)


@each
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.floats(-30, 30), st.integers(0, 1)), min_size=1, max_size=30),
    st.floats(0.1, 5.0),
)
def test_any_rows_give_probabilities_that_rise_where_promised(method, rows, weight) -> None:
    z, y = (np.array(column) for column in zip(*rows, strict=True))
    fitted = fit_calibrator(method, z, y, np.full(len(y), weight))
    p = fitted.predict(np.linspace(-40, 40, 30))
    assert is_distribution(p)
    if method in RISING:
        assert (np.diff(p[:, 1]) >= -1e-12).all()


@each
def test_integer_weights_repeat_rows(method) -> None:
    z, y = breast_cancer()
    times = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = fit_calibrator(method, z, y, times.astype(float)).predict(z)
    repeated = fit_calibrator(method, z[rows], y[rows]).predict(z)
    np.testing.assert_allclose(weighted, repeated, atol=2e-3 if method == "network" else 1e-5)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "network"])
def test_swapping_the_classes_swaps_the_probabilities(method) -> None:
    z, y = breast_cancer()
    turned = fit_calibrator(method, -z, 1 - y).predict(-z)[:, ::-1]
    np.testing.assert_allclose(turned, fit_calibrator(method, z, y).predict(z), atol=1e-6)


@each
def test_probabilities_that_are_right_already_are_hardly_changed(method) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(scale=2.0, size=8_000)
    p = probabilities_of(z)
    y = (rng.uniform(size=8_000) < p[:, 1]).astype(int)
    assert np.abs(fit_calibrator(method, z, y).predict(z) - p).mean() < 0.02


@pytest.mark.parametrize("method", [m for m in METHODS if m != "isotonic"])
def test_too_sure_predictions_get_better_on_rows_that_did_not_fit(method) -> None:
    z, y = breast_cancer()
    fitted = fit_calibrator(method, 3 * z[::2], y[::2])
    before = log_loss(probabilities_of(3 * z[1::2]), y[1::2])
    assert log_loss(fitted.predict(3 * z[1::2]), y[1::2]) < 0.7 * before


@pytest.mark.parametrize("method", FOR_TWO)
def test_methods_for_two_classes_take_each_class_against_the_rest(method) -> None:
    logits, y = digits()
    fitted = fit_calibrator(method, logits[::2], y[::2])
    assert len(fitted.maps) == 10
    assert is_distribution(fitted.predict(logits[1::2]))


def test_a_row_that_every_class_disowns_is_shared_alike() -> None:
    class Never:
        def predict(self, logits):
            return np.column_stack([np.ones(len(logits)), np.zeros(len(logits))])

    from foldwise.combine.calibration import OneAgainstRest

    shared = OneAgainstRest((Never(), Never(), Never())).predict(np.zeros((1, 3)))
    np.testing.assert_allclose(shared, 1 / 3)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        fit_calibrator("plat", np.zeros(2), np.array([0, 1]))
    assert str(caught.value) == (
        "fit_calibrator: method must be one of 'temperature', 'vector', 'matrix', 'network', "
        "'platt', 'beta', 'quadratic', 'isotonic', 'venn_abers'; got 'plat'. "
        "Did you mean 'platt'?"
    )
