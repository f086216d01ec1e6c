"""Stackers of our own: weighted means of the learners, and ridge regression on them."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from foldwise.combine import best_weights, mean_weights, nnls_weights, ridge_coefficients
from foldwise.learners.prepare import aligned
from foldwise.stack.features import Features
from foldwise.stack.metric import Target
from foldwise.stack.response import Response

FloatArray = NDArray[np.float64]


class WeightedMean(BaseEstimator):
    """A mean of the learners' predictions with learned weights.

    Parameters
    ----------
    rule : {"mean", "best", "nnls"}
        Where the weights come from.
    metric : Metric or None
        What "best" means.
    labels : ndarray or None
        The classes; None for regression.

    Attributes
    ----------
    weights_ : ndarray of shape (n_learners,) or (n_targets, n_learners)
        The weights. For classes they sum to one.
    """

    def __init__(self, rule: str = "mean", metric: Any = None, labels: Any = None) -> None:
        self.rule = rule
        self.metric = metric
        self.labels = labels

    def fit(
        self, members: FloatArray, y: NDArray[Any], sample_weight: FloatArray | None = None
    ) -> Self:
        """Find the weights.

        Parameters
        ----------
        members : ndarray of shape (n_samples, n_learners, width)
            Predictions; probabilities for classes.
        y : ndarray
            Targets or class codes.
        sample_weight : ndarray or None
            Weights of the rows.

        Returns
        -------
        Self
            The fitted stacker.
        """
        if self.rule == "mean":
            self.weights_ = mean_weights(members.shape[1])
        elif self.rule == "best":
            self.weights_ = best_weights(self._scores(members, y, sample_weight))
        else:
            self.weights_ = self._non_negative(members, y, sample_weight)
        return self

    def _scores(
        self, members: FloatArray, y: NDArray[Any], sample_weight: FloatArray | None
    ) -> FloatArray:
        target = Target(y, self.labels, sample_weight, np.zeros(len(y), dtype=np.intp))
        responses = [self._response(members[:, m]) for m in range(members.shape[1])]
        return np.array([self.metric.score(r, target) for r in responses])

    def _non_negative(
        self, members: FloatArray, y: NDArray[Any], sample_weight: FloatArray | None
    ) -> FloatArray:
        n, n_learners, width = members.shape
        if self.labels is None:
            targets = y.reshape(n, width)
            each = [
                nnls_weights(members[:, :, t], targets[:, t], sample_weight) for t in range(width)
            ]
            return each[0] if width == 1 else np.array(each)
        targets = y.reshape(n, 1) if width == 1 else np.eye(width)[y]
        repeated = None if sample_weight is None else np.repeat(sample_weight, width)
        flat = members.transpose(0, 2, 1).reshape(n * width, n_learners)
        weights = nnls_weights(flat, targets.ravel().astype(np.float64), repeated)
        total = weights.sum()
        return weights / total if total > 0 else mean_weights(n_learners)

    def respond(self, members: FloatArray) -> Response:
        """Return the weighted mean as a response.

        Parameters
        ----------
        members : ndarray of shape (n_samples, n_learners, width)
            Predictions.

        Returns
        -------
        Response
            Probabilities of all classes, or values.
        """
        if self.weights_.ndim == 2:
            return self._response(np.einsum("nmt,tm->nt", members, self.weights_))
        return self._response(np.einsum("nmt,m->nt", members, self.weights_))

    def _response(self, values: FloatArray) -> Response:
        if self.labels is None:
            return Response("value", values)
        if len(self.labels) == 2:
            values = np.column_stack([1.0 - values[:, 0], values[:, 0]])
        return Response("probability", values)


class OneClass(BaseEstimator):
    """What any stacker has learned from rows of one class only.

    Parameters
    ----------
    code : int
        The class.
    kind : {"probability", "decision", "label"}
        What the stacker would have answered.
    """

    def __init__(self, code: int, kind: str) -> None:
        self.code = code
        self.kind = kind

    def respond(self, features: Features) -> Response:
        """Return the class for every row; the others keep a small probability."""
        n, n_classes = len(features.outputs[0]), features.n_classes or 2
        if self.kind == "label":
            return Response("label", np.full((n, 1), float(self.code)))
        if self.kind == "decision":
            values = np.full((n, n_classes), -1.0)
            values[:, self.code] = 1.0
            return Response("decision", values[:, 1:] if n_classes == 2 else values)
        seen, sure = np.array([self.code]), np.ones((n, 1))
        spread = aligned(sure, seen, n_classes, int(features.amount), "predict_proba")
        return Response("probability", spread)


class RidgeStacker(BaseEstimator):
    """Ridge regression on the learners' predictions, columns scaled to unit variance.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_targets)
        In the scale of the predictions.
    intercept_ : ndarray of shape (n_targets,)
        Not penalised.
    """

    coef_: FloatArray
    intercept_: FloatArray

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

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
        (fitted,) = self.fit_path(X, y, [self.alpha], sample_weight)
        self.coef_, self.intercept_ = fitted.coef_, fitted.intercept_
        return self

    @classmethod
    def fit_path(
        cls, X: Any, y: NDArray[Any], alphas: Any, sample_weight: FloatArray | None = None
    ) -> list["RidgeStacker"]:
        """Return a fitted stacker for each penalty, at the price of one."""
        targets = y.reshape(len(y), -1).astype(np.float64)
        path = ridge_coefficients(
            _dense(X), targets, np.asarray(alphas, dtype=np.float64), sample_weight
        )
        fitted = []
        for alpha, coefficients, intercept in zip(alphas, *path, strict=True):
            stacker = cls(alpha)
            stacker.coef_, stacker.intercept_ = coefficients, intercept
            fitted.append(stacker)
        return fitted

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


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
