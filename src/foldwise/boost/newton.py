"""What the Newton boosting regressor and classifier share."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import FloatArray
from foldwise.boost.booster import LossBooster, Report
from foldwise.boost.newton_trees import (
    NewtonTrees,
    Words,
    categorical_columns,
    encode,
    learn_categories,
    train,
    tree_words,
)
from foldwise.checks import check_number, check_whole
from foldwise.errors import Plain, invalid_parameter
from foldwise.learners.one_learner import LearnerInput, WeightedRows, is_frame
from foldwise.losses import Huber, Loss, Quantile, Squared

FAR_FROM_ZERO = 100.0


class NewtonBoosting(LossBooster):
    """Parameters, their checks, tables with categories, and LightGBM's rounds."""

    def __init__(
        self,
        loss: Any = "auto",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        subsample: float = 1.0,
        max_features: float = 1.0,
        min_samples_leaf: int = 20,
        min_hessian: float = 1e-3,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation: Any = 0.1,
        n_iter_no_change: int = 10,
        refit: str | None = "scaled",
        lightgbm_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.gamma = gamma
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.min_hessian = min_hessian
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.lightgbm_params = lightgbm_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_whole(owner, "max_leaf_nodes", self.max_leaf_nodes, 2, try_=31)
        check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1, try_=20)
        check_whole(owner, "max_bins", self.max_bins, 2, try_=255)
        check_whole(owner, "max_depth", self.max_depth, 1, none=True, try_=6)
        for name, usual in [("gamma", 0.0), ("reg_lambda", 1.0), ("min_hessian", 1e-3)]:
            check_number(owner, name, getattr(self, name), least=0, try_=usual)
        for name in ["subsample", "max_features"]:
            check_number(owner, name, getattr(self, name), above=0, most=1, try_=1.0)

    def _table(self, X: Any, *, reset: bool = False) -> LearnerInput:
        """Return ``X`` as numbers for LightGBM; in ``fit`` learn the categories too."""
        owner = type(self).__name__
        if reset:
            if not hasattr(X, "shape"):
                X = check_array(X, dtype="numeric", ensure_all_finite="allow-nan")
            self.categories_ = {}
            if len(X.shape) == 2:
                columns = categorical_columns(owner, X, self.categorical_features)
                self.categories_ = learn_categories(X, columns)
        if self.categories_ and (is_frame(X) or isinstance(X, np.ndarray)):
            validate_data(self, X, reset=reset, skip_check_array=True)
            numbers = encode(owner, X, self.categories_)
            return LearnerInput(check_array(numbers, ensure_all_finite="allow-nan"), trusted=False)
        table = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )
        # LightGBM takes SciPy's sparse matrices, but not its sparse arrays.
        table = sparse.csr_matrix(table) if sparse.issparse(table) else table
        return LearnerInput(table, trusted=False)

    def _boost_loss(
        self, loss: Loss, rows: WeightedRows, groups: Any, seed: int, split_seed: int
    ) -> None:
        n_threads = effective_n_jobs(self.n_jobs)
        words, shift = self._words(seed, n_threads), _shift(loss, rows.y, rows.weight)

        def boost(
            part: WeightedRows, watch: WeightedRows | None, rounds: int, report: Report
        ) -> NewtonTrees:
            return train(
                words,
                loss,
                part,
                rounds,
                categorical=list(self.categories_),
                watch=watch,
                patience=self.n_iter_no_change,
                report=report,
            )

        shifted = WeightedRows(rows.table, rows.y - shift, rows.weight, rows.given)
        model = self._run(boost, shifted, groups, split_seed)
        self.model_ = model.shifted(shift)
        self.loss_ = loss
        self.booster_ = model.booster
        self.validation_loss_ = model.validation_loss
        self.n_estimators_ = model.rounds

    def _words(self, seed: int, n_threads: int) -> Words:
        words = tree_words(self.get_params(deep=False)) | {
            "seed": seed,
            "num_threads": n_threads,
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        constraints = self._constraints()
        if constraints is not None:
            words["monotone_constraints"] = constraints
        return words | (self.lightgbm_params or {})

    def _constraints(self) -> list[int] | None:
        wanted, n_features = self.monotonic_cst, self.n_features_in_
        if wanted is None:
            return None
        if isinstance(wanted, dict):
            names = list(getattr(self, "feature_names_in_", []))
            unknown = [name for name in wanted if name not in names]
            signs = [wanted.get(name, 0) for name in names] if not unknown else []
        else:
            signs = list(wanted)
        if len(signs) != n_features or not set(signs) <= {-1, 0, 1}:
            raise invalid_parameter(
                type(self).__name__,
                "monotonic_cst",
                must=f"give -1, 0 or 1 for the {n_features} columns, or a dict of their names",
                got=wanted if isinstance(wanted, dict) else Plain(repr(list(wanted))),
                fix="Use 0 for columns without a constraint.",
            )
        return [int(sign) for sign in signs]

    @property
    def feature_importances_(self) -> FloatArray:
        """Total gain of each column's splits, summing to one."""
        check_is_fitted(self, "model_")
        gains = self.booster_.feature_importance("gain")
        return gains / (gains.sum() or 1.0)


def _shift(loss: Loss, y: FloatArray, weight: FloatArray) -> float:
    """Return what to take from y so that LightGBM's single precision does not round it away."""
    if type(loss) is not Squared and not isinstance(loss, Quantile | Huber):
        return 0.0
    centre = float(np.average(y, weights=weight))
    spread = float(np.sqrt(np.average((y - centre) ** 2, weights=weight)))
    return centre if abs(centre) > FAR_FROM_ZERO * spread else 0.0
