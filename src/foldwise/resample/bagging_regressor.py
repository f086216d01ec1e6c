"""Bagging for numbers."""

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from foldwise.arrays import FloatArray
from foldwise.checks import check_number
from foldwise.learners.one_learner import LearnerInput
from foldwise.resample.bag import BagMember
from foldwise.resample.bagging import Bagging
from foldwise.resample.draws import ROW_SCHEMES, TARGET_SCHEMES, NewNumbers, new_numbers


class BaggingRegressor(RegressorMixin, Bagging):
    """The mean of learners fitted on resampled data, and how much it varies.

    Parameters
    ----------
    estimator : regressor, optional
        The learner; a fully grown tree by default.
    n_estimators : int, default=100
        How many learners.
    sampling : str, default="bootstrap"
        What each learner is fitted on. "bootstrap": rows drawn with replacement; "subsample":
        without; "bayesian": all rows, with exponential weights; "parametric":
        all rows with y* = f̂(x) + ε, ε Gaussian; "residual": the same with ε drawn from
        residuals; "noise": all rows with y + ε, ε Gaussian.
    max_samples : float or int, default=1.0
        Share or number of the rows (of the groups, if there are any) drawn.
    max_features : float, default=1.0
        Share of the columns drawn for each learner, without replacement.
    split_features : int, float, "sqrt" or "log2", optional
        Columns drawn at each split, for learners that are trees: their ``max_features``. With
        the bootstrap that makes a random forest.
    generator : regressor, optional
        The model of f̂; the learner by default.
    noise : float, optional
        Standard deviation of ε; by default the root mean square of five-fold residuals of the
        generator.
    oob_score : bool, default=False
        Whether to predict each row by the learners that did not have it.
    n_jobs : int or None, default=None
        Workers; the result does not depend on them.
    random_state : int, RandomState or None, default=None
        Seeds the draws, and learners whose own is None.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line every ten learners.

    Attributes
    ----------
    estimators_ : list of estimators
        The learners.
    estimators_features_ : list of ndarray
        The columns each of them reads.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, if ``oob_score``; NaN for rows that every learner had.
    oob_score_ : float
        R² of the out-of-bag predictions, if ``oob_score``.
    oob_score_se_ : float
        Its standard error, from the rows (from the groups, if there are any).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    Weights: the bootstrap of rows draws by them; all other schemes pass them to the learners.
    Groups are drawn whole. Rows a learner was not given are absent from its fit, not given a
    weight of zero.

    References
    ----------
    .. [1] Breiman (1996). Bagging predictors.
    .. [2] Wager, Hastie, Efron (2014). Confidence intervals for random forests: the jackknife
       and the infinitesimal jackknife.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = BaggingRegressor(split_features=0.33, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.7
    True
    >>> forest.confidence_interval(X[:3]).shape
    (3, 2)
    """

    _schemes = ROW_SCHEMES + TARGET_SCHEMES

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        sampling: str = "bootstrap",
        max_samples: float | int = 1.0,
        max_features: float = 1.0,
        split_features: Any = None,
        generator: Any = None,
        noise: float | None = None,
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.split_features = split_features
        self.generator = generator
        self.noise = noise
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _default_learner(self) -> Any:
        return DecisionTreeRegressor()

    def _check_parameters(self, groups: Any) -> None:
        super()._check_parameters(groups)
        if self.noise is not None:
            check_number(type(self).__name__, "noise", self.noise, above=0, try_=1.0)

    def _new_targets(
        self,
        generator: Any,
        table: LearnerInput,
        y: FloatArray,
        weight: FloatArray | None,
        seed: int,
    ) -> NewNumbers:
        return new_numbers(self.sampling, generator, table, y, weight, self.noise, seed)

    def _tally(self, member: BagMember, table: LearnerInput) -> FloatArray:
        return member.answer(table, "predict")

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the learners' predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._mean(X)

    def confidence_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return an interval for the expected prediction, over training sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            How often it should hold.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends. It tells the error of the model's mean, not of a new y. Draws
            of rows: by the infinitesimal jackknife. New targets: from the learners' spread.
        """
        return self._interval(X, level)
