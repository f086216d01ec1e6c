"""Linear stackers of our own: ridge and lasso on what the stacker reads, pools of logits."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator

from foldwise.combine import LogitPool, lasso_coefficients, logit_pool, ridge_coefficients
from foldwise.stack.features import Features
from foldwise.stack.own_stackers import MemberStacker
from foldwise.stack.response import Response

FloatArray = NDArray[np.float64]


class PathStacker(BaseEstimator):
    """A linear model whose whole grid of penalties costs little more than one.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_targets)
        In the scale of the predictions.
    intercept_ : ndarray of shape (n_targets,)
        Not penalised.
    """

    coef_: FloatArray
    intercept_: FloatArray

    def fit(self, X: Any, y: NDArray[Any], sample_weight: FloatArray | None = None) -> Self:
        """Fit one penalty.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_columns)
            Predictions, and what is passed through.
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : ndarray or None
            Weights of the rows.

        Returns
        -------
        Self
            The fitted stacker.
        """
        self.fit_points(X, y, sample_weight, [self])
        return self

    def fit_points(
        self,
        X: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        points: Sequence["PathStacker"],
    ) -> list[Any]:
        """Return stackers that differ in their penalties, fitted on the same rows."""
        raise NotImplementedError

    def predict(self, X: Any) -> FloatArray:
        """Return predictions.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_columns)
            As in fit.

        Returns
        -------
        ndarray of shape (n_samples, n_targets)
            Predictions.
        """
        return _dense(X) @ self.coef_ + self.intercept_


class RidgeStacker(PathStacker):
    """Ridge regression on the learners' predictions, columns scaled to unit variance.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; 0 for least squares.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit_points(
        self,
        X: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        points: Sequence[Any],
    ) -> list[Any]:
        """Return stackers that differ in their penalties, from one eigendecomposition."""
        targets = y.reshape(len(y), -1).astype(np.float64)
        alphas = np.array([point.alpha for point in points], dtype=np.float64)
        path = ridge_coefficients(_dense(X), targets, alphas, sample_weight)
        for point, coefficients, intercept in zip(points, *path, strict=True):
            point.coef_, point.intercept_ = coefficients, intercept
        return list(points)


class LassoStacker(PathStacker):
    """Lasso regression on the learners' predictions, columns scaled to unit variance.

    Parameters
    ----------
    ratio : float, default=0.01
        The penalty, in units of the smallest that leaves no learner in.
    """

    def __init__(self, ratio: float = 0.01) -> None:
        self.ratio = ratio

    def fit_points(
        self,
        X: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        points: Sequence[Any],
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

    Parameters
    ----------
    ratio : float, default=0.01
        The penalty, in units of the smallest that leaves no learner in.

    Attributes
    ----------
    classes_ : ndarray of int
        Codes of the classes seen.
    """

    classes_: NDArray[np.intp]

    def fit_points(
        self,
        X: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        points: Sequence[Any],
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

    def predict(self, X: Any) -> NDArray[Any]:
        """Return codes of the most probable classes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class PoolStacker(MemberStacker):
    """A weighted sum of the learners' logits: one weight a learner, or one a class and learner.

    Parameters
    ----------
    metric : Metric or None
        Not looked at.
    labels : ndarray
        The classes.
    C : float, default=1.0
        Freedom; little of it leaves the geometric mean.
    shared : bool, default=True
        Whether the classes share the weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_learners,) or (n_classes, n_learners)
        The weights.
    """

    def __init__(
        self, metric: Any = None, labels: Any = None, C: float = 1.0, shared: bool = True
    ) -> None:
        self.metric = metric
        self.labels = labels
        self.C = C
        self.shared = shared

    def read(self, features: Features) -> FloatArray:
        """Return the logits of all learners, of shape (n_samples, n_learners, width)."""
        return features.logits

    def fit(
        self, members: FloatArray, y: NDArray[Any], sample_weight: FloatArray | None = None
    ) -> Self:
        """Find the weights.

        Parameters
        ----------
        members : ndarray of shape (n_samples, n_learners, width)
            Logits.
        y : ndarray of shape (n_samples,)
            Class codes.
        sample_weight : ndarray or None
            Weights of the rows.

        Returns
        -------
        Self
            The fitted stacker.
        """
        return self._fit(members, y, sample_weight, None)

    def fit_points(
        self,
        members: FloatArray,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        points: Sequence[Any],
    ) -> list[Any]:
        """Return stackers that differ in their freedom, each started where the last one ended."""
        before: PoolStacker | None = None
        for point in points:
            alike = before is not None and before.shared == point.shared
            point._fit(members, y, sample_weight, before.pool_ if before and alike else None)
            before = point
        return list(points)

    def _fit(
        self,
        members: FloatArray,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        start: LogitPool | None,
    ) -> Self:
        how: dict[str, Any] = {"C": self.C, "shared": self.shared, "start": start}
        self.pool_ = logit_pool(members, y, sample_weight, **how)
        self.weights_ = self.pool_.weights
        return self

    def as_logistic(self) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and intercepts as of a logistic regression on all logits.

        Returns
        -------
        coefficients : ndarray of shape (1, n_learners) or (n_classes, n_learners * n_classes)
            The columns of a learner, one a class, stand side by side.
        intercepts : ndarray of shape (1,) or (n_classes,)
            The intercepts.
        """
        intercepts = self.pool_.intercepts
        by_class = np.broadcast_to(self.weights_, (len(intercepts), self.weights_.shape[-1]))
        if len(intercepts) == 2:
            return by_class.mean(axis=0)[None], intercepts[1:] - intercepts[:1]
        wide = by_class[:, :, None] * np.eye(len(intercepts))[:, None, :]
        return wide.reshape(len(intercepts), -1), intercepts

    def respond(self, members: FloatArray) -> Response:
        """Return the pool's probabilities.

        Parameters
        ----------
        members : ndarray of shape (n_samples, n_learners, width)
            Logits.

        Returns
        -------
        Response
            Probabilities of all classes.
        """
        return Response("probability", self.pool_.predict(members))


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
