"""A learner after fitting: the mean of its models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from foldwise.folds import Ref
from foldwise.stack.entries import Entry
from foldwise.stack.reader import Reader


class FoldModels(BaseEstimator):
    """The fitted models of one learner, one a node; their mean is its prediction.

    Parameters
    ----------
    models : list of estimator
        Fitted.
    """

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    @classmethod
    def of(cls, reader: Reader, entry: Entry, refs: Sequence[Ref]) -> Any:
        """Return a learner's deployed model, or the mean of several."""
        cells = reader.table.cells(entry.name, refs)
        models = [reader.table.models[cell] for cell in cells]
        return models[0] if len(models) == 1 else cls(models)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean prediction, or the class with the greatest mean probability.

        Parameters
        ----------
        X : array or frame
            New rows.

        Returns
        -------
        ndarray
            One prediction a row.
        """
        if hasattr(self.models[0], "predict_proba"):
            return np.asarray(self.models[0].classes_)[self.predict_proba(X).argmax(axis=1)]
        return np.mean([model.predict(X) for model in self.models], axis=0)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the models' probabilities.

        Parameters
        ----------
        X : array or frame
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return np.mean([model.predict_proba(X) for model in self.models], axis=0)
