"""Newton boosted trees for classes: the BDT of the slides, on LightGBM."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from foldwise.arrays import Array, FloatArray
from foldwise.boost._newton_base import NewtonBoosting
from foldwise.boost._newton_fit import check_newton, fit_newton, table_of
from foldwise.boost._parameters import needs_two_classes
from foldwise.boost.learner import check_targets, check_weights
from foldwise.losses.classes import class_codes, class_loss


class NewtonBoostingClassifier(ClassifierMixin, NewtonBoosting):
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
    classes_ : ndarray of shape (n_classes,)
        The classes.
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features; NaN is missing.
        y : array-like of shape (n_samples,)
            Training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows are set apart.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_newton(self)
        table = table_of(self, X, reset=True)
        y = check_targets(self, table, y, classes=True)
        weight = check_weights(self, sample_weight, len(y))
        self.classes_, codes = class_codes(y)
        needs_two_classes(self, self.classes_)
        loss = class_loss(type(self).__name__, self.loss, len(self.classes_))
        y = codes.astype(float)
        fit_newton(self, table, y, weight, sample_weight is not None, groups, loss)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the raw prediction F.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            F.
        """
        raw = self._raw(X)
        return raw[:, 1] - raw[:, 0] if raw.shape[1:] == (2,) else raw

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._probabilities(self._raw(X))

    def predict(self, X: Any) -> Array:
        """Return the likeliest class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict_proba` after each round."""
        return (self._probabilities(raw) for raw in self._staged_raw(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield :meth:`predict` after each round."""
        return (self.classes_[p.argmax(axis=1)] for p in self.staged_predict_proba(X))

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        answer = self.loss_.inverse_link(raw)
        return answer if answer.ndim == 2 else np.column_stack([1 - answer, answer])
