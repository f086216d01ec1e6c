"""Importance sampled learning ensembles: many trees grown or read, the few needed kept."""

import timeit
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.checks import check_whole, check_word
from foldwise.isle.choice import Grown, Rivals, fit_terms
from foldwise.isle.data import CodedTable, TreeData, new_table
from foldwise.isle.grow import Growth, fitted_ensemble, grow_sklearn_trees, grow_trees
from foldwise.isle.linear_terms import LinearTerms, linear_terms
from foldwise.isle.postprocess import reweigh
from foldwise.isle.tree_set import TreeSet, lightgbm_set, read_trees, sklearn_set
from foldwise.isle.tree_sum import TreeSum, TreeSumClassifier, TreeSumRegressor
from foldwise.isle.width import best_single_tree, sampling_width

# Shares of rows at which the ends of linear terms are cut off, as in rule ensembles.
TAILS = (0.025, 0.0)


@dataclass(eq=False, repr=False)
class ISLEBase(TreeSum):
    """What the regressor and the classifier share."""

    _: KW_ONLY
    max_leaf_nodes: int = 6
    learning_rate: float = 0.1
    trees: str = "lightgbm"
    post: str = "lasso"
    non_negative: bool = False

    @classmethod
    def from_fitted(cls, model: Any, **parameters: Any) -> Self:
        """Return an unfitted estimator that will reweigh the trees of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            A forest, extra trees, gradient boosting, AdaBoost or bagging of decision trees by
            scikit-learn, or a LightGBM or XGBoost model. It is never changed or refitted.
        **parameters
            Parameters of the estimator.

        Returns
        -------
        Self
            Call ``fit(X, y)`` next. Rows the model has not seen give the best coefficients;
            its own training rows will do for small or heavily subsampled trees.
        """
        return cls(FrozenEstimator(model), **parameters)

    def _check_parameters(self, owner: str) -> None:
        super()._check_parameters(owner)
        check_whole(owner, "n_estimators", self.n_estimators, 1, try_=500)
        check_whole(owner, "max_leaf_nodes", self.max_leaf_nodes, 2, try_=6)
        check_word(owner, "trees", self.trees, ("lightgbm", "sklearn"))
        check_word(owner, "post", self.post, ("lasso", "stagewise", "shrink"))

    def _fit(self, owner: str, data: TreeData, rng: np.random.Generator) -> None:
        growth = self._growth((self.max_leaf_nodes,) * self.n_estimators, rng)
        once = None if self._regrows else self._dictionary(owner, data, growth)

        def fit(rows: TreeData) -> Rivals:
            trees = self._dictionary(owner, rows, growth) if once is None else once
            columns = trees.matrix(rows.table)
            path = reweigh(columns, rows, self.post, non_negative=self.non_negative)
            # Trees that saw the folds would look better there than lines that did not.
            tails = TAILS if self.linear_terms and once is None else ()
            lines = [linear_terms(rows.table, rows.weight, tail) for tail in tails]
            return (*(fit_terms(each, rows) for each in lines), Grown(rows, trees, path))

        choice = self._choose(owner, data, rng, fit)
        grown, X = choice.rivals[-1], data.table.values
        dictionary, coefs = grown.dictionary, choice.coefs
        self.lines_: LinearTerms | None = None
        self.line_coefs_: Any = None
        self.intercepts_ = choice.intercepts
        if choice.grown is not grown:
            used = np.flatnonzero(coefs.any(axis=0))
            self.lines_, self.line_coefs_ = choice.grown.dictionary[used], coefs[:, used]
            coefs = np.zeros_like(np.atleast_2d(grown.path.coefs[0]))
        self.trees_ = dictionary.reweighted(coefs)
        self.n_trees_, self.n_trees_grown_ = len(self.trees_), len(dictionary)
        self.n_leaves_, self.n_leaves_grown_ = sum(self.trees_.n_leaves), sum(dictionary.n_leaves)
        few = data.table.rows(np.arange(min(1000, len(data.y))))
        seconds = _seconds(lambda: dictionary.weighted_sum(few.values))
        self.speedup_ = seconds / _seconds(lambda: self._sums(few))
        if data.loss != "multinomial":
            n_leaves, seed = int(np.median(dictionary.n_leaves)), int(rng.integers(2**31 - 1))
            best = best_single_tree(X, data.y, data.weight, n_leaves, seed)
            columns = dictionary.columns(X)
            self.width_ = sampling_width(columns, best, data.y, data.weight, data.loss)

    def _dictionary(self, owner: str, data: TreeData, growth: Growth) -> TreeSet:
        if self.ensemble is not None:
            return read_trees(owner, fitted_ensemble(owner, self.ensemble, data))
        if self.trees == "sklearn":
            return sklearn_set(grow_sklearn_trees(owner, data, growth))
        return lightgbm_set(grow_trees(data, growth), 1 / growth.memory)

    def _linear(self, X: Any) -> FloatArray:
        return self._sums(new_table(self, X))

    def _sums(self, table: CodedTable) -> FloatArray:
        out = np.tile(self.intercepts_, (table.n_rows, 1))
        if self.lines_ is not None:
            return out + self.lines_.matrix(table) @ self.line_coefs_.T
        return out + self.trees_.weighted_sum(table.values)

    def summary(self) -> str:
        """Return in a few lines how much smaller the ensemble has become.

        Returns
        -------
        str
            Trees, leaves, speed and width.
        """
        check_is_fitted(self)
        lines = [
            f"trees   {self.n_trees_} of {self.n_trees_grown_}",
            f"leaves  {self.n_leaves_} of {self.n_leaves_grown_}",
            *([] if self.lines_ is None else [f"lines   {len(self.lines_)} instead of trees"]),
            f"speed   {self.speedup_:.1f} times faster to predict, measured on training rows",
        ]
        if hasattr(self, "width_"):
            lines.append(str(self.width_))
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self.trees == "lightgbm"
        return tags


