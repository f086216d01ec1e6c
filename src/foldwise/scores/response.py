"""A prediction and what it means, and estimators that replay one for scikit-learn's scorers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from foldwise.arrays import Array, FloatArray, IntArray


@dataclass(frozen=True)
class Response:
    """A prediction and what it means."""

    kind: str  # probabilities of all classes, decision values, class codes, or regression values
    values: FloatArray  # (n_samples, width): the prediction
    # class codes, where the model decides otherwise than by the greatest value
    own_labels: IntArray | None = None

    @property
    def labels(self) -> IntArray:
        """Class codes: the most probable class, the sign of the decision, or the label."""
        if self.own_labels is not None:
            return self.own_labels
        if self.kind == "label":
            return self.values[:, 0].astype(np.intp)
        if self.values.shape[1] == 1:
            return (self.values[:, 0] > 0).astype(np.intp)
        return self.values.argmax(axis=1)

    def probabilities(self, n_classes: int) -> FloatArray:
        """Return the response as probabilities of all classes; labels are certainties."""
        if self.kind == "probability":
            return self.values
        if self.kind == "decision" and self.values.shape[1] == 1:
            positive = expit(self.values[:, 0])
            return np.column_stack([1.0 - positive, positive])
        return np.eye(n_classes)[self.labels]

    def take(self, rows: Any) -> "Response":
        """Return some rows."""
        own = None if self.own_labels is None else self.own_labels[rows]
        return Response(self.kind, self.values[rows], own)


def joined(responses: Sequence[Response]) -> Response:
    """Return responses one below the other."""
    own = [r.own_labels for r in responses if r.own_labels is not None]
    return Response(
        responses[0].kind,
        np.concatenate([r.values for r in responses]),
        np.concatenate(own) if len(own) == len(responses) else None,
    )


class _Replay(BaseEstimator):
    """An estimator that gives predictions made before; X holds row numbers."""

    def __init__(self, response: Response | None = None, classes: Any = None) -> None:
        self.response = response
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _rows(self, X: Any) -> Response:
        assert self.response is not None
        return self.response.take(np.asarray(X)[:, 0])


class _ReplayRegressor(RegressorMixin, _Replay):
    def predict(self, X: Any) -> Array:
        values = self._rows(X).values
        return values[:, 0] if values.shape[1] == 1 else values


class _ReplayClassifier(ClassifierMixin, _Replay):
    @property
    def classes_(self) -> Array:
        return np.asarray(self.classes)

    def predict(self, X: Any) -> Array:
        return self.classes_[self._rows(X).labels]


class _ReplayProbabilities(_ReplayClassifier):
    def predict_proba(self, X: Any) -> Array:
        return self._rows(X).values


class _ReplayDecisions(_ReplayClassifier):
    def decision_function(self, X: Any) -> Array:
        values = self._rows(X).values
        return values[:, 0] if values.shape[1] == 1 else values


REPLAYS: dict[str, type[_Replay]] = {
    "value": _ReplayRegressor,
    "label": _ReplayClassifier,
    "probability": _ReplayProbabilities,
    "decision": _ReplayDecisions,
}
