"""Smooth learners: kernels, neighbours, nets."""

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from foldwise.auto.portfolio.member import Settings


def scaled(regressor: Any) -> Any:
    """Return a regressor that sees a standardised target."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


def support_vectors(settings: Settings) -> Any:
    """Return a support vector machine; for classes with probabilities by Platt's map."""
    if settings.facts.regression:
        return scaled(SVR(C=5.0, epsilon=0.05))
    return CalibratedClassifierCV(SVC(C=10.0), cv=3, ensemble=False)


def gaussian_process(settings: Settings) -> Any:
    """Return a Gaussian process whose length scale and noise have the largest likelihood."""
    kernel = 1.0 * Matern(3.0, nu=1.5) + WhiteKernel(0.1)
    return scaled(GaussianProcessRegressor(kernel))


def neighbours(settings: Settings) -> Any:
    """Return the mean of near rows, nearer ones with more weight."""
    kind = KNeighborsRegressor if settings.facts.regression else KNeighborsClassifier
    # A node holds at least a third of the rows.
    return kind(min(15, max(settings.facts.n_rows // 8, 1)), weights="distance")


def net(settings: Settings) -> Any:
    """Return a net of two hidden layers, stopped early."""
    common: dict[str, Any] = {
        "hidden_layer_sizes": (128, 64),
        "learning_rate_init": 2e-3,
        "alpha": 1e-3,
        "batch_size": min(64 if settings.facts.n_rows < 3000 else 128, settings.facts.n_rows // 4),
        "max_iter": settings.trees(150),
        "early_stopping": True,
        "n_iter_no_change": 15,
    }
    if settings.facts.regression:
        return scaled(MLPRegressor(**common))
    return MLPClassifier(**common)
