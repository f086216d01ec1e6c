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


def ridge(_settings: Settings) -> Any:
    """Return ridge regression with its penalty chosen by leave-one-out."""
    return RidgeCV(PENALTIES)


def logistic(_settings: Settings) -> Any:
    """Return logistic regression with scikit-learn's penalty."""
    return LogisticRegression(max_iter=1000)


def cautious_logistic(_settings: Settings) -> Any:
    """Return logistic regression with a strong penalty."""
    return LogisticRegression(C=0.1, max_iter=1000)


def discriminant(_settings: Settings) -> Any:
    """Return linear discriminant analysis with Ledoit and Wolf's shrinkage."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def quadratic(_settings: Settings) -> Any:
    """Return quadratic discriminant analysis, a little regularised."""
    return QuadraticDiscriminantAnalysis(reg_param=0.01)
