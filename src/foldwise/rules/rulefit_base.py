"""What the rule ensembles share: their parameters and the fit of validated rows."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array, FloatArray
from foldwise.errors import invalid_data, invalid_parameter
from foldwise.isle.grow import Growth, tree_sizes
from foldwise.isle.inputs import TreeData, new_table
from foldwise.paths.dealing import deal_folds
from foldwise.paths.parameters import (
    check_between,
    check_subsample,
    check_whole,
    check_word,
    threads,
)
from foldwise.rules.reading import RuleReading
from foldwise.rules.rule_fitting import RuleSettings, fit_rule_ensemble


class RuleFitBase(RuleReading, BaseEstimator):
    """What the regressor and the classifier share."""

    def __init__(
        self,
        ensemble: Any = None,
        *,
        n_estimators: int = 500,
        mean_leaves: float = 4.0,
        max_conditions: int | None = None,
        subsample: float | str = "auto",
        learning_rate: float = 0.01,
        min_samples_leaf: int = 5,
        linear_terms: bool = True,
        winsorize: float = 0.025,
        max_terms: int | None = None,
        l1_ratio: float = 1.0,
        choose: str = "min",
        cv: Any = 5,
        dictionary: str = "shared",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.n_estimators = n_estimators
        self.mean_leaves = mean_leaves
        self.max_conditions = max_conditions
        self.subsample = subsample
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.linear_terms = linear_terms
        self.winsorize = winsorize
        self.max_terms = max_terms
        self.l1_ratio = l1_ratio
        self.choose = choose
        self.cv = cv
        self.dictionary = dictionary
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        check_whole(owner, "n_estimators", self.n_estimators, 0)
        check_between(owner, "mean_leaves", self.mean_leaves, 1.999, 1000, "Try 4.")
        check_whole(owner, "max_conditions", self.max_conditions, 1, none=True)
        check_subsample(owner, self.subsample)
        check_between(owner, "learning_rate", self.learning_rate, 0, 1, "Try 0.01.")
        check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1)
        check_between(owner, "winsorize", self.winsorize, -1e-9, 0.499, "Try 0.025.")
        check_whole(owner, "max_terms", self.max_terms, 1, none=True)
        check_between(owner, "l1_ratio", self.l1_ratio, 0, 1, "Try 1, the lasso.")
        check_word(owner, "choose", self.choose, ("min", "1se"))
        check_word(owner, "dictionary", self.dictionary, ("shared", "regrown"))
        if self.dictionary == "regrown" and isinstance(self.ensemble, FrozenEstimator):
            raise invalid_parameter(
                owner,
                "dictionary",
                must='be "shared" for the trees of a fitted model',
                got=self.dictionary,
                fix="Pass the ensemble unfitted.",
            )

    def _check_columns(self, data: TreeData) -> None:
        if self.ensemble is not None and data.table.columns.levels:
            raise invalid_data(
                type(self).__name__,
                "X",
                must="hold numbers only when rules come from an ensemble",
                got="columns of categories",
                fix="Encode them, or leave ensemble out.",
            )

    def _fit(self, data: TreeData, y: Array, loss: str, delta: float) -> Self:
        """Fit ``model_`` to validated rows; classes are 0, 1, ..."""
        self._check_columns(data)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        n_classes = int(y.max()) + 1 if loss == "multinomial" else 1
        growth = Growth(
            loss=loss,
            leaves=tree_sizes(self.n_estimators, self.mean_leaves, rng),
            sample_fraction=1.0,
            memory=self.learning_rate,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_conditions,
            n_classes=n_classes,
            huber_delta=delta,
            seed=int(rng.integers(2**31 - 1)),
            n_threads=threads(self.n_jobs),
        )
        settings = RuleSettings(
            growth=growth,
            subsample=None if isinstance(self.subsample, str) else float(self.subsample),
            linear_tail=self.winsorize if self.linear_terms else None,
            l1_ratio=self.l1_ratio,
            choose=self.choose,
            max_terms=self.max_terms,
            regrow=self.dictionary == "regrown",
            ensemble=self.ensemble,
        )
        classify = loss in {"logistic", "multinomial"}
        folds = deal_folds(
            type(self).__name__, self.cv, y, classify=classify, groups=data.groups, rng=rng
        )
        fitted = fit_rule_ensemble(data.table, y, data.weight, folds, settings)
        self.model_ = fitted.model
        self.n_candidates_ = fitted.n_candidates
        self.lambdas_, self.cv_loss_, self.cv_se_ = fitted.lambdas, fitted.cv_loss, fitted.cv_se
        self.shared_cv_loss_, self.index_ = fitted.shared_cv_loss, fitted.index
        return self

    @property
    def optimism_(self) -> float:
        """How much too good the loss looks when folds judge rules grown with their own rows.

        Zero with ``dictionary="shared"``, where it is not known.
        """
        check_is_fitted(self)
        if not len(self.cv_loss_):
            return 0.0
        return float(self.cv_loss_[self.index_] - self.shared_cv_loss_[self.index_])

    def _decision(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self.model_.decision(new_table(self, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.ensemble is None
        tags.input_tags.sparse = True
        return tags
