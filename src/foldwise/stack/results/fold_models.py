"""A learner after fitting: the mean of its models, and models that speak other class names."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.errors import Plain, invalid_data, listing
from foldwise.folds import Ref
from foldwise.learners import TrainingData, respond
from foldwise.stack.problem import Entry
from foldwise.stack.table.read import Layer, all_classes, as_probabilities, compact


class FoldModels(BaseEstimator):
    """The fitted models of one learner, one a node; their mean is its prediction."""

    def __init__(self, models: list[Any], entry: Entry, labels: Any, amount: int) -> None:
        self.models = models
        self.entry = entry
        self.labels = labels
        self.amount = amount

    @classmethod
    def of(cls, layer: Layer, entry: Entry, refs: Sequence[Ref]) -> Any:
        """Return a learner's deployed model, or the mean of several."""
        cells = layer.table.cells(entry.name, refs)
        models = [layer.table.models[cell] for cell in cells.elements()]
        if len(cells) > 1:
            return cls(models, entry, layer.problem.labels, int(layer.problem.amount))
        return models[0].model if isinstance(models[0], Recoded) else models[0]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the models are fitted."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.models[0])

    @property
    def classes_(self) -> IntArray:
        """Codes of the classes: like scikit-learn's, a stack's learners know codes only."""
        return np.arange(len(self.labels))

    def _mean(self, X: Any) -> FloatArray:
        n_classes = None if self.labels is None else len(self.labels)
        data = TrainingData(X, np.empty(0), n_classes=n_classes)
        entry = self.entry
        each = [
            compact(respond(m, X, entry.method, data, self.amount), entry.kind, n_classes)
            for m in self.models
        ]
        return np.mean(each, axis=0)

    def predict(self, X: Any) -> Array:
        """Return the mean prediction, or the class most models speak for."""
        if self.labels is not None and self.entry.kind != "value":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        mean = self._mean(X)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean of the models' probabilities, or the shares of their votes.

        Shapes: returns (n_samples, n_classes).
        """
        return all_classes(as_probabilities(self._mean(X), self.entry.kind, len(self.classes_)))


class Recoded(BaseEstimator):
    """A classifier fitted on class names, answering in class codes."""

    def __init__(self, model: Any, labels: Any) -> None:
        self.model = model
        self.labels = labels

    @classmethod
    def where_needed(cls, model: Any, labels: Any) -> Any:
        """Return the model itself if it speaks in codes, or not of classes."""
        classes = getattr(model, "classes_", None)
        if labels is None or classes is None or np.array_equal(classes, np.arange(len(labels))):
            return model
        unknown = set(classes.tolist()) - set(np.asarray(labels).tolist())
        if unknown:
            must, got = "hold every class a prefit learner knows", f"no row of {listing(unknown)}"
            fix = "Fit the stack on rows of all classes."
            raise invalid_data(type(model).__name__, "y", must=must, got=Plain(got), fix=fix)
        return cls(model, labels)

    @property
    def classes_(self) -> IntArray:
        """Codes of the classes the model knows."""
        return np.searchsorted(self.labels, self.model.classes_)

    def predict(self, X: Any) -> IntArray:
        """Return class codes."""
        return np.searchsorted(self.labels, self.model.predict(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the model's probabilities.

        Shapes: returns (n_samples, n_classes).
        """
        return self.model.predict_proba(X)

    def decision_function(self, X: Any) -> Any:
        """Return the model's decision values."""
        return self.model.decision_function(X)
