"""Kernel features."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from foldwise.auto.kernels import KernelFeatures


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
