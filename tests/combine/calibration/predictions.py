"""Out-of-fold predictions the calibration tests share."""

from functools import cache

import numpy as np
from scipy.special import logit
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier


@cache
def breast_cancer():
    """Return out-of-fold log-odds of naive Bayes on six columns, and the classes."""
    X, y = load_breast_cancer(return_X_y=True)
    p = cross_val_predict(GaussianNB(), X[:, :6], y, cv=5, method="predict_proba")[:, 1]
    return logit(np.clip(p, 1e-6, 1 - 1e-6)), y


@cache
def digits():
    """Return out-of-fold centred log-probabilities of a tree, and the ten classes."""
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(min_samples_leaf=8, random_state=0)
    p = cross_val_predict(tree, X, y, cv=5, method="predict_proba")
    logs = np.log(np.clip(p, 1e-3, None))
    return logs - logs.mean(axis=1, keepdims=True), y


def log_loss(probabilities, y, weight=None):
    losses = -np.log(probabilities[np.arange(len(y)), y])
    return float(np.average(losses, weights=weight))
