"""Predictions that are already there, as an estimator that a scorer can ask."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from foldwise._sklearn import n_samples
from foldwise.arrays import Array
from foldwise.errors import Plain, invalid_parameter

if TYPE_CHECKING:
    from foldwise.scores.metric import Response


class _Replay(BaseEstimator):
    """An estimator that gives predictions made before, to whoever asks about the same rows."""

    def __init__(self, response: "Response", classes: Any) -> None:
        self.response = response
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _rows(self, X: Any) -> "Response":
        n_rows = len(self.response.values)
        if n_samples(X) != n_rows:
            raise invalid_parameter(
                "scoring",
                "X",
                must=f"be asked about as it was given, {n_rows} rows",
                got=Plain(f"{n_samples(X)} rows"),
                fix="Predict all rows, then take the ones to score.",
            )
        return self.response


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
