"""Stackers of our own that read the learners' predictions: what they share, and weighted means."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator

from foldwise.arrays import Array, FloatArray
from foldwise.combine import (
    best_weights,
    bic_weights,
    log_score_weights,
    mean_weights,
    nnls_weights,
    pseudo_bma_plus_weights,
    pseudo_bma_weights,
    simplex_weights,
)
from foldwise.combine.shapes import truth_probabilities
from foldwise.errors import invalid_parameter
from foldwise.learners import aligned
from foldwise.scores.metric import Target
from foldwise.scores.response import Response
from foldwise.stack.features import Features

SQUARED = (
    metrics.mean_squared_error,
    metrics.root_mean_squared_error,
    metrics.r2_score,
    metrics.brier_score_loss,
)


class MemberStacker(BaseEstimator):
    """What a stacker that reads the learners' predictions side by side can do."""

    metric: Any
    labels: Any

    def read(self, features: Features) -> FloatArray:
        """Return what fit and respond are given, of shape (n_samples, n_learners, width)."""
        return features.members

    def fit(self, members: FloatArray, y: Array, sample_weight: FloatArray | None = None) -> Self:
        """Learn from out-of-fold predictions."""
        raise NotImplementedError

    def respond(self, members: FloatArray) -> Response:
        """Return the combined prediction."""
        raise NotImplementedError

    def fit_points(
        self,
        members: FloatArray,
        y: Array,
        sample_weight: FloatArray | None,
        points: Sequence["MemberStacker"],
    ) -> list[Any]:
        """Return stackers that differ in their parameters, fitted on the same rows."""
        return [point.fit(members, y, sample_weight) for point in points]

    def _response(self, values: FloatArray) -> Response:
        if self.labels is None:
            return Response("value", values)
        if values.shape[1] == 1:
            values = np.column_stack([1.0 - values[:, 0], values[:, 0]])
        return Response("probability", values)

    def _loss(
        self, y: Array, sample_weight: FloatArray | None
    ) -> str | Callable[[FloatArray], float]:
        """Return what is made small: the metric, or what it amounts to."""
        function = getattr(self.metric, "function", None)
        if getattr(getattr(self.metric, "scorer", None), "_kwargs", None):
            function = None
        if self.labels is None and (function in SQUARED or self.metric is None or y.ndim > 1):
            return "squared"
        if self.labels is not None and (function is metrics.log_loss or self.metric is None):
            return "log"
        if self.labels is not None and function is metrics.brier_score_loss:
            return "squared"
        target = Target(y, self.labels, sample_weight, np.zeros(len(y), dtype=np.intp))
        return lambda values: (
            -float(self.metric.score(self._response(values.reshape(len(y), -1)), target))
        )


