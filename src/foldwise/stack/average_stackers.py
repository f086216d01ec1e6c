"""Stackers that average without weights: median, trimmed and geometric mean, votes, ranks."""

from typing import Any, Self

import numpy as np
from scipy.special import logit

from foldwise.arrays import Array, FloatArray
from foldwise.combine import (
    geometric_mean,
    logit_pool,
    majority_vote,
    median,
    rank_mean,
    trimmed_mean,
)
from foldwise.combine.shapes import row_shares
from foldwise.scores.response import Response
from foldwise.stack.features import Features, clip_amount
from foldwise.stack.own_stackers import MemberStacker


class AverageStacker(MemberStacker):
    """An average of the learners' predictions that learns nothing."""

    def __init__(
        self, rule: str = "median", metric: Any = None, labels: Any = None, trim: float = 0.2
    ) -> None:
        self.rule = rule
        self.metric = metric
        self.labels = labels
        self.trim = trim

    def read(self, features: Features) -> FloatArray:
        """Return the predictions; for a geometric mean of classes kept away from 0 and 1."""
        if self.rule != "geometric_mean" or self.labels is None:
            return features.members
        clip = clip_amount(features.amount)
        return np.clip(features.members, clip, 1.0 - clip)

    def fit(self, members: FloatArray, y: Array, sample_weight: FloatArray | None = None) -> Self:
        """Do nothing."""
        return self

    def respond(self, members: FloatArray) -> Response:
        """Return the average as a response.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        classes = self.labels is not None
        if classes and members.shape[2] == 1:
            members = np.concatenate([1.0 - members, members], axis=2)
        if self.rule == "majority_vote":
            return self._vote(members)
        if self.rule == "trimmed_mean":
            return self._response(trimmed_mean(members, self.trim, simplex=classes))
        if self.rule == "median":
            return self._response(median(members, simplex=classes))
        values = geometric_mean(members)
        return self._response(values / values.sum(axis=1, keepdims=True) if classes else values)

    def _vote(self, members: FloatArray) -> Response:
        shares = majority_vote(members.argmax(axis=2), members.shape[2])
        # A tie goes to the class with the greater mean probability.
        labels = (shares + 1e-6 * members.mean(axis=1)).argmax(axis=1)
        return Response("probability", shares, labels)


class RankStacker(MemberStacker):
    """The mean of ranks among out-of-fold predictions, brought back to the target's scale.

    For numbers a mean rank becomes that quantile of the targets; for classes the logits of the
    mean ranks go through a logistic regression with one slope, which leaves their order.
    """

    def __init__(self, metric: Any = None, labels: Any = None) -> None:
        self.metric = metric
        self.labels = labels

    def fit(self, members: FloatArray, y: Array, sample_weight: FloatArray | None = None) -> Self:
        """Store the ranks of out-of-fold predictions.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        width = members.shape[2]
        self.ranks_ = [rank_mean(members[:, :, t], sample_weight) for t in range(width)]
        if self.labels is not None:
            self.pool_ = logit_pool(self._logits(members), y, sample_weight)
            return self
        self.quantiles_ = []
        targets, ranks = y.reshape(len(y), -1), self._ranks(members)
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
        """Return the rank mean as a response.

        Shapes: ``members`` (n_samples, n_learners, width).
        """
        if self.labels is not None:
            return Response("probability", self.pool_.predict(self._logits(members)))
        ranks = self._ranks(members)
        return self._response(
            np.column_stack([np.interp(ranks[:, t], *q) for t, q in enumerate(self.quantiles_)])
        )
