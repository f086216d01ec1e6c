import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths import elastic_net_path, lasso_path, penalised_path, ridge_path
from foldwise.paths.rows import checked_rows

LOSSES = ["squared", "logistic", "multinomial", "poisson", "huber"]

# R 4.2, glmnet 4.1.6: standardize=FALSE, thresh=1e-20; intercept first, one row per coefficient,
# one column per lambda.
GLMNET = {
    ("squared", False): [
        [-0.028166028, -0.031311093, -0.039387812],
        [1.662950089, 1.888309932, 1.949151554],
        [0.0, 0.0, -0.034086531],
        [-0.632354861, -0.881811866, -0.948887694],
        [0.0, 0.0, 0.005557386],
        [0.0, 0.198434783, 0.273778752],
        [0.0, 0.0, 0.061889428],
    ],
    ("squared", True): [
        [-0.029156479, -0.034155207, -0.041283928],
        [1.765853017, 2.033646549, 2.106624920],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.013095216],
        [0.0, 0.130892555, 0.203707587],
        [0.0, 0.0, 0.071714758],
    ],
    ("logistic", False): [
        [-0.015901185, -0.030508428, -0.012851341],
        [0.540119992, 2.229994289, 5.334961179],
        [0.0, 0.0, 0.0],
        [0.0, -0.275298143, -1.687395442],
        [0.0, 0.0, 0.209675123],
        [0.0, 1.080260273, 3.350881600],
        [0.0, 0.0, 0.0],
    ],
    ("poisson", False): [
        [0.833757082, 0.782807481, 0.764482087],
        [0.387375485, 0.467033150, 0.488645119],
        [-0.076780295, -0.150493455, -0.166493164],
        [-0.105080519, -0.180860644, -0.198838171],
        [0.0, -0.049391422, -0.070458809],
        [0.0, 0.0, -0.001981358],
        [0.0, 0.040533264, 0.068821023],
    ],
}
# The second and third class of the multinomial fit at the last lambda.
GLMNET_CLASSES = [
    [0.498476074, 0.0, 1.745869194, 0.0, 0.225186967, 0.0, 0.467760527],
    [-0.102262092, 2.695998381, 0.0, -0.281569276, -0.290118228, 0.435878311, 0.0],
]


def fixed_example():
    i, j = np.mgrid[1:41, 1:7]
    D = np.sin(i * j + j**2)
    f, e = 2 * D[:, 0] - D[:, 2] + D[:, 4] / 2, np.cos(7 * np.arange(1, 41))
    y = {
        "squared": f + e,
        "logistic": (f + e > 0).astype(float),
        "poisson": np.round(np.exp(f / 2) + e + 1),
        "multinomial": (f + e > -1).astype(int) + (f + e > 1),
    }
    return D, y, 1.0 + np.arange(1, 41) % 3


@pytest.mark.parametrize(("loss", "non_negative"), list(GLMNET))
def test_coefficients_are_those_of_glmnet(loss, non_negative):
    D, y, w = fixed_example()
    path = penalised_path(
        D,
        y[loss],
        loss=loss,
        lambdas=[0.2, 0.05, 0.01],
        sample_weight=w,
        non_negative=non_negative,
        tol=1e-14,
    )
    found = np.vstack([path.intercepts, path.coefs.T])
    assert_allclose(found, GLMNET[loss, non_negative], atol=1e-6)


