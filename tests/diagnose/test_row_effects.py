from importlib import import_module
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from foldwise.diagnose import row_effects
from foldwise.errors import InvalidDataError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=20),
            "b": rng.normal(size=20),
            "c": pd.Categorical(rng.choice(["x", "y"], 20)),
            "d": rng.normal(size=20),
        }
    )


def model(X):
    return (X["a"] * X["b"] + 2.0 * (X["c"] == "x") * X["a"] + 0.5).to_numpy()


def test_effects_add_up_exactly(frame):
    found = row_effects(model, frame.iloc[[3]], frame)
    assert_allclose(found.base + found.effects.sum(), found.prediction, rtol=1e-12)
    assert found.prediction == model(frame.iloc[[3]])[0]


@pytest.mark.parametrize("n_orders", [20, 40])
def test_the_average_is_that_of_every_row_compared_with(frame, n_orders):
    found = row_effects(model, frame.iloc[[3]], frame, n_orders=n_orders)
    assert_allclose(found.base, model(frame).mean(), rtol=1e-12)


def test_a_column_that_is_not_used_adds_nothing(frame):
    assert row_effects(model, frame.iloc[[3]], frame).effects[3] == 0.0


def test_effects_are_shapley_values(frame):
    row, other = frame.iloc[[3]], frame.iloc[[7]]
    exact = np.zeros(4)
    for order in permutations(range(4)):
        mixed = other.copy()
        before = model(mixed)[0]
        for j in order:
            mixed[frame.columns[j]] = row[frame.columns[j]].array
            after = model(mixed)[0]
            exact[j] += (after - before) / 24
            before = after
    found = row_effects(model, row, other, n_orders=2000)
    assert_allclose(found.effects, exact, atol=5 * found.errors.max() + 1e-12)
    assert found.errors.max() < 0.05


def test_a_linear_model_needs_one_order_for_each_row(frame):
    slopes = np.array([1.0, -2.0, 3.0])
    numbers = frame[["a", "b", "d"]]
    found = row_effects(
        lambda X: X.to_numpy() @ slopes, numbers.iloc[[0]], numbers.iloc[[5]], n_orders=1
    )
    assert_allclose(found.effects, slopes * (numbers.iloc[0] - numbers.iloc[5]).to_numpy())
    assert_array_equal(found.errors, 0.0)


def test_predicting_in_parts_changes_nothing(frame, monkeypatch):
    whole = row_effects(model, frame.iloc[[3]], frame)
    monkeypatch.setattr(import_module("foldwise.diagnose.row_effects"), "MOST_ROWS_AT_ONCE", 7)
    parts = row_effects(model, frame.iloc[[3]], frame)
    assert_array_equal(whole.effects, parts.effects)


def test_the_largest_effect_is_shown_first(frame):
    shown = row_effects(model, frame.iloc[[3]], frame).to_frame()["adds"].abs()
    assert shown.is_monotonic_decreasing
    assert "for this row" in str(row_effects(model, frame.iloc[[3]], frame))


def test_what_is_not_one_row_is_refused(frame):
    for row, got in ((3, "got int"), (sparse.csr_array([[1.0]]), "got csr_array of 1")):
        with pytest.raises(InvalidDataError, match=got):
            row_effects(model, row, frame)
    with pytest.raises(InvalidDataError) as error:
        row_effects(model, frame, frame)
    assert str(error.value) == (
        "row_effects: row must be a DataFrame of one row; got DataFrame of 20. Use X.iloc[[0]]."
    )
