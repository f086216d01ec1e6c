import re

import numpy as np
import pytest

from foldwise.paths import penalised_path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"lambdas": [1.0, 0.0]},
            "penalised_path: lambdas must be numbers above zero; got array([1., 0.]). "
            "Leave them out to have a grid made.",
        ),
        (
            {"n_lambdas": 0},
            "penalised_path: n_lambdas and lambda_min_ratio must be at least 1, and above 0 and "
            "at most 1; got (0, 0.001). Try 100 and 0.001.",
        ),
    ],
)
def test_bad_grids_are_named(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        penalised_path(np.eye(3), np.arange(3.0), **options)


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial", "poisson", "huber"])
def test_the_grid_begins_where_all_coefficients_are_zero_and_not_above(make_problem, loss):
    D, y, w = make_problem(loss)
    options = {"loss": loss, "sample_weight": w, "tol": 1e-10}
    path = penalised_path(D, y, n_lambdas=3, **options)
    assert not path.coefs[0].any()
    below = penalised_path(D, y, lambdas=[0.99 * path.lambdas[0]], **options)
    assert below.coefs[0].any()


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_the_path_ends_before_it_uses_too_many_columns(make_problem, loss):
    D, y, _ = make_problem(loss)
    path = penalised_path(D, y, loss=loss, max_nonzero=4)
    used = (path.coefs.reshape(len(path.lambdas), -1, 25) != 0).any(axis=1).sum(axis=1)
    assert used.max() <= 4
    assert len(path.lambdas) < 100


def test_squared_error_is_the_same_from_moments_and_from_rows(make_problem, monkeypatch):
    D, y, w = make_problem("squared")
    options = {"sample_weight": w, "offset": np.sin(np.arange(len(y))), "tol": 1e-13}
    moments = penalised_path(D, y, n_lambdas=20, **options)
    monkeypatch.setattr("foldwise.paths.rows.Rows.from_moments", lambda _: False)
    rows = penalised_path(D, y, n_lambdas=20, **options)
    np.testing.assert_allclose(rows.lambdas, moments.lambdas, rtol=1e-9)
    np.testing.assert_allclose(rows.coefs, moments.coefs, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "poisson", "huber"])
def test_a_constant_target_gives_an_empty_path_quickly(loss):
    y = np.ones(30, dtype=int) if loss == "multinomial" else np.ones(30)
    D = np.random.default_rng(0).normal(size=(30, 3))
    path = penalised_path(D, y, loss=loss, lambdas=[1.0, 0.1])
    assert np.abs(path.coefs).max() < 1e-6
