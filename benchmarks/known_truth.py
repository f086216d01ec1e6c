"""Problems whose truth is known: what scores.py judges scores by.

The true loss of a fitted stack is that on fresh rows with the noise in them taken out: by the
known mean for numbers, by the known probability for classes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor

TINY = 1e-15


def friedman1(X):
    return (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )


def circuit(X):
    """Return the parts of Friedman 2 and 3, on their own scales."""
    scales = np.array([100.0, 520 * np.pi, 1.0, 10.0])
    offsets = np.array([0.0, 40 * np.pi, 0.0, 1.0])
    a, b, c, d = (X[:, :4] * scales + offsets).T
    return a, b * c - 1 / (b * d)


def friedman2(X):
    a, b = circuit(X)
    return np.hypot(a, b) / 125


def friedman3(X):
    a, b = circuit(X)
    return 10 * np.arctan2(b, np.maximum(a, 1e-9))


def sparse_linear(X):
    return 4 * (X[:, :3] - 0.5).sum(axis=1)


def nothing(X):
    return np.zeros(len(X))


@dataclass(frozen=True)
class Problem:
    """Uniform features, a mean (or log-odds) and noise of one kind."""

    name: str
    mean: object
    classify: bool = False
    noise: float = 1.0
    heavy: bool = False

    def rows(self, n, rng):
        """Return features, targets, and what is to be known about the targets."""
        X = rng.random((n, 10))
        centre = self.mean(X)
        if self.classify:
            chance = expit(centre)
            return X, (rng.random(n) < chance).astype(int), chance
        noise = rng.standard_t(3, n) / np.sqrt(3) if self.heavy else rng.normal(size=n)
        return X, centre + self.noise * noise, centre

    def losses(self, predicted, known):
        """Return the expected loss of each row."""
        if self.classify:
            q = np.clip(predicted, TINY, 1 - TINY)
            return -known * np.log(q) - (1 - known) * np.log(1 - q)
        return (predicted - known) ** 2 + self.noise**2

    def luck(self, y, known):
        """Return how far the noise in these rows is from what is expected of it."""
        if not self.classify:
            return np.mean((y - known) ** 2) - self.noise**2
        p = np.clip(known, TINY, 1 - TINY)
        return -np.mean((y - p) * (np.log(p) - np.log(1 - p)))

    def stack(self, **options):
        """Return a stack of cheap learners of several kinds."""
        if self.classify:
            learners = [
                ("lda", LinearDiscriminantAnalysis()),
                ("nb", GaussianNB()),
                ("knn", KNeighborsClassifier(10)),
                ("tree", DecisionTreeClassifier(min_samples_leaf=8, random_state=0)),
            ]
            return StackingClassifier(learners, **options)
        learners = [
            ("ridge", Ridge(0.1)),
            ("knn", KNeighborsRegressor(5)),
            ("tree", DecisionTreeRegressor(min_samples_leaf=3, random_state=0)),
        ]
        return StackingRegressor(learners, scoring="neg_mean_squared_error", **options)


PROBLEMS = [
    Problem("Friedman 1", friedman1),
    Problem("Friedman 2", friedman2),
    Problem("Friedman 3", friedman3),
    Problem("sparse linear", sparse_linear),
    Problem("noise", nothing),
    Problem("heavy tails", sparse_linear, heavy=True),
    Problem("classes, Friedman 1", lambda X: (friedman1(X) - 14) / 2.5, classify=True),
    Problem("classes, linear", sparse_linear, classify=True),
    Problem("classes, noise", nothing, classify=True),
]
