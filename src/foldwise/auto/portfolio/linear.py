"""Linear models, on columns as they are or spread over splines."""

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression, RidgeCV

from foldwise.auto.portfolio.member import Settings

PENALTIES = tuple(np.logspace(-2, 4, 13).tolist())


def ridge(settings: Settings) -> Any:
    """Return ridge regression with its penalty chosen by leave-one-out."""
    return RidgeCV(PENALTIES)


def logistic(settings: Settings) -> Any:
    """Return logistic regression with scikit-learn's penalty."""
    return LogisticRegression(max_iter=1000)


def cautious_logistic(settings: Settings) -> Any:
    """Return logistic regression with a strong penalty."""
    return LogisticRegression(C=0.1, max_iter=1000)


def discriminant(settings: Settings) -> Any:
    """Return linear discriminant analysis with Ledoit and Wolf's shrinkage."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def quadratic(settings: Settings) -> Any:
    """Return quadratic discriminant analysis, a little regularised."""
    return QuadraticDiscriminantAnalysis(reg_param=0.01)
