"""What calibration and a threshold add to a stack of classifiers."""

from dataclasses import replace
from typing import Any, Self

from foldwise.scores.metric import Metric
from foldwise.stack.again import KEEP
from foldwise.stack.base import BaseStacking
from foldwise.stack.build import Deal
from foldwise.stack.calibrate import check_kinds, checked_methods, checked_threshold
from foldwise.stack.finish import Finisher
from foldwise.stack.judge import Judge
from foldwise.stack.reader import Problem
from foldwise.stack.stackers import Candidate


class FinishedStacking(BaseStacking):
    """Calibrates what the stacker says, and finds the threshold from which on it is believed."""

    calibrate: Any
    threshold: Any
    classes_: Any

    def _gives_probabilities(self) -> bool:
        return self.calibrate is not None or super()._gives_probabilities()

    def _candidates(self, metric: Metric, problem: Problem) -> tuple[Candidate, ...]:
        candidates = super()._candidates(metric, problem)
        self._finisher(problem)
        check_kinds(self._owner, candidates, self.calibrate, self.threshold)
        return candidates

    def _finisher(self, problem: Problem, *, in_order: bool = False) -> Finisher:
        n_classes = len(self.classes_)
        methods = checked_methods(self._owner, self.calibrate, n_classes)
        threshold = checked_threshold(self._owner, self.threshold, n_classes)
        return Finisher(methods, threshold, problem.amount, in_order)

    def _settle(self, deals: list[Deal], metric: Metric, seed: int) -> Self:
        if self.calibrate is not None or self.threshold is not None:
            deals = [self._finished(deal, metric, seed) for deal in deals]
        super()._settle(deals, metric, seed)
        finish = self.deals_[0].verdict.finish
        self.calibrator_, self.threshold_ = finish.calibration, finish.threshold
        return self

    def _finished(self, deal: Deal, metric: Metric, seed: int) -> Deal:
        problem = deal.top.problem
        judge = Judge(deal.top, deal.reading, self._candidates(metric, problem), metric, seed)
        finisher = self._finisher(problem, in_order=deal.reading.in_order)
        return replace(deal, verdict=judge.finished(deal.verdict, finisher))

    def restack(
        self,
        final_estimator: Any = KEEP,
        *,
        scoring: Any = KEEP,
        calibrate: Any = KEEP,
        threshold: Any = KEEP,
        X: Any = None,
    ) -> Self:
        """Return a new stack with another top; no learner is fitted again.

        Parameters
        ----------
        final_estimator, scoring, calibrate, threshold : object
            As in the constructor; left out, they stay.
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.

        Notes
        -----
        Learners tuned by ``tune`` keep the parameters they were given by the old scoring.
        """
        return self._restacked(
            X,
            final_estimator=final_estimator,
            scoring=scoring,
            calibrate=calibrate,
            threshold=threshold,
        )

    def tune_threshold(self, scoring: Any = "balanced_accuracy", *, X: Any = None) -> Self:
        """Return a new stack whose threshold maximises a metric; no learner is fitted again.

        Parameters
        ----------
        scoring : str or callable, default="balanced_accuracy"
            A scorer of labels, or its name.
        X : array or frame, optional
            As in :meth:`restack`.

        Returns
        -------
        Self
            A fitted stack; its ``score_`` is by the same scorer, and honest: each judged fold
            is predicted with a threshold that was chosen without it.
        """
        return self.restack(scoring=scoring, threshold=scoring, X=X)
