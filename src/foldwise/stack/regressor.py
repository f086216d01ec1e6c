"""Stacking for numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from foldwise.errors import unsupported
from foldwise.stack.base import BaseStacking
from foldwise.stack.inputs import checked_values
from foldwise.stack.intervals import check_coverage, cv_plus_interval, quantile_interval
from foldwise.stack.metric import Response
from foldwise.stack.stackers import respond


class StackingRegressor(RegressorMixin, BaseStacking):
    """x."""

    _classifies = False

    def _read_target(self, y: Any) -> tuple[NDArray[Any], None]:
        return checked_values(self._owner, y), None

    def _misfit(self, response: Response, y: NDArray[Any]) -> NDArray[np.float64]:
        return np.abs(response.values - y.reshape(len(y), -1)).max(axis=1)

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        **predict_params : dict
            Handed to the final estimator's predict, e.g. ``return_std=True``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        if predict_params:
            features = self.deals_[0].fresh(self._new_rows(X), self.deals_[0].reading.deployed)
            return self.stacker_.predict(features.matrix(), **predict_params)
        values = self._respond(X).values
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_interval(
        self, X: Any, coverage: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return prediction intervals by CV+ from the hold-out stacks.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new targets the intervals should hold.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
            The ends.

        Notes
        -----
        For exchangeable rows the intervals hold at least ``1 - 2 * (1 - coverage)`` of new
        targets, and ``coverage`` or a little more in practice. With groups or forward in time
        rows are not exchangeable: a warning says so, and forward in time the ends are the
        prediction plus and minus a quantile of the hold-out residuals.
        """
        check_coverage(self._owner, coverage)
        X = self._new_rows(X)
        self._check_judged("predict_interval")
        if self.deals_[0].top.problem.data.y.ndim > 1:
            raise unsupported(
                self._owner,
                "y",
                must="be one target for predict_interval",
                got=self.deals_[0].top.problem.data.y.shape,
                fix="Fit one stack a target.",
            )
        self._warn_if_not_exchangeable("predict_interval")
        ends = []
        for deal, residuals in zip(self.deals_, self._conformity, strict=True):
            if deal.reading.in_order:
                centre = respond(deal.verdict.stacker, deal.fresh(X, deal.reading.deployed))
                ends.append(quantile_interval(centre.values[:, 0], residuals, coverage))
                continue
            centres = [
                respond(judged.stacker, deal.fresh(X, judgement.fresh)).values[:, 0]
                for judgement, judged in zip(
                    deal.reading.judgements, deal.verdict.folds, strict=True
                )
            ]
            ends.append(cv_plus_interval(np.array(centres), residuals, coverage))
        return np.mean([low for low, _ in ends], axis=0), np.mean([up for _, up in ends], axis=0)
