"""Learners that take their time, are large, or kill; workers of a cluster import them from here."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor


class SlowTree(RegressorMixin, BaseEstimator):
    """A small tree that takes a given time to fit, with a given number of bytes in it."""

    def __init__(self, max_depth: int = 3, seconds: float = 0.0, size: int = 0) -> None:
        self.max_depth = max_depth
        self.seconds = seconds
        self.size = size

    def fit(self, X, y):
        time.sleep(self.seconds)
        self.tree_ = DecisionTreeRegressor(max_depth=self.max_depth, random_state=0).fit(X, y)
        self.ballast_ = np.zeros(self.size, dtype=np.uint8)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class Killer(RegressorMixin, BaseEstimator):
    """Ends the process it is fitted in, as a crash in compiled code or a lack of memory would."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)

    def predict(self, X):
        raise AssertionError("it was never fitted")