class WeightedMean(MemberStacker):
    """A mean of the learners' predictions with learned or given weights.

    ``rule``: Where the weights come from: "mean", "weighted_mean", "best", "nnls", "simplex",
    "log_score", "bma", "pseudo_bma" or "pseudo_bma_plus".

    ``n_parameters``: Fitted parameters of each learner, for "bma"; None counts them as equal.
    """

    # (n_learners,) or (n_targets, n_learners): the weights. For classes they sum to one.
    weights_: FloatArray

    def __init__(
        self,
        rule: str = "mean",
        metric: Any = None,
        labels: Any = None,
        weights: Any = None,
        alpha: float = 0.0,
        n_parameters: Any = None,
        random_state: Any = None,
    ) -> None:
        self.rule = rule
        self.metric = metric
        self.labels = labels
        self.weights = weights
        self.alpha = alpha
        self.n_parameters = n_parameters
        self.random_state = random_state

    def fit(self, members: FloatArray, y: Array, sample_weight: FloatArray | None = None) -> Self:
        """Find the weights.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        self.weights_ = getattr(self, f"_{self.rule}")(members, y, sample_weight)
        return self

    def _mean(self, members: FloatArray, *_: Any) -> FloatArray:
        return mean_weights(members.shape[1])

    def _weighted_mean(self, members: FloatArray, *_: Any) -> FloatArray:
        weights = np.asarray(self.weights if self.weights is not None else [], dtype=np.float64)
        if weights.shape != (members.shape[1],) or not weights.sum() > 0:
            raise invalid_parameter(
                "weighted_mean",
                "weights",
                must=f"be {members.shape[1]} numbers with a positive sum, one a learner",
                got=self.weights,
                fix="Use final_estimator=('weighted_mean', {'weights': [[0.7, 0.3]]}).",
            )
        return weights / weights.sum()

    def _best(self, members: FloatArray, y: Array, sample_weight: FloatArray | None) -> FloatArray:
        target = Target(y, self.labels, sample_weight, np.zeros(len(y), dtype=np.intp))
        responses = [self._response(members[:, m]) for m in range(members.shape[1])]
        return best_weights(np.array([self.metric.score(r, target) for r in responses]))

    def _nnls(self, members: FloatArray, y: Array, sample_weight: FloatArray | None) -> FloatArray:
        n, n_learners, width = members.shape
        if self.labels is None:
            return by_target(nnls_weights, members, y, sample_weight)
        targets = y.reshape(n, 1) if width == 1 else np.eye(width)[y]
        repeated = None if sample_weight is None else np.repeat(sample_weight, width)
        flat = members.transpose(0, 2, 1).reshape(n * width, n_learners)
        weights = nnls_weights(flat, targets.ravel().astype(np.float64), repeated)
        total = weights.sum()
        return weights / total if total > 0 else mean_weights(n_learners)

    def _simplex(
        self, members: FloatArray, y: Array, sample_weight: FloatArray | None
    ) -> FloatArray:
        how: dict[str, Any] = {"loss": self._loss(y, sample_weight), "alpha": self.alpha}
        if self.labels is None:
            return by_target(simplex_weights, members, y, sample_weight, **how)
        return simplex_weights(members, y, sample_weight, **how)

    def _log_score(
        self, members: FloatArray, y: Array, sample_weight: FloatArray | None
    ) -> FloatArray:
        return log_score_weights(self._logs(members, y), sample_weight, alpha=self.alpha)

    def _bma(self, members: FloatArray, y: Array, sample_weight: FloatArray | None) -> FloatArray:
        n_learners = members.shape[1]
        counts = np.asarray(
            np.zeros(n_learners) if self.n_parameters is None else self.n_parameters, np.float64
        )
        if counts.shape != (n_learners,) or not (counts >= 0).all():
            raise invalid_parameter(
                "bma",
                "n_parameters",
                must=f"be {n_learners} numbers, one a learner, none negative",
                got=self.n_parameters,
                fix="Use final_estimator=('bma', {'n_parameters': [[3, 10]]}).",
            )
        rows = np.ones(len(y)) if sample_weight is None else sample_weight
        return bic_weights(rows @ self._logs(members, y), counts, float(rows.sum()))

    def _pseudo_bma(
        self, members: FloatArray, y: Array, sample_weight: FloatArray | None
    ) -> FloatArray:
        return pseudo_bma_weights(self._logs(members, y), sample_weight)

    def _pseudo_bma_plus(
        self, members: FloatArray, y: Array, sample_weight: FloatArray | None
    ) -> FloatArray:
        logs = self._logs(members, y)
        return pseudo_bma_plus_weights(logs, sample_weight, random_state=self.random_state)

    def _logs(self, members: FloatArray, y: Array) -> FloatArray:
        """Return log probabilities of the truth, or normal log densities of the targets."""
        if self.labels is not None:
            return np.log(truth_probabilities(members, y))
        errors = members - y.reshape(len(y), 1, -1)
        variance = np.mean(errors**2, axis=0) + np.finfo(np.float64).tiny
        return np.asarray(-(errors**2 / variance + np.log(variance)).sum(axis=2) / 2)

    def respond(self, members: FloatArray) -> Response:
        """Return the weighted mean as a response.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        if self.weights_.ndim == 2:
            return self._response(np.einsum("nmt,tm->nt", members, self.weights_))
        return self._response(np.einsum("nmt,m->nt", members, self.weights_))


def by_target(
    weights_of: Callable[..., FloatArray],
    members: FloatArray,
    y: Array,
    sample_weight: FloatArray | None,
    **how: Any,
) -> FloatArray:
    """Return the weights of one target, or a row of weights for each of several."""
    targets = y.reshape(len(y), -1)
    each = [
        weights_of(members[:, :, t], targets[:, t], sample_weight, **how)
        for t in range(targets.shape[1])
    ]
    return each[0] if len(each) == 1 else np.array(each)


class OneClass(BaseEstimator):
    """What any stacker has learned from rows of one class only."""

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