def test_class_coefficients_are_those_of_glmnet():
    D, y, w = fixed_example()
    path = penalised_path(
        D,
        y["multinomial"],
        loss="multinomial",
        lambdas=[0.2, 0.05, 0.01],
        sample_weight=w,
        tol=1e-13,
    )
    found = np.c_[path.intercepts[-1], path.coefs[-1]]
    assert_allclose(found[1:], GLMNET_CLASSES, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("non_negative", [False, True])
def test_optimality_conditions_hold_along_every_path(
    make_problem, optimality_error, loss, l1_ratio, non_negative
):
    D, y, w = make_problem(loss)
    factor = np.ones(25)
    factor[5:9] = 2.0
    if loss != "multinomial":
        factor[3] = 0.0
    path = penalised_path(
        D,
        y,
        loss=loss,
        sample_weight=w,
        l1_ratio=l1_ratio,
        non_negative=non_negative,
        penalty_factor=factor,
        n_lambdas=15,
        lambda_min_ratio=1e-2,
        tol=1e-13,
    )
    error = optimality_error(path, D, y, loss, w, l1_ratio, factor, non_negative)
    assert error < 1e-5
    if non_negative:
        assert (path.coefs[..., factor > 0] >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_default_precision_is_within_its_promise(make_problem, loss):
    D, y, w = make_problem(loss)
    options = {"loss": loss, "sample_weight": w, "lambda_min_ratio": 0.01, "n_lambdas": 20}
    rough, fine = (penalised_path(D, y, **options, tol=tol) for tol in (1e-4, 1e-12))

    def objectives(path):
        losses = checked_rows(D, y, loss, w, None, None).losses(path.predictor(D))
        size = np.abs(path.coefs).reshape(20, -1).sum(axis=1)
        return losses @ w / w.sum() + path.lambdas * size

    null = objectives(fine)[0]
    assert (objectives(rough) - objectives(fine) <= 2e-4 * abs(null)).all()


@pytest.mark.parametrize("loss", LOSSES)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10_000), l1_ratio=st.sampled_from([1.0, 0.7, 0.0]))
def test_weights_equal_repetition(make_problem, loss, seed, l1_ratio):
    D, y, _ = make_problem(loss, n=40, p=8, seed=seed)
    w = np.random.default_rng(seed).integers(0, 4, 40)
    again = np.repeat(np.arange(40), w)
    options = {"loss": loss, "l1_ratio": l1_ratio, "lambdas": [0.3, 0.1, 0.05], "tol": 1e-12}
    weighted = penalised_path(D, y, sample_weight=w.astype(float), **options)
    repeated = penalised_path(D[again], y[again], **options)
    assert_allclose(weighted.predictor(D), repeated.predictor(D), atol=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_column_changes_nothing(make_problem, loss):
    D, y, w = make_problem(loss)
    wider = np.insert(D, 4, 3.0, axis=1)
    options = {"loss": loss, "sample_weight": w, "n_lambdas": 10, "tol": 1e-12}
    plain, extended = penalised_path(D, y, **options), penalised_path(wider, y, **options)
    assert not extended.coefs[..., 4].any()
    assert_allclose(np.delete(extended.coefs, 4, axis=-1), plain.coefs, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_and_dense_dictionaries_agree(make_problem, loss):
    D, y, w = make_problem(loss)
    options = {"loss": loss, "sample_weight": w, "n_lambdas": 10, "tol": 1e-12}
    dense = penalised_path(D, y, **options)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        assert_allclose(penalised_path(kind(D), y, **options).coefs, dense.coefs, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_an_offset_is_a_column_with_coefficient_one(make_problem, loss):
    D, y, w = make_problem(loss)
    options = {"loss": loss, "sample_weight": w, "tol": 1e-13}
    whole = penalised_path(D, y, lambdas=[1e-9], **options)
    offset = D[:, :5] @ whole.coefs[0, :5]
    rest = penalised_path(D[:, 5:], y, lambdas=[1e-9], offset=offset, **options)
    assert_allclose(rest.coefs[0], whole.coefs[0, 5:], atol=1e-4)


def test_columns_can_be_left_out(make_problem):
    D, y, _ = make_problem("squared")
    factor = np.ones(25)
    factor[[0, 24]] = np.inf
    path = penalised_path(D, y, penalty_factor=factor)
    assert not path.coefs[:, [0, 24]].any()


def test_named_paths_are_penalised_paths(make_problem):
    D, y, _ = make_problem("squared")
    for path, ratio in ((lasso_path, 1.0), (ridge_path, 0.0), (elastic_net_path, 0.5)):
        expected = penalised_path(D, y, l1_ratio=ratio, n_lambdas=5)
        assert_allclose(path(D, y, n_lambdas=5).coefs, expected.coefs)


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
            "penalised_path: n_lambdas must be a whole number of at least 1; got 0. Try 100.",
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
    monkeypatch.setattr("foldwise.paths.rows.PathRows.from_moments", lambda _: False)
    rows = penalised_path(D, y, n_lambdas=20, **options)
    np.testing.assert_allclose(rows.lambdas, moments.lambdas, rtol=1e-9)
    np.testing.assert_allclose(rows.coefs, moments.coefs, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "poisson", "huber"])
def test_a_constant_target_gives_an_empty_path_quickly(loss):
    y = np.ones(30, dtype=int) if loss == "multinomial" else np.ones(30)
    D = np.random.default_rng(0).normal(size=(30, 3))
    path = penalised_path(D, y, loss=loss, lambdas=[1.0, 0.1])
    assert np.abs(path.coefs).max() < 1e-6
