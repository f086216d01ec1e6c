"""The width of a sampling scheme: how far its trees are from the best single tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from foldwise.arrays import Array, FloatArray

NARROW, WIDE = 0.1, 0.9


@dataclass(frozen=True)
class Width:
    """How much worse than the best single tree the trees of a dictionary are, on average."""

    # E[Q(γ) − Q(γ*)] per row, where Q(γ) is the training loss of c0 + c1 · tree(γ) at the best c0
    # and c1, and γ* the best tree of the same size on all rows
    sigma: float
    # sigma in units of Q(constant) − Q(γ*): 0 when all trees are as good as the best one, 1 when
    # they are no better than a constant
    relative: float
    similarity: float  # mean squared correlation between pairs of trees

    @property
    def verdict(self) -> str:
        """What the width means for the dictionary, and what to change."""
        if self.relative < NARROW:
            return "narrow: the trees look alike; lower subsample or raise learning_rate"
        if self.relative > WIDE:
            return (
                "wide: single trees say little; raise subsample or max_leaf_nodes if many are noise"
            )
        return "neither narrow nor wide"

    def __str__(self) -> str:
        return (
            f"width {self.sigma:.4g} a row, {self.relative:.0%} of the way from the best tree "
            f"to a constant, trees correlated {self.similarity**0.5:.2f}: {self.verdict}"
        )


def sampling_width(
    trees: FloatArray, best: FloatArray, y: Array, weight: FloatArray, loss: str
) -> Width:
    """Return the width of a dictionary. Shapes: ``trees`` (n_rows, n_trees)."""
    shares = weight / weight.sum()
    relevance = logistic_relevance if loss == "logistic" else squared_relevance
    q = relevance(np.column_stack([trees, best]), y, shares)
    constant = relevance(np.zeros((len(y), 1)), y, shares)[0]
    lowest = q.min()
    sigma = float(q[:-1].mean() - lowest)
    return Width(sigma, sigma / max(constant - lowest, 1e-300), _similarity(trees, shares))


def squared_relevance(columns: FloatArray, y: FloatArray, shares: FloatArray) -> FloatArray:
    """Return min over c0, c1 of the mean of (y − c0 − c1 · column)² / 2, for each column."""
    Z, r = columns - shares @ columns, y - shares @ y
    variance, covariance = shares @ Z**2, (shares * r) @ Z
    explained = np.divide(covariance**2, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.maximum(shares @ r**2 - explained, 0.0) / 2


def logistic_relevance(columns: FloatArray, y: FloatArray, shares: FloatArray) -> FloatArray:
    """Return min over c0, c1 of the mean log-loss of c0 + c1 · column, for each column.

    Newton steps for all columns at once, each damped to a step of four units of the logit, so
    that columns that separate the classes stop rather than run away.
    """
    Z = columns - shares @ columns
    deviation = np.sqrt(shares @ Z**2)
    Z = np.divide(Z, deviation, out=np.zeros_like(Z), where=deviation > 0)
    c0, c1 = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(c0 + Z * c1, -30, 30)))
        slope = shares[:, None] * (p - y[:, None])
        curve = shares[:, None] * np.maximum(p * (1 - p), 1e-6)
        g0, g1 = slope.sum(axis=0), (slope * Z).sum(axis=0)
        h00, h01, h11 = curve.sum(axis=0), (curve * Z).sum(axis=0), (curve * Z**2).sum(axis=0)
        determinant = np.maximum(h00 * h11 - h01**2, 1e-12)
        c0 -= np.clip((h11 * g0 - h01 * g1) / determinant, -4, 4)
        c1 -= np.clip((h00 * g1 - h01 * g0) / determinant, -4, 4)
    eta = c0 + Z * c1
    return shares @ (np.logaddexp(0, eta) - y[:, None] * eta)


def best_single_tree(
    X: Any, y: FloatArray, weight: FloatArray, n_leaves: int, seed: int
) -> FloatArray:
    """Return what one tree of so many leaves, grown on all rows, says of them."""
    tree = DecisionTreeRegressor(max_leaf_nodes=max(n_leaves, 2), random_state=seed)
    return tree.fit(X, y, sample_weight=weight).predict(X)


def _similarity(trees: FloatArray, shares: FloatArray, most: int = 200) -> float:
    """Return the mean squared correlation over pairs of (at most ``most``) varying trees."""
    Z = trees[:, np.linspace(0, trees.shape[1] - 1, min(most, trees.shape[1])).astype(int)]
    Z = (Z - shares @ Z) * np.sqrt(shares)[:, None]
    size = np.sqrt((Z**2).sum(axis=0))
    Z = Z[:, size > 1e-12] / size[size > 1e-12]
    m = Z.shape[1]
    return float((((Z.T @ Z) ** 2).sum() - m) / (m * (m - 1))) if m > 1 else 1.0
