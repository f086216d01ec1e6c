"""Stacking for classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from foldwise.stack.base import BaseStacking
from foldwise.stack.inputs import checked_classes
from foldwise.stack.intervals import check_coverage, cv_plus_set
from foldwise.stack.metric import Response
from foldwise.stack.stackers import WeightedMean, respond


def _top_has(method: str) -> Any:
    """Tell whether the stacker, or what it will be, has a method."""

    def check(stack: Any) -> bool:
        top = getattr(stack, "stacker_", stack.final_estimator)
        if isinstance(top, WeightedMean) or top is None or isinstance(top, str | list | tuple):
            return method == "predict_proba"
        getattr(top, method)
        return True

    return check


class StackingClassifier(ClassifierMixin, BaseStacking):
    """x."""

    _classifies = True

    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        codes, self.classes_ = checked_classes(self._owner, y)
        return codes, self.classes_

    def _misfit(self, response: Response, y: NDArray[Any]) -> NDArray[np.float64]:
        return 1.0 - _as_probabilities(response, len(self.classes_))[np.arange(len(y)), y]

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        **predict_params : dict
            Handed to the final estimator's predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        if predict_params:
            features = self.deals_[0].fresh(self._new_rows(X), self.deals_[0].reading.deployed)
            codes = self.stacker_.predict(features.matrix(), **predict_params)
            return self.classes_[np.asarray(codes, dtype=np.intp)]
        response = self._respond(X)
        return self.classes_[response.labels]

    @available_if(_top_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._respond(X).values

    @available_if(_top_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the final estimator's decision values, the mean over repeats.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values.
        """
        X = self._new_rows(X)
        each = [
            d.verdict.stacker.decision_function(d.fresh(X, d.reading.deployed).matrix())
            for d in self.deals_
        ]
        return np.mean(each, axis=0)

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return, for each row, the classes that are not ruled out, by CV+.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new rows whose class should be in its set.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for the classes in the set; never empty.

        Notes
        -----
        For exchangeable rows the sets hold the class of at least ``1 - 2 * (1 - coverage)`` of
        new rows, and ``coverage`` or a little more in practice.
        """
        check_coverage(self._owner, coverage)
        X = self._new_rows(X)
        self._check_judged("predict_set")
        self._warn_if_not_exchangeable("predict_set")
        votes = []
        for deal, misfits in zip(self.deals_, self._conformity, strict=True):
            given = [
                _as_probabilities(
                    respond(judged.stacker, deal.fresh(X, judgement.fresh)), len(self.classes_)
                )
                for judgement, judged in zip(
                    deal.reading.judgements, deal.verdict.folds, strict=True
                )
            ]
            votes.append(cv_plus_set(np.array(given), misfits, coverage))
        inside: NDArray[np.bool_] = np.mean(votes, axis=0) >= 0.5
        return inside


def _as_probabilities(response: Response, n_classes: int) -> NDArray[np.float64]:
    if response.kind == "probability":
        return response.values
    if response.kind == "decision" and response.values.shape[1] == 1:
        positive = expit(response.values[:, 0])
        return np.column_stack([1.0 - positive, positive])
    return np.eye(n_classes)[response.labels]
