"""Importance sampled learning ensembles as scikit-learn estimators."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from foldwise.arrays import Array, FloatArray
from foldwise.isle.inputs import training_data
from foldwise.isle.isle_base import ISLEBase
from foldwise.paths.classes import class_codes, class_probabilities
from foldwise.paths.parameters import check_counts, check_word, huber_delta


class ISLERegressor(RegressorMixin, ISLEBase):
    """Regression by a few trees, reweighted by the lasso.

    Many small trees are grown on small random parts of the rows, each seeing a little of what
    the trees before it have learned. A lasso over the trees drops most of them. [1]_

    Parameters
    ----------
    ensemble : estimator, optional
        An ensemble of trees to reweigh instead of growing one: it is cloned and fitted, or used
        as it is when it comes from :meth:`from_fitted`.
    loss : {"squared", "huber", "poisson"}, default="squared"
        What the trees and the lasso minimise.
    huber_delta : float, optional
        Where the Huber loss turns linear; None for 1.345 robust standard deviations of y.
    n_estimators : int, default=500
        Trees grown.
    max_leaf_nodes : int, default=6
        Leaves of a tree.
    subsample : float or "auto", default="auto"
        Part of the rows each tree sees, drawn without replacement (η); "auto" is
        min(1/2, (100 + 6 √n) / n). Less makes the trees more different.
    learning_rate : float, default=0.1
        How much each tree adds to what the next one sees (ν).
    min_samples_leaf : int, default=5
        Fewest (sampled) rows in a leaf.
    trees : {"lightgbm", "sklearn"}, default="lightgbm"
        Who grows the trees.
    post : {"lasso", "stagewise", "shrink"}, default="lasso"
        How coefficients are found: the lasso and forward stagewise drop trees; "shrink"
        penalises the distance from equal coefficients, so it keeps all trees and can hardly
        be worse than their plain average.
    non_negative : bool, default=False
        Whether coefficients below zero are ruled out ("lasso" and "shrink").
    choose : {"min", "1se"}, default="min"
        Penalty with the lowest cross-validated loss, or the largest within one standard error.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty; every row is tested exactly once.
    random_state : int, RandomState or None, default=None
        Seed of row samples and folds.
    n_jobs : int or None, default=None
        Threads that grow trees; they do not change the result.

    Attributes
    ----------
    n_trees_, n_trees_grown_ : int
        Trees kept and trees there were.
    n_leaves_, n_leaves_grown_ : int
        The same for leaves.
    speedup_ : float
        How much faster the kept trees predict up to 1,000 training rows, as timed in ``fit``.
    width_ : Width
        Width of the sampling scheme, and what it means (not for several classes).
    trees_ : TreeSet
        The kept trees, their leaves multiplied by their coefficients.
    intercepts_ : ndarray of shape (n_outputs,)
        Intercepts.
    cv_loss_, cv_se_ : ndarray of shape (n_points,)
        Cross-validated loss along the path and its standard error.
    index_ : int
        Point chosen.
    columns_ : Columns
        Names and levels of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The folds judge coefficients of trees that were grown on all rows. Where trees fit their own
    rows closely (forests of deep trees), reweigh a fitted forest on rows it has not seen.

    References
    ----------
    .. [1] Friedman and Popescu (2003). Importance sampled learning ensembles.
    .. [2] Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, 16.3.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(500, random_state=0)
    >>> isle = ISLERegressor(n_estimators=200, random_state=0).fit(X, y)
    >>> isle.n_trees_grown_
    200
    >>> isle.n_trees_ < 150
    True
    """

    def __init__(
        self,
        ensemble: Any = None,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        n_estimators: int = 500,
        max_leaf_nodes: int = 6,
        subsample: float | str = "auto",
        learning_rate: float = 0.1,
        min_samples_leaf: int = 5,
        trees: str = "lightgbm",
        post: str = "lasso",
        non_negative: bool = False,
        choose: str = "min",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            ensemble,
            n_estimators=n_estimators,
            max_leaf_nodes=max_leaf_nodes,
            subsample=subsample,
            learning_rate=learning_rate,
            min_samples_leaf=min_samples_leaf,
            trees=trees,
            post=post,
            non_negative=non_negative,
            choose=choose,
            cv=cv,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.loss = loss
        self.huber_delta = huber_delta

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the trees, or read them, and find their coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of a group stay in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        owner = type(self).__name__
        self._check_parameters()
        check_word(owner, "loss", self.loss, ("squared", "huber", "poisson"))
        data = training_data(self, X, y, sample_weight, groups, y_numeric=True)
        y = data.y.astype(np.float64)
        if self.loss == "poisson":
            check_counts(owner, y)
        return self._fit(data, y, self.loss, huber_delta(y, self.huber_delta))

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted means.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        decision = self._decision(X)[:, 0]
        return np.exp(decision) if self.loss == "poisson" else decision


class ISLEClassifier(ClassifierMixin, ISLEBase):
    """Classification by a few trees, reweighted by the logistic lasso.

    Parameters
    ----------
    ensemble, n_estimators, max_leaf_nodes, subsample, learning_rate, min_samples_leaf, trees, \
post, non_negative, choose, cv, random_state, n_jobs
        As in :class:`ISLERegressor`. With C > 2 classes, C trees are grown for each of
        ``n_estimators``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_trees_, n_trees_grown_, n_leaves_, n_leaves_grown_, speedup_, width_, trees_, \
intercepts_, cv_loss_, cv_se_, index_, columns_
        As in :class:`ISLERegressor`; losses are mean log-losses.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(100, max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> isle = ISLEClassifier.from_fitted(forest, random_state=0).fit(X, y)
    >>> isle.n_trees_ < 60
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the trees, or read them, and find their coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of a group stay in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        data = training_data(self, X, y, sample_weight, groups, y_numeric=False)
        self.classes_, codes = class_codes(type(self).__name__, data.y)
        loss = "logistic" if len(self.classes_) == 2 else "multinomial"
        return self._fit(data, codes, loss, 1.0)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second class, or the scores of several classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        decision = self._decision(X)
        return decision[:, 0] if len(self.classes_) == 2 else decision

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return class_probabilities(self._decision(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]
