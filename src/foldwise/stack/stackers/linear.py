"""Linear stackers of our own: ridge and lasso on what the stacker reads, pools of logits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.combine import lasso_coefficients, logit_pool, ridge_coefficients
from foldwise.scores.metric import Response
from foldwise.stack.stackers.means import MemberStacker, Stacker, Weights
from foldwise.stack.table.read import Features


class PathStacker(Stacker):
    """A linear model whose whole grid of penalties costs little more than one."""

    coef_: FloatArray  # (n_columns, n_targets): in the scale of the predictions
    intercept_: FloatArray  # not penalised

    def predict(self, X: Any) -> FloatArray:
        """Return predictions.

        Shapes: ``X`` (n_samples, n_columns), returns (n_samples, n_targets).
        """
        return _dense(X) @ self.coef_ + self.intercept_


@dataclass(eq=False, repr=False)
class RidgeStacker(PathStacker):
    """Ridge regression on the learners' predictions, columns scaled to unit variance."""

    alpha: float = 1.0

    def fit_points(
        self, X: Any, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return stackers that differ in their penalties, from one eigendecomposition."""
        targets = y.reshape(len(y), -1).astype(np.float64)
        alphas = np.array([point.alpha for point in points], dtype=np.float64)
        path = ridge_coefficients(_dense(X), targets, alphas, sample_weight)
        for point, coefficients, intercept in zip(points, *path, strict=True):
            point.coef_, point.intercept_ = coefficients, intercept
        return list(points)


@dataclass(eq=False, repr=False)
class LassoStacker(PathStacker):
    """Lasso regression on the learners' predictions, columns scaled to unit variance.

    ``ratio``: The penalty, in units of the smallest that leaves no learner in.
    """

    ratio: float = 0.01

    def fit_points(
        self, X: Any, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return stackers that differ in their penalties, from one path."""
        targets = y.reshape(len(y), -1).astype(np.float64)
        ratios = np.array([point.ratio for point in points], dtype=np.float64)
        each = [
            lasso_coefficients(_dense(X), targets[:, t], ratios, sample_weight)
            for t in range(targets.shape[1])
        ]
        for index, point in enumerate(points):
            point.coef_ = np.column_stack([coefficients[index] for coefficients, _ in each])
            point.intercept_ = np.array([intercepts[index] for _, intercepts in each])
        return list(points)


class LassoClassStacker(LassoStacker):
    """Lasso logistic regression, of two classes or several, on the learners' logits.

    ``ratio``: The penalty, in units of the smallest that leaves no learner in.
    """

    classes_: IntArray  # codes of the classes seen

    def fit_points(
        self, X: Any, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return stackers that differ in their penalties, from one path."""
        classes, codes = np.unique(y, return_inverse=True)
        ratios = np.array([point.ratio for point in points], dtype=np.float64)
        loss = "logistic" if len(classes) == 2 else "multinomial"
        path = lasso_coefficients(_dense(X), codes, ratios, sample_weight, loss=loss)
        for point, coefficients, intercepts in zip(points, *path, strict=True):
            point.classes_ = classes
            point.coef_ = np.atleast_2d(coefficients).T
            point.intercept_ = np.atleast_1d(intercepts)
        return list(points)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes seen."""
        scores = _dense(X) @ self.coef_ + self.intercept_
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        return np.asarray(softmax(scores, axis=1))

    def predict(self, X: Any) -> Array:
        """Return codes of the most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@dataclass(eq=False, repr=False)
class PoolStacker(MemberStacker):
    """A weighted sum of the learners' logits: one weight a learner, or one a class and learner.

    ``weights_``: The weights. Shape (n_learners,) or (n_classes, n_learners).
    """

    metric: Any = None
    labels: Any = None
    C: float = 1.0
    shared: bool = True

    def read(self, features: Features) -> FloatArray:
        """Return the logits of all learners, of shape (n_samples, n_learners, width)."""
        return features.logits

    def fit_points(
        self, X: FloatArray, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return stackers that differ in their freedom, each started where the last one ended."""
        before: PoolStacker | None = None
        for point in points:
            start = before.pool_ if before and before.shared == point.shared else None
            how = {"C": point.C, "shared": point.shared, "start": start}
            point.pool_ = logit_pool(X, y, sample_weight, **how)
            point.weights_ = point.pool_.weights
            before = point
        return list(points)

    def as_logistic(self) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and intercepts as of a logistic regression on all logits.

        Shapes: returns (1, n_learners) or (n_classes, n_learners * n_classes).
        """
        intercepts = self.pool_.intercepts
        by_class = np.broadcast_to(self.weights_, (len(intercepts), self.weights_.shape[-1]))
        if len(intercepts) == 2:
            return by_class.mean(axis=0)[None], intercepts[1:] - intercepts[:1]
        wide = by_class[:, :, None] * np.eye(len(intercepts))[:, None, :]
        return wide.reshape(len(intercepts), -1), intercepts

    def respond(self, members: FloatArray) -> Response:
        """Return the pool's probabilities."""
        return Response("probability", self.pool_.predict(members))


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
