import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable
from foldwise.diagnose.losses import LOG, SQUARED, loss_and_values
from foldwise.errors import InvalidParameterError, UnsupportedError


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(2, 4))
def test_the_centres_loss_is_the_mean_loss_less_the_mean_distance(seed, n_models, width) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_models))
    target = np.eye(width)[rng.integers(width)]
    for kind, values in (
        (SQUARED, rng.normal(size=(n_models, width))),
        (LOG, rng.dirichlet(np.ones(width), size=n_models).clip(1e-9)),
    ):
        values = values / values.sum(axis=1, keepdims=True) if kind is LOG else values
        centre = kind.centre(values, weights, 0)
        gain = weights @ kind.distance(centre, values)
        assert_allclose(
            kind.loss(target, centre), weights @ kind.loss(target, values) - gain, atol=1e-11
        )
        assert gain >= -1e-12


def test_the_centre_has_the_least_mean_distance() -> None:
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), size=4)
    best = LOG.distance(LOG.centre(values, np.ones(4), 0), values).mean()
    for other in rng.dirichlet(np.ones(3), size=200):
        assert LOG.distance(other, values).mean() >= best


def test_auto_is_log_for_classes_and_probabilities_keep_off_zero() -> None:
    table = OutOfFoldTable.from_arrays([[[1.0, 0.0]]], [1], classes=[0, 1])
    kind, values, _ = loss_and_values(table, "auto", "x")
    assert kind is LOG
    assert_allclose(values[0, 0, 0], [0.8, 0.2])


def test_several_targets_give_the_mean_over_them() -> None:
    table = OutOfFoldTable.from_arrays([[[1.0, 3.0]]], [[0.0, 0.0]])
    kind, values, target = loss_and_values(table, "auto", "x")
    assert_allclose(kind.loss(target, values[0, :, 0]), [5.0])


def test_log_of_numbers_and_unknown_losses_are_refused() -> None:
    table = OutOfFoldTable.from_arrays([[1.0]], [1.0])
    with pytest.raises(UnsupportedError) as error:
        loss_and_values(table, "log", "ambiguity")
    assert str(error.value) == (
        "ambiguity(loss='log'): source must predict classes; got numbers. Use loss='squared'."
    )
    with pytest.raises(InvalidParameterError) as error:
        loss_and_values(table, "logg", "ambiguity")
    assert str(error.value) == (
        "ambiguity: loss must be 'auto', 'squared' or 'log'; got 'logg'. Did you mean 'log'?"
    )
