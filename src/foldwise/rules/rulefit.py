"""Rule ensembles as scikit-learn estimators."""

from dataclasses import KW_ONLY, dataclass

from foldwise.isle.tree_sum import TreeSumClassifier, TreeSumRegressor
from foldwise.rules.base import RuleFitBase


@dataclass(eq=False, repr=False)
class RuleFitRegressor(TreeSumRegressor, RuleFitBase):
    """Regression by a short list of rules and linear terms.

    Small trees are grown on random parts of the rows; every node of every tree is a rule such
    as ``age <= 30 and income > 2e4``. A lasso over all rules and all columns keeps the few that
    are needed. [1]_

    Parameters
    ----------
    ensemble : estimator, optional
        A forest or boosted trees (scikit-learn, LightGBM, XGBoost) to take rules from instead of
        growing trees: it is cloned and fitted, or used as it is inside a FrozenEstimator.
    loss : {"squared", "huber", "poisson"}, default="squared"
        What the trees and the lasso minimise. "poisson" is for counts; predictions are means.
    huber_delta : float, optional
        Where the Huber loss turns linear; None for 1.345 robust standard deviations of y.
    n_estimators : int, default=500
        Trees grown; 0 for linear terms only.
    mean_leaves : float, default=4.0
        Mean number of leaves; the sizes are drawn as 2 + floor(Exp(mean_leaves − 2)).
    max_conditions : int, optional
        Most conditions in a rule; 1 makes the model additive.
    subsample : float or "auto", default="auto"
        Part of the rows each tree sees; "auto" is min(1/2, (100 + 6 √n) / n).
    learning_rate : float, default=0.05
        How much each tree adds to what the next one sees. Friedman and Popescu's 0.01, the
        default for classes, gives fewer rules; on tables with numeric targets it predicted
        worse.
    min_samples_leaf : int, default=5
        Fewest (sampled) rows in a leaf.
    linear_terms : bool, default=True
        Whether columns of numbers may enter as they are, and categories level by level.
    winsorize : float, default=0.025
        Share of rows cut off at each end of a linear term.
    max_terms : int, optional
        Most rules and linear terms kept. Their coefficients are then fitted anew with a penalty
        of their own (relaxed lasso), since the penalty that leaves few terms shrinks them much.
    l1_ratio : float, default=1.0
        1 for the lasso, less for the elastic net.
    choose : {"min", "1se"}, default="min"
        Penalty with the lowest cross-validated loss, or the largest within one standard error.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty; every row is tested exactly once.
    dictionary : {"regrown", "shared"}, default="regrown"
        Whether the folds judge rules grown anew without them, or rules grown once on all rows:
        faster, but then the folds find rules that fit noise as good as true ones and far too many
        are kept. Trees of a fitted model are always shared.
    cv_score : bool, default=True
        Whether ``score_`` is computed, for a fit more a fold.
    random_state : int, RandomState or None, default=None
        Seed of tree sizes, row samples and folds.
    n_jobs : int or None, default=None
        Threads that grow trees; they do not change the result.

    Attributes
    ----------
    rules_ : DataFrame
        Terms with a coefficient: text, coefficient, support, importance, pandas query.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column, summing to one.
    score_ : float
        Minus the mean squared error ("poisson": minus the mean deviance, "huber": minus the mean
        loss) of the training rows, each judged by rules and a penalty it had no part in. NaN where
        there is no such thing: a shared dictionary, the trees of a fitted model, two folds.
    score_se_ : float
        Its standard error, from rows or groups.
    lambdas_, cv_loss_, cv_se_ : ndarray of shape (n_lambdas,)
        Penalties of the path chosen, that of all terms or of the linear terms alone, their
        held-out loss (half the mean squared error for "squared") and its standard error: a curve
        to choose by. Its lowest point is too good to be a score.
    index_ : int
        Position of the chosen penalty.
    n_candidates_ : int
        Distinct terms to choose from.
    model_ : RuleModel
        The terms and coefficients.
    columns_ : Columns
        Names and levels of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Data frames may hold categories, text and booleans; missing values are allowed. A missing
    value passes a condition only where the rule says "or ... is missing". Thresholds are moved
    to the shortest number between two neighbouring data values, so the text is exactly the
    model. Rules that select the same rows, or each other's complement, are kept once.

    Where there are linear terms, their paths without any rule, cut off at ``winsorize`` and at the
    ends of the columns, are followed as well, and the folds choose: where straight lines are the
    truth, hundreds of rules to choose from are hundreds of chances to be wrong.

    All fits together are 2 cv + 1: of all rows, without each fold, and without each fold and the
    next. The second choose the penalty. The score of a fold is theirs too, but at the penalty that
    its two neighbours choose, judged by the third, which saw neither them nor the fold. Penalties
    are compared in units of the largest that matters, which each fit finds for itself.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles.
       Annals of Applied Statistics 2(3), 916-954.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 10, size=(300, 3))
    >>> y = 5.0 * ((X[:, 0] > 4) & (X[:, 1] <= 2)) + rng.normal(scale=0.1, size=300)
    >>> rules = RuleFitRegressor(n_estimators=50, max_terms=1, linear_terms=False, random_state=0)
    >>> rules = rules.fit(X, y)
    >>> rules.rules_["rule"][0]
    'x0 > 4 and x1 <= 2'
    """

    _: KW_ONLY
    learning_rate: float = 0.05


class RuleFitClassifier(TreeSumClassifier, RuleFitBase):
    """Classification by a short list of rules and linear terms.

    The logistic counterpart of :class:`RuleFitRegressor`: rules add to the log-odds of a class.

    Parameters
    ----------
    ensemble, n_estimators, mean_leaves, max_conditions, subsample, learning_rate, \
min_samples_leaf, linear_terms, winsorize, max_terms, l1_ratio, choose, cv, dictionary, \
cv_score, random_state, n_jobs
        As in :class:`RuleFitRegressor`. With C > 2 classes, C trees are grown for each of
        ``n_estimators``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    rules_, feature_importances_, score_, score_se_, lambdas_, cv_loss_, cv_se_, index_, \
n_candidates_, model_, columns_
        As in :class:`RuleFitRegressor`; the loss is the log-loss. With several classes
        ``rules_`` has one column of coefficients a class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> rules = RuleFitClassifier(n_estimators=50, max_terms=5, random_state=0).fit(X, y)
    >>> len(rules.rules_) <= 5
    True
    >>> rules.predict_proba(X[:2]).shape
    (2, 2)
    """