@dataclass(eq=False, repr=False)
class ISLERegressor(TreeSumRegressor, ISLEBase):
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
        How much each tree adds to what the next one sees (ν), from 0 to 1; at 0 no tree knows of
        the others.
    min_samples_leaf : int, default=5
        Fewest (sampled) rows in a leaf.
    trees : {"lightgbm", "sklearn"}, default="lightgbm"
        Who grows the trees.
    linear_terms : bool, default=True
        Whether the folds may choose a lasso over the columns themselves, categories level by level,
        instead of trees: where straight lines are the truth, no sum of few trees predicts as well.
        Two lasso paths more a fit; not with a shared dictionary, whose trees have seen the folds.
    post : {"lasso", "stagewise", "shrink"}, default="lasso"
        How coefficients are found: the lasso and forward stagewise drop trees; "shrink"
        penalises the distance from equal coefficients, so it keeps all trees, their plain average
        among the choices, or on noise none.
    non_negative : bool, default=False
        Whether coefficients below zero are ruled out ("lasso" and "shrink").
    choose : {"min", "1se"}, default="min"
        Penalty with the lowest cross-validated loss, or the largest within one standard error.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty; every row is tested exactly once.
    dictionary : {"regrown", "shared"}, default="regrown"
        Whether the folds judge trees grown anew without them, or trees grown once on all rows:
        faster, but then the folds find trees that fit noise as good as true ones and far too many
        are kept. Trees of a fitted model are always shared.
    cv_score : bool, default=True
        Whether ``score_`` is computed, for a fit more a fold.
    random_state : int, RandomState or None, default=None
        Seed of row samples and folds.
    n_jobs : int or None, default=None
        Threads that grow trees; they do not change the result.

    Attributes
    ----------
    n_trees_, n_trees_grown_ : int
        Trees kept, none where lines were chosen, and trees there were.
    n_leaves_, n_leaves_grown_ : int
        The same for leaves.
    speedup_ : float
        How much faster the model predicts up to 1,000 training rows than all trees, as timed in
        ``fit``.
    width_ : Width
        Width of the sampling scheme, and what it means (not for several classes).
    trees_ : TreeSet
        The kept trees, their leaves multiplied by their coefficients.
    lines_ : LinearTerms or None
        The linear terms chosen instead of trees.
    line_coefs_ : ndarray of shape (n_outputs, n_lines) or None
        Their coefficients.
    intercepts_ : ndarray of shape (n_outputs,)
        Intercepts.
    score_ : float
        Minus the mean squared error ("poisson": minus the mean deviance, "huber": minus the mean
        loss) of the training rows, each judged by trees and a penalty it had no part in; see
        :class:`foldwise.RuleFitRegressor`. NaN where there is no such thing: a shared
        dictionary, the trees of a fitted model, two folds.
    score_se_ : float
        Its standard error, from rows or groups.
    cv_loss_, cv_se_ : ndarray of shape (n_points,)
        Held-out loss along the path and its standard error: a curve to choose by. Its lowest
        point is too good to be a score.
    index_ : int
        Point chosen.
    columns_ : Columns
        Names and levels of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The trees of a fitted model cannot be grown again, so that the folds judge coefficients of trees
    that may have seen them. Where trees fit their own rows closely (forests of deep trees),
    reweigh a fitted forest on rows it has not seen.

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


class ISLEClassifier(TreeSumClassifier, ISLEBase):
    """Classification by a few trees, reweighted by the logistic lasso.

    Parameters
    ----------
    ensemble, n_estimators, max_leaf_nodes, subsample, learning_rate, min_samples_leaf, trees, \
linear_terms, post, non_negative, choose, cv, dictionary, cv_score, random_state, n_jobs
        As in :class:`ISLERegressor`. With C > 2 classes, C trees are grown for each of
        ``n_estimators``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_trees_, n_trees_grown_, n_leaves_, n_leaves_grown_, speedup_, width_, trees_, \
lines_, line_coefs_, intercepts_, score_, score_se_, cv_loss_, cv_se_, index_, columns_
        As in :class:`ISLERegressor`; the loss is the log-loss.

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


def _seconds(answer: Callable[[], Any]) -> float:
    """Return the shortest of three times an answer takes."""
    return max(min(timeit.repeat(answer, number=1, repeat=3)), 1e-9)
