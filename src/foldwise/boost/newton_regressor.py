"""Newton boosted trees for numbers: the BDT of the slides, on LightGBM."""

from collections.abc import Iterator
from typing import Any, Self

from sklearn.base import RegressorMixin

from foldwise.arrays import FloatArray
from foldwise.boost._newton_base import NewtonBoosting
from foldwise.boost._newton_fit import check_newton, fit_newton, table_of
from foldwise.boost._parameters import check_number
from foldwise.boost.learner import check_targets, check_weights
from foldwise.losses.numbers import regression_loss


class NewtonBoostingRegressor(RegressorMixin, NewtonBoosting):
    """Boosted regression trees by Newton steps: leaf value −G/(H+λ), gain of a split less γ.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        "squared", "absolute", "huber", "quantile", "poisson", "tweedie", or a loss of your own
        (:class:`~foldwise.boost.CustomLoss`). Poisson and Tweedie predict exp(F).
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
    min_samples_leaf : int, default=20
        Rows in a leaf at least.
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
        Level of the quantile loss; of the threshold of Huber's, set once from |y − median|.
    power : float, default=1.5
        Power of the Tweedie loss, at least 1 and below 2.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found, times the ratio of row
        numbers, meant over the splits; or for as many. None keeps the model of the one split.
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
        LightGBM's metric on the rows set apart, if ``refit=None``.
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

    def __init__(
        self,
        loss: Any = "squared",
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
        quantile: float = 0.9,
        power: float = 1.5,
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
        self.quantile = quantile
        self.power = power
        self.early_stopping = early_stopping
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.lightgbm_params = lightgbm_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features; NaN is missing.
        y : array-like of shape (n_samples,)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows are set apart.

        Returns
        -------
        Self
            The fitted regressor.
        """
        owner = type(self).__name__
        check_newton(self)
        check_number(owner, "quantile", self.quantile, above=0, below=1, try_=0.9)
        check_number(owner, "power", self.power, least=1, below=2, try_=1.5)
        loss = regression_loss(owner, self.loss, self.quantile, self.power)
        table = table_of(self, X, reset=True)
        y = check_targets(self, table, y, classes=False)
        weight = check_weights(self, sample_weight, len(y))
        fit_newton(self, table, y, weight, sample_weight is not None, groups, loss)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        raw = self._raw(X)
        return self.loss_.inverse_link(raw)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict` after each round."""
        return (self.loss_.inverse_link(raw) for raw in self._staged_raw(X))
