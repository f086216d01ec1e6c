import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from foldwise.auto.portfolio.features import ArithmeticColumns, KernelFeatures, SplineColumns


def test_inner_products_approximate_the_kernel() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    features = KernelFeatures(width=2.0, n_components=100, random_state=0).fit_transform(X)
    kernel = rbf_kernel(X, gamma=1 / (2.0 * X.shape[1] * X.var()))
    assert np.abs(features @ features.T - kernel).mean() < 1e-4


def test_no_more_than_half_of_the_rows_are_compared_with() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert KernelFeatures(n_components=300, random_state=0).fit_transform(X).shape == (20, 10)


def test_a_constant_table_has_finite_features() -> None:
    assert np.isfinite(KernelFeatures(random_state=0).fit_transform(np.ones((10, 2)))).all()


def test_a_linear_model_on_splines_follows_a_curve() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(300, 1))
    y = np.sin(2 * x[:, 0])
    straight = LinearRegression().fit(x, y).score(x, y)
    bent = make_pipeline(SplineColumns(), LinearRegression()).fit(x, y).score(x, y)
    assert straight < 0.5
    assert bent > 0.99


def test_columns_of_few_values_are_left_as_they_are() -> None:
    X = np.tile([[0.0, 1.0], [1.0, 2.0]], (20, 1))
    np.testing.assert_array_equal(SplineColumns().fit_transform(X), X)


def test_the_columns_themselves_stay_in_front() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_array_equal(SplineColumns().fit_transform(X)[:, :3], X)


def test_far_outside_the_knots_splines_stay_as_they_end() -> None:
    X = np.random.default_rng(0).normal(size=(50, 1))
    splines = SplineColumns().fit(X)
    far = splines.transform(np.array([[X.max()], [20.0], [30.0]]))[:, 1:]
    np.testing.assert_allclose(far, np.tile(far[0], (3, 1)), atol=1e-12)


def test_new_columns_are_sums_differences_products_and_ratios_of_two_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 1] = np.arange(50) % 2
    X[0, 2] = 0.0
    new = ArithmeticColumns().fit_transform(X)
    a, b = X[:, 0], X[:, 2]
    with np.errstate(divide="ignore"):
        wanted = {tuple(v) for v in (a + b, a - b, a * b, np.where(b == 0, np.nan, a / b)[1:])}
    np.testing.assert_array_equal(new[:, :3], X)
    assert {tuple(v[1:] if np.isnan(v[0]) else v) for v in new[:, 3:].T} == wanted


def test_which_columns_are_new_depends_on_the_seed_alone_and_a_frame_keeps_its_categories() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))
    X["word"] = pd.Categorical(["a", "b"] * 15)
    first = ArithmeticColumns(5).fit(X)
    np.testing.assert_array_equal(first.terms_, ArithmeticColumns(5).fit(X[::-1]).terms_)
    assert not np.array_equal(first.terms_, ArithmeticColumns(5, 1).fit(X).terms_)
    new = first.transform(X)
    assert new.shape == (30, 10)
    assert isinstance(new["word"].dtype, pd.CategoricalDtype)
