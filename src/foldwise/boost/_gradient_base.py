"""What the gradient boosting regressor and classifier share."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost._parameters import (
    check_boosting,
    check_choice,
    check_number,
)
from foldwise.boost.additive import Additive
from foldwise.boost.early_stopping import inner_splits, stop_early
from foldwise.boost.learner import Table, check_features, check_groups, make_table, require_weights
from foldwise.boost.progress import Progress
from foldwise.boost.pursuit import Recipe, Sample, boost_additive
from foldwise.errors import Plain, invalid_parameter, unsupported
from foldwise.losses.loss import Loss, check_loss


class GradientBoosting(BaseEstimator):
    """What the regressor and the classifier share."""

    def _learners(self) -> list[Any]:
        if self.estimator is None:
            return [DecisionTreeRegressor(max_depth=3)]
        if not isinstance(self.estimator, list | tuple):
            return [self.estimator]
        return [entry[1] if isinstance(entry, tuple) else entry for entry in self.estimator]

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        check_boosting(self)
        check_choice(owner, "step", self.step, ["auto", "leaf", "line", "fixed"])
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

    def _boost(
        self, X: Any, y: FloatArray, weight: FloatArray, given: bool, groups: Any, loss: Loss
    ) -> None:
        owner, learners = type(self).__name__, self._learners()
        loss.check_targets(owner, y)
        groups = check_groups(self, groups, len(y))
        sample = Sample(make_table(X, learners), y, weight, given)
        start = np.asarray(loss.constant(y, weight), dtype=float)
        check_loss(owner, loss, y, np.tile(start, (len(y),) + (1,) * start.ndim))
        rng = check_random_state(self.random_state)
        seed, split_seed = (int(number) for number in rng.randint(2**31 - 1, size=2))
        progress = Progress(owner, self.n_estimators, self.verbose)

        def run(rows: IntArray, apart: IntArray | None, rounds: int) -> Additive:
            part = sample if len(rows) == len(y) else sample.rows(rows)
            watch = None if apart is None else sample.rows(apart)
            recipe = self._recipe(learners, len(rows), seed)
            return boost_additive(recipe, loss, part, rounds, watch, progress.step)

        if self.early_stopping:
            classes = isinstance(self, ClassifierMixin)
            splits = inner_splits(
                owner, self.validation, y, classes=classes, groups=groups, seed=split_seed
            )
            model = stop_early(run, splits, len(y), self.n_estimators, self.refit)
        else:
            model = run(np.arange(len(y)), None, self.n_estimators)
        self._keep(model)

    def _recipe(self, learners: list[Any], n_samples: int, seed: int) -> Recipe:
        n_rows = max(1, int(self.subsample * n_samples))
        n_columns = max(1, int(self.max_features * self.n_features_in_))
        return Recipe(
            learners,
            self.learning_rate,
            self.step,
            n_rows if n_rows < n_samples else None,
            n_columns if n_columns < self.n_features_in_ else None,
            self.n_iter_no_change,
            seed,
        )

    def _keep(self, model: Additive) -> None:
        self.model_ = model
        self.loss_ = model.loss
        self.estimators_ = [stage.learners for stage in model.stages]
        self.steps_ = np.array([stage.step for stage in model.stages])
        self.members_ = np.array([stage.member for stage in model.stages], dtype=int)
        self.train_loss_ = model.train_loss
        self.n_estimators_ = len(model.stages)

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "model_")
        learners = self._learners()
        return make_table(check_features(self, X, learners, reset=False), learners)

    def _raw(self, X: Any) -> FloatArray:
        table = self._table(X)
        return self.model_.raw(table)

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        table = self._table(X)
        return (raw.copy() for raw in self.model_.staged_raw(table))

    def staged_loss(self, X: Any, y: Any) -> FloatArray:
        """Return the mean loss on some rows after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        ndarray of shape (n_rounds,)
            Losses.
        """
        table = self._table(X)
        y = np.asarray(y)
        if isinstance(self, ClassifierMixin):
            y = np.searchsorted(self.classes_, y)
        y = y.astype(float)
        staged = self.model_.staged_raw(table)
        return np.array([self.loss_.value(y, raw).mean() for raw in staged])

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(learner).input_tags for learner in self._learners()]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        return tags
