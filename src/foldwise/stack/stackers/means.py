"""Stackers of our own: what they share, and means of the learners' predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import logit
from sklearn import metrics
from sklearn.base import BaseEstimator

from foldwise import combine
from foldwise.arrays import Array, FloatArray
from foldwise.checks import row_shares
from foldwise.combine.shapes import truth_probabilities
from foldwise.errors import invalid_parameter
from foldwise.learners import aligned
from foldwise.scores.metric import Response, Target
from foldwise.stack.table.read import Features, all_classes, clip_amount

SQUARED = (
    metrics.mean_squared_error,
    metrics.root_mean_squared_error,
    metrics.r2_score,
    metrics.brier_score_loss,
)


Weights = FloatArray | None  # of rows


class Stacker(BaseEstimator):
    """A stacker of our own: it says what it reads, and fits a whole grid at once."""

    def read(self, features: Features) -> Any:
        """Return what fit is given: the matrix that any estimator on top would get."""
        return features.matrix

    def fit(self, X: Any, y: Array, sample_weight: Weights = None) -> Self:
        """Learn from out-of-fold predictions.

        Shapes: ``X`` (n_samples, n_columns) or (n_samples, n_learners, width).
        """
        (fitted,) = self.fit_points(X, y, sample_weight, [self])
        return fitted

    def fit_points(
        self, X: Any, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return stackers that differ in their parameters, fitted on the same rows."""
        return [point.fit(X, y, sample_weight) for point in points]


class MemberStacker(Stacker):
    """What a stacker that reads the learners' predictions side by side can do."""

    metric: Any
    labels: Any

    def read(self, features: Features) -> FloatArray:
        """Return what fit and respond are given, of shape (n_samples, n_learners, width)."""
        return features.members

    def respond(self, members: FloatArray) -> Response:
        """Return the combined prediction.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        raise NotImplementedError

    def ignored(self, names: Sequence[str]) -> frozenset[str]:
        """Return the learners whose predictions cannot change what the stacker says."""
        return frozenset()

    def _response(self, values: FloatArray) -> Response:
        if self.labels is None:
            return Response("value", values)
        # Weights sum to one up to rounding, and scikit-learn's metrics refuse what is above it.
        return Response("probability", all_classes(np.minimum(values, 1.0)))

    def _loss(self, y: Array, sample_weight: Weights) -> str | Callable[[FloatArray], float]:
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

        def loss(values: FloatArray) -> float:
            score = self.metric.score(self._response(values.reshape(len(y), -1)), target)
            return np.inf if np.isnan(score) else -float(score)

        return loss


class WeightsStacker(MemberStacker):
    """A mean of the learners' predictions, with weights."""

    # (n_learners,) or (n_targets, n_learners): the weights. For classes they sum to one.
    weights_: FloatArray

    def ignored(self, names: Sequence[str]) -> frozenset[str]:
        """Return the learners without weight."""
        columns = np.atleast_2d(self.weights_).T
        return frozenset(n for n, weights in zip(names, columns, strict=True) if not weights.any())

    def respond(self, members: FloatArray) -> Response:
        """Return the weighted mean as a response."""
        if self.weights_.ndim == 2:
            return self._response(np.einsum("nmt,tm->nt", members, self.weights_))
        return self._response(np.einsum("nmt,m->nt", members, self.weights_))


