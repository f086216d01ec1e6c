"""Smooth learners: kernels, neighbours, nets."""

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from foldwise.auto.kernels import KernelFeatures
from foldwise.auto.portfolio.member import Settings


def scaled(regressor: Any) -> Any:
    """Return a regressor that sees a standardised target."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


def soft_kernel(settings: Settings) -> Any:
    """Return a kernel machine of the usual width, well regularised."""
    if settings.facts.regression:
        last: Any = RidgeCV(tuple(np.logspace(-4, 1, 11).tolist()))
    else:
        last = LogisticRegression(C=10.0, max_iter=1000)
    return Pipeline([("kernel", KernelFeatures(1.0)), ("linear", last)])


def wide_kernel(_settings: Settings) -> Any:
    """Return a classifier with a wide kernel and little regularisation, for clean classes."""
    last = LogisticRegression(C=100.0, max_iter=1000)
    return Pipeline([("kernel", KernelFeatures(3.0)), ("linear", last)])


def support_vectors(_settings: Settings) -> Any:
    """Return support vector regression."""
    return scaled(SVR(C=5.0, epsilon=0.05))


def gaussian_process(_settings: Settings) -> Any:
    """Return a Gaussian process whose length scale and noise have the largest likelihood."""
    kernel = 1.0 * Matern(3.0, nu=1.5) + WhiteKernel(0.1)
    return scaled(GaussianProcessRegressor(kernel))


def neighbours(settings: Settings) -> Any:
    """Return the mean of near rows, nearer ones with more weight."""
    kind = KNeighborsRegressor if settings.facts.regression else KNeighborsClassifier
    # A node holds at least a third of the rows.
    return kind(min(15, max(settings.facts.n_rows // 8, 1)), weights="distance")


def net(settings: Settings) -> Any:
    """Return a net of two hidden layers that stops early."""
    return _net(
        settings,
        hidden_layer_sizes=(128, 64),
        learning_rate_init=2e-3,
        alpha=1e-3,
        max_iter=settings.trees(150),
        early_stopping=True,
        n_iter_no_change=15,
    )


def wide_net(settings: Settings) -> Any:
    """Return a net of one hidden layer trained to the end, for clean targets."""
    return _net(
        settings,
        hidden_layer_sizes=(128,),
        learning_rate_init=3e-3,
        alpha=0.03,
        max_iter=settings.trees(40),
        # It is meant to end there: the steps left would overfit.
        n_iter_no_change=settings.trees(40),
    )


def _net(settings: Settings, **parameters: Any) -> Any:
    n_rows = settings.facts.n_rows
    batch = int(np.clip(n_rows // 50, 16, 128))
    if settings.facts.regression:
        return scaled(MLPRegressor(batch_size=batch, **parameters))
    return MLPClassifier(batch_size=batch, **parameters)
