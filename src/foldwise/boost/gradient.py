"""What the gradient boosting regressor and classifier share."""

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.boost.booster import LossBooster, Report
from foldwise.boost.pursuit import Additive, Pursuit, boost_additive
from foldwise.checks import check_number, check_word
from foldwise.errors import Plain, invalid_parameter, unsupported
from foldwise.learners.one_learner import WeightedRows, require_weights
from foldwise.losses import Loss


class GradientBoosting(LossBooster):
    """Parameters, their checks, and rounds that fit any regressor to the gradient."""

    def __init__(
        self,
        estimator: Any = None,
        loss: Any = "auto",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        step: str = "auto",
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        validation: Any = 0.1,
        n_iter_no_change: int = 10,
        refit: str | None = "scaled",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose

    def _learners(self) -> list[Any]:
        if self.estimator is None:
            return [DecisionTreeRegressor(max_depth=3)]
        if not isinstance(self.estimator, list | tuple):
            return [self.estimator]
        return [entry[1] if isinstance(entry, tuple) else entry for entry in self.estimator]

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_word(owner, "step", self.step, ["auto", "leaf", "line", "fixed"])
        for name in ["subsample", "max_features"]:
            check_number(owner, name, getattr(self, name), above=0, most=1, try_=1.0)
        if not self._learners():
            raise invalid_parameter(
                owner,
                "estimator",
                must="be a regressor or a list of them",
                got=self.estimator,
                fix="Leave it out to boost trees.",
            )
        for learner in self._learners():
            self._check_learner(owner, learner, weighted)

    def _check_learner(self, owner: str, learner: Any, weighted: bool) -> None:
        if not is_regressor(learner):
            raise unsupported(
                owner,
                "estimator",
                must="be a regressor: it is fitted to gradients",
                got=Plain(type(learner).__name__),
                fix="Use the regressor of the same kind.",
            )
        if self.step == "leaf" and not isinstance(learner, BaseDecisionTree):
            raise unsupported(
                owner,
                "estimator",
                must="be a scikit-learn tree for step='leaf'",
                got=Plain(type(learner).__name__),
                fix="Use step='line'.",
            )
        if weighted:
            require_weights(
                owner, learner, "when weights are given", "Fit without them or change the learner."
            )

    def _boost_loss(
        self, loss: Loss, rows: WeightedRows, groups: Any, seed: int, split_seed: int
    ) -> None:
        def boost(
            part: WeightedRows, watch: WeightedRows | None, rounds: int, report: Report
        ) -> Additive:
            return boost_additive(self._pursuit(len(part), seed), loss, part, rounds, watch, report)

        model = self._run(boost, rows, groups, split_seed)
        self.model_ = model
        self.loss_ = model.loss
        self.estimators_ = [stage.learners for stage in model.stages]
        self.steps_ = np.array([stage.step for stage in model.stages])
        self.members_ = np.array([stage.member for stage in model.stages], dtype=int)
        self.train_loss_ = model.train_loss
        self.n_estimators_ = len(model.stages)

    def _pursuit(self, n_samples: int, seed: int) -> Pursuit:
        n_rows = max(1, int(self.subsample * n_samples))
        n_columns = max(1, int(self.max_features * self.n_features_in_))
        return Pursuit(
            self._learners(),
            self.learning_rate,
            self.step,
            n_rows if n_rows < n_samples else None,
            n_columns if n_columns < self.n_features_in_ else None,
            self.n_iter_no_change,
            seed,
        )

    @property
    def feature_importances_(self) -> FloatArray:
        """How much each feature lowered the trees' squared error, summing to one."""
        check_is_fitted(self, "model_")
        if not self.model_.only_trees:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs trees as learners. "
                "Use sklearn.inspection.permutation_importance for others."
            )
        return self.model_.importances(self.n_features_in_)