@dataclass(eq=False, repr=False)
class WeightedMean(WeightsStacker):
    """A mean of the learners' predictions with learned or given weights.

    ``rule``: Where the weights come from: "mean", "weighted_mean", "best", "nnls", "simplex",
    "log_score", "pseudo_bma" or "pseudo_bma_plus".
    """

    rule: str = "mean"
    metric: Any = None
    labels: Any = None
    weights: Any = None
    alpha: float = 0.0
    random_state: Any = None

    def fit(self, X: FloatArray, y: Array, sample_weight: Weights = None) -> Self:
        """Find the weights."""
        self.weights_ = getattr(self, f"_{self.rule}")(X, y, sample_weight)
        return self

    def _mean(self, members: FloatArray, *_: Any) -> FloatArray:
        return combine.mean_weights(members.shape[1])

    def _weighted_mean(self, members: FloatArray, *_: Any) -> FloatArray:
        weights = np.asarray(self.weights if self.weights is not None else [], dtype=np.float64)
        if weights.shape != (members.shape[1],) or not weights.sum() > 0:
            must = f"be {members.shape[1]} numbers with a positive sum, one a learner"
            fix = "Use final_estimator=('weighted_mean', {'weights': [[0.7, 0.3]]})."
            raise invalid_parameter(self.rule, "weights", must=must, got=self.weights, fix=fix)
        return weights / weights.sum()

    def _best(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        target = Target(y, self.labels, sample_weight, np.zeros(len(y), dtype=np.intp))
        responses = [self._response(members[:, m]) for m in range(members.shape[1])]
        return combine.best_weights(np.array([self.metric.score(r, target) for r in responses]))

    def _nnls(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        n, n_learners, width = members.shape
        if self.labels is None:
            parts = by_target(members, y, self.labels)
            return one_or_all([combine.nnls_weights(*part, sample_weight) for part in parts])
        targets = y.reshape(n, 1) if width == 1 else np.eye(width)[y]
        repeated = None if sample_weight is None else np.repeat(sample_weight, width)
        flat = members.transpose(0, 2, 1).reshape(n * width, n_learners)
        weights = combine.nnls_weights(flat, targets.ravel().astype(np.float64), repeated)
        total = weights.sum()
        return weights / total if total > 0 else combine.mean_weights(n_learners)

    def _simplex(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        how: dict[str, Any] = {"loss": self._loss(y, sample_weight), "alpha": self.alpha}
        parts = by_target(members, y, self.labels)
        return one_or_all([combine.simplex_weights(*part, sample_weight, **how) for part in parts])

    def _log_score(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        return combine.log_score_weights(
            self._logs(members, y, sample_weight), sample_weight, alpha=self.alpha
        )

    def _pseudo_bma(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        return combine.pseudo_bma_weights(self._logs(members, y, sample_weight), sample_weight)

    def _pseudo_bma_plus(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        logs = self._logs(members, y, sample_weight)
        return combine.pseudo_bma_plus_weights(logs, sample_weight, random_state=self.random_state)

    def _logs(self, members: FloatArray, y: Array, sample_weight: Weights) -> FloatArray:
        """Return log probabilities of the truth, or normal log densities of the targets."""
        if self.labels is not None:
            return np.log(truth_probabilities(members, y))
        errors = members - y.reshape(len(y), 1, -1)
        variance = np.average(errors**2, axis=0, weights=sample_weight)
        variance = variance + np.finfo(np.float64).tiny
        return np.asarray(-(errors**2 / variance + np.log(variance)).sum(axis=2) / 2)


def by_target(members: FloatArray, y: Array, labels: Any) -> list[tuple[FloatArray, Array]]:
    """Return predictions and targets, those of each target apart; classes are one."""
    if labels is not None:
        return [(members, y)]
    targets = y.reshape(len(y), -1)
    return [(members[:, :, t], targets[:, t]) for t in range(targets.shape[1])]


def one_or_all(weights: Sequence[FloatArray]) -> FloatArray:
    """Return the weights of one target, or a row of weights for each of several."""
    return weights[0] if len(weights) == 1 else np.array(weights)


@dataclass(eq=False, repr=False)
class AverageStacker(MemberStacker):
    """An average of the learners' predictions that learns nothing."""

    rule: str = "median"
    metric: Any = None
    labels: Any = None
    trim: float = 0.2

    def read(self, features: Features) -> FloatArray:
        """Return the predictions; for a geometric mean of classes kept away from 0 and 1."""
        if self.rule != "geometric_mean" or self.labels is None:
            return features.members
        clip = clip_amount(features.amount)
        return np.clip(features.members, clip, 1.0 - clip)

    def fit(self, X: FloatArray, y: Array, sample_weight: Weights = None) -> Self:
        """Do nothing."""
        return self

    def respond(self, members: FloatArray) -> Response:
        """Return the average as a response."""
        classes = self.labels is not None
        members = all_classes(members) if classes else members
        if self.rule == "majority_vote":
            return self._vote(members)
        if self.rule == "trimmed_mean":
            return self._response(combine.trimmed_mean(members, self.trim, simplex=classes))
        if self.rule == "median":
            return self._response(combine.median(members, simplex=classes))
        values = combine.geometric_mean(members)
        return self._response(values / values.sum(axis=1, keepdims=True) if classes else values)

    def _vote(self, members: FloatArray) -> Response:
        shares = combine.majority_vote(members.argmax(axis=2), members.shape[2])
        # A tie goes to the class with the greater mean probability.
        labels = (shares + 1e-6 * members.mean(axis=1)).argmax(axis=1)
        return Response("probability", shares, labels)


@dataclass(eq=False, repr=False)
class RankStacker(MemberStacker):
    """The mean of ranks among out-of-fold predictions, brought back to the target's scale.

    For numbers a mean rank becomes that quantile of the targets; for classes the logits of the
    mean ranks go through a logistic regression with one slope, which leaves their order.
    """

    metric: Any = None
    labels: Any = None

    def fit(self, X: FloatArray, y: Array, sample_weight: Weights = None) -> Self:
        """Store the ranks of out-of-fold predictions."""
        width = X.shape[2]
        self.ranks_ = [combine.rank_mean(X[:, :, t], sample_weight) for t in range(width)]
        if self.labels is not None:
            self.pool_ = combine.logit_pool(self._logits(X), y, sample_weight)
            return self
        self.quantiles_ = []
        targets, ranks = y.reshape(len(y), -1), self._ranks(X)
        shares = row_shares(len(y), sample_weight)
        for t in range(width):
            order, by_rank = np.argsort(targets[:, t]), np.argsort(ranks[:, t])
            levels, places = np.cumsum(shares[order]), np.cumsum(shares[by_rank])
            values = np.interp(places, levels, targets[order, t])
            knots, where = np.unique(ranks[by_rank, t], return_inverse=True)
            self.quantiles_.append((knots, np.bincount(where, values) / np.bincount(where)))
        return self

    def _ranks(self, members: FloatArray) -> FloatArray:
        return np.column_stack([r.predict(members[:, :, t]) for t, r in enumerate(self.ranks_)])

    def _logits(self, members: FloatArray) -> FloatArray:
        return logit(np.clip(self._ranks(members), 1e-4, 1 - 1e-4))[:, None, :]

    def respond(self, members: FloatArray) -> Response:
        """Return the rank mean as a response."""
        if self.labels is not None:
            return Response("probability", self.pool_.predict(self._logits(members)))
        ranks = self._ranks(members)
        return self._response(
            np.column_stack([np.interp(ranks[:, t], *q) for t, q in enumerate(self.quantiles_)])
        )


@dataclass(eq=False, repr=False)
class OneClass(BaseEstimator):
    """What any stacker has learned from rows of one class only."""

    code: int
    kind: str

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
