"""Newton boosted trees for numbers and for classes: the BDT of the slides, on LightGBM."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from lightgbm.basic import LightGBMError
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost import newton_trees
from foldwise.boost.booster import BoostedClassifier, BoostedRegressor, LossBooster
from foldwise.boost.early_stopping import SetApart
from foldwise.checks import check_jobs, check_number, check_type, check_whole
from foldwise.errors import Plain, invalid_parameter, warn
from foldwise.learners.encoded import EncodedRows
from foldwise.learners.in_parts import RowsInParts, is_worth_it
from foldwise.learners.one_learner import LearnerInput, WeightedRows, is_frame
from foldwise.learners.watched import Part
from foldwise.losses import Huber, Loss, Quantile, Squared

FAR_FROM_ZERO = 100.0
MOST_LEAVES = 2**17  # that LightGBM takes


@dataclass(eq=False, repr=False)
class NewtonBoosting(LossBooster):
    """Parameters, their checks, tables with categories, and LightGBM's rounds."""

    loss: Any = "auto"
    _: KW_ONLY
    max_leaf_nodes: int = 31
    max_depth: int | None = None
    gamma: float = 0.0
    reg_lambda: float = 1.0
    min_samples_leaf: int | str = "auto"
    min_hessian: float = 1e-3
    max_bins: int = 255
    monotonic_cst: Any = None
    categorical_features: Any = "from_dtype"
    max_seconds: float | None = None
    lightgbm_params: dict[str, Any] | None = None
    n_jobs: int | None = None

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_whole(owner, "max_leaf_nodes", self.max_leaf_nodes, 2, try_=31)
        check_number(
            owner, "max_leaf_nodes", self.max_leaf_nodes, least=2, most=MOST_LEAVES, try_=31
        )
        if self.min_samples_leaf != "auto":
            check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1, try_=20)
        if self.max_seconds is not None:
            check_number(owner, "max_seconds", self.max_seconds, above=0, try_=60)
        words = {} if self.lightgbm_params is None else self.lightgbm_params
        newton_trees.check_words(owner, words)
        check_whole(owner, "max_bins", self.max_bins, 2, try_=255)
        check_jobs(owner, self.n_jobs)
        check_whole(owner, "max_depth", self.max_depth, 1, none=True, try_=6)
        for name, usual in [("gamma", 0.0), ("reg_lambda", 1.0), ("min_hessian", 1e-3)]:
            check_number(owner, name, getattr(self, name), least=0, try_=usual)

    def _table(self, X: Any, *, reset: bool = False) -> LearnerInput:
        """Return ``X`` as numbers for LightGBM; in ``fit`` learn the categories too."""
        owner = type(self).__name__
        if isinstance(X, RowsInParts):
            self.categories_ = dict[int, Array]()
            validate_data(self, X[:1], reset=reset, ensure_all_finite="allow-nan")
            return LearnerInput(X, trusted=False)
        if reset:
            if not hasattr(X, "shape"):
                X = check_array(X, dtype="numeric", ensure_all_finite="allow-nan")
            self.categories_ = {}
            if len(X.shape) == 2:
                columns = newton_trees.categorical_columns(owner, X, self.categorical_features)
                self.categories_ = newton_trees.learn_categories(X, columns)
        if self.categories_ and (is_frame(X) or isinstance(X, np.ndarray)):
            validate_data(self, X, reset=reset, skip_check_array=True)
            numbers = newton_trees.encode(owner, X, self.categories_)
            return LearnerInput(check_array(numbers, ensure_all_finite="allow-nan"), trusted=False)
        rules = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        table = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan", **rules)
        # LightGBM takes SciPy's sparse matrices, but not its sparse arrays.
        table = sparse.csr_matrix(table) if sparse.issparse(table) else table
        return LearnerInput(table, trusted=False)

    def _boost_loss(
        self, loss: Loss, rows: WeightedRows, apart: SetApart, seed: int, split_seed: int
    ) -> None:
        words, shift = self._words(seed, len(rows)), _shift(loss, rows.y, rows.weight)
        ends: dict[str, Any] = {"patience": self.n_iter_no_change, "seconds": self.max_seconds}
        boost = partial(newton_trees.train, words, loss, categorical=list(self.categories_), **ends)
        try:
            if self.lightgbm_params:
                newton_trees.try_words(words, rows.table.X.shape[1])
            if isinstance(apart, list):
                apart = [replace(part, y=part.y - shift) for part in apart]
            model = self._run(boost, replace(rows, y=rows.y - shift), apart, split_seed)
        except LightGBMError as error:
            name, must = "lightgbm_params", "be what LightGBM can train with"
            owner, got = type(self).__name__, self.lightgbm_params
            fix = f"LightGBM says: {str(error).split(' at /')[0].strip()}"
            raise invalid_parameter(owner, name, must=must, got=got, fix=fix) from error
        self._take(replace(model, offset=model.offset + shift))

    def _take(self, model: newton_trees.NewtonTrees) -> None:
        self.model_ = model
        self.booster_ = model.booster
        self.validation_loss_ = model.validation_loss
        self.n_estimators_ = model.rounds

    def _fit_watching(
        self, X: Any, y: Any, watched: Sequence[Part], sample_weight: Any = None
    ) -> tuple[int, ...]:
        """Boost until the loss has stopped falling on each watched part; return where it did."""
        self._fit(X, y, sample_weight, None, watched)
        return self.model_.best_rounds

    def _reads_parts(self, rows: EncodedRows, *, watched: bool) -> RowsInParts | None:
        """Return rows as ``fit`` reads them without a copy; None if it needs one."""
        ours = type(self) in (NewtonBoostingRegressor, NewtonBoostingClassifier)
        told = self.categorical_features is not None and self.categorical_features != "from_dtype"
        if not ours or told or (self.early_stopping and not watched):
            return None
        return RowsInParts(rows.X, rows.rows, rows)

    def _answering(self, rounds: Sequence[int], X: Any) -> dict[int, Self]:
        """Return models of the first rounds, by their number, that can be asked about X only."""
        found = self.model_.firsts(rounds, self._table(X))
        return {number: self._with_model(model) for number, model in found.items()}

    def _first(self, rounds: int) -> Self:
        """Return the fitted model of the first rounds."""
        return self._with_model(replace(self.model_.first(rounds), validation_loss=None))

    def _with_model(self, model: newton_trees.NewtonTrees) -> Self:
        other = copy(self)
        other._take(model)
        return other

    def _part(self, rows: WeightedRows, inside: IntArray) -> WeightedRows:
        X = rows.table.X
        if not is_worth_it(X, inside):
            return rows.part(inside)
        table = LearnerInput(RowsInParts(X, inside), trusted=False)
        return WeightedRows(table, rows.y[inside], rows.weight[inside], rows.given)

    def _words(self, seed: int, n_rows: int) -> newton_trees.Words:
        words = newton_trees.tree_words(self.get_params(deep=False)) | {
            "min_data_in_leaf": self._least_leaf(n_rows),
            "seed": seed,
            "num_threads": effective_n_jobs(self.n_jobs),
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        constraints = self._constraints()
        if constraints is not None:
            words["monotone_constraints"] = constraints
        words |= self.lightgbm_params or {}
        newton_trees.check_monotone(type(self).__name__, words, list(self.categories_))
        return words

    def _least_leaf(self, n_rows: int) -> int:
        if self.min_samples_leaf == "auto":
            return min(20, max(1, n_rows // 10))
        least = int(self.min_samples_leaf)
        if n_rows < 2 * least:
            warn(
                f"{type(self).__name__}: min_samples_leaf={least} allows no split of {n_rows} "
                "rows, so that the predictions are constant. Use 'auto'."
            )
        return least

    def _constraints(self) -> list[int] | None:
        wanted, n_features = self.monotonic_cst, self.n_features_in_
        if wanted is None:
            return None
        if isinstance(wanted, dict):
            names = list(getattr(self, "feature_names_in_", []))
            unknown = [name for name in wanted if name not in names]
            signs = [wanted.get(name, 0) for name in names] if not unknown else []
        else:
            must, fix = "be a list of -1, 0 and 1, a dict or None", "Give one number a column."
            check_type(type(self).__name__, "monotonic_cst", wanted, Iterable, must, fix)
            signs = list(wanted)
        if len(signs) != n_features or not set(signs) <= {-1, 0, 1}:
            owner = type(self).__name__
            must = f"give -1, 0 or 1 for the {n_features} columns, or a dict of their names"
            got = wanted if isinstance(wanted, dict) else Plain(repr(list(wanted)))
            fix = "Use 0 for columns without a constraint."
            raise invalid_parameter(owner, "monotonic_cst", must=must, got=got, fix=fix)
        return [int(sign) for sign in signs]

    @property
    def feature_importances_(self) -> FloatArray:
        """Total gain of each column's splits, summing to one."""
        check_is_fitted(self, "model_")
        gains = self.booster_.feature_importance("gain")
        return gains / (gains.sum() or 1.0)


@dataclass(eq=False, repr=False)
class NewtonBoostingRegressor(BoostedRegressor, NewtonBoosting):
    """Boosted regression trees by Newton steps: leaf value −G/(H+λ), gain of a split less γ.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        "squared", "absolute", "huber", "quantile", "poisson", "tweedie", or a loss of your own
        (:class:`~foldwise.losses.CustomLoss`). Poisson and Tweedie predict exp(F).
    n_estimators : int, default=100
        Rounds at most.
    learning_rate : float, default=0.1
        The shrinkage ρ.
    max_leaf_nodes : int, default=31
        Leaves of a tree at most.
    max_depth : int or None, default=None
        Depth of a tree at most.
    gamma : float, default=0.0
        The price γ of a leaf: a split must gain more than it.
    reg_lambda : float, default=1.0
        The penalty λ of ½ λ Σ w² over the leaf values.
    subsample : float, default=1.0
        The share η of rows drawn for each tree.
    max_features : float, default=1.0
        The share of columns drawn for each tree.
    min_samples_leaf : int or "auto", default="auto"
        Rows in a leaf at least. "auto": 20, of fewer than 200 rows a tenth of them.
    min_hessian : float, default=1e-3
        Sum of second derivatives in a leaf at least.
    max_bins : int, default=255
        Bins of a column at most; splits are looked for between them.
    monotonic_cst : array-like of {-1, 0, 1} or dict of name to such, optional
        Columns in which the prediction must fall (-1) or rise (1).
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        Columns that hold categories. "from_dtype" takes the text and category columns of a data
        frame. A value not seen in ``fit`` counts as missing.
    quantile : float, default=0.9
        Level of the quantile loss; of the threshold of Huber's, set once from ``|y − median|``.
    power : float, default=1.5
        Power of the Tweedie loss, at least 1 and below 2.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    max_seconds : float or None, default=None
        Boosting ends after the round in which they are over, each time it is done.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found, times the ratio of row
        numbers, meant over the splits, ``n_estimators`` at most; or for as many. None keeps the
        model of the one split.
    lightgbm_params : dict, optional
        Anything else, in LightGBM's words; it wins over the parameters above.
    n_jobs : int or None, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState or None, default=None
        Seeds the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees.
    n_estimators_ : int
        Rounds.
    validation_loss_ : ndarray of shape (n_rounds,) or None
        LightGBM's metric on the rows set apart, if ``refit=None``: the curve by which the number
        of rounds was chosen, so that its lowest point is no honest score.
    feature_importances_ : ndarray of shape (n_features,)
        Total gain of each column's splits, summing to one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    gain = ½ [G_L²/(H_L+λ) + G_R²/(H_R+λ) − (G_L+G_R)²/(H_L+H_R+λ)] − γ. LightGBM's gain has no ½:
    γ is its ``min_gain_to_split`` of 2γ. Below a node LightGBM does not look again at a column
    that gained no more than γ there. LightGBM keeps y in single precision; where y lies far
    from zero for its spread it is shifted first (squared, absolute, Huber and quantile losses).

    References
    ----------
    .. [1] Ke et al. (2017). LightGBM: a highly efficient gradient boosting decision tree.
    .. [2] Chen, Guestrin (2016). XGBoost: a scalable tree boosting system.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(300, random_state=0)
    >>> model = NewtonBoostingRegressor(early_stopping=True, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    loss: Any = "squared"


class NewtonBoostingClassifier(BoostedClassifier, NewtonBoosting):
    """Boosted trees for classes by Newton steps: leaf value −G/(H+λ), gain of a split less γ.

    Parameters
    ----------
    loss : str or Loss, default="auto"
        "logistic", "exponential" (two classes), "multinomial", "auto" (logistic or multinomial),
        or a loss of your own for two classes coded 0 and 1.
    n_estimators : int, default=100
        Rounds at most.
    learning_rate : float, default=0.1
        The shrinkage ρ.
    max_leaf_nodes : int, default=31
        Leaves of a tree at most.
    max_depth : int or None, default=None
        Depth of a tree at most.
    gamma : float, default=0.0
        The price γ of a leaf: a split must gain more than it.
    reg_lambda : float, default=1.0
        The penalty λ of ½ λ Σ w² over the leaf values.
    subsample : float, default=1.0
        The share η of rows drawn for each tree.
    max_features : float, default=1.0
        The share of columns drawn for each tree.
    min_samples_leaf : int or "auto", default="auto"
        Rows in a leaf at least. "auto": 20, of fewer than 200 rows a tenth of them.
    min_hessian : float, default=1e-3
        Sum of second derivatives in a leaf at least.
    max_bins : int, default=255
        Bins of a column at most; splits are looked for between them.
    monotonic_cst : array-like of {-1, 0, 1} or dict of name to such, optional
        Columns in which the prediction must fall (-1) or rise (1).
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        Columns that hold categories. "from_dtype" takes the text and category columns of a data
        frame. A value not seen in ``fit`` counts as missing.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    max_seconds : float or None, default=None
        Boosting ends after the round in which they are over, each time it is done.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found, times the ratio of row
        numbers, meant over the splits, ``n_estimators`` at most; or for as many. None keeps the
        model of the one split.
    lightgbm_params : dict, optional
        Anything else, in LightGBM's words; it wins over the parameters above.
    n_jobs : int or None, default=None
        Threads, as scikit-learn counts them.
    random_state : int, RandomState or None, default=None
        Seeds the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    booster_ : lightgbm.Booster
        The trees.
    n_estimators_ : int
        Rounds.
    validation_loss_ : ndarray of shape (n_rounds,) or None
        LightGBM's metric on the rows set apart, if ``refit=None``: the curve by which the number
        of rounds was chosen, so that its lowest point is no honest score.
    feature_importances_ : ndarray of shape (n_features,)
        Total gain of each column's splits, summing to one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    See Also
    --------
    NewtonBoostingRegressor : The same for numbers, with the formulas.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NewtonBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    """


def _shift(loss: Loss, y: FloatArray, weight: FloatArray) -> float:
    """Return what to take from y so that LightGBM's single precision does not round it away."""
    if type(loss) is not Squared and not isinstance(loss, Quantile | Huber):
        return 0.0
    centre = float(np.average(y, weights=weight))
    spread = float(np.sqrt(np.average((y - centre) ** 2, weights=weight)))
    return centre if abs(centre) > FAR_FROM_ZERO * spread else 0.0
