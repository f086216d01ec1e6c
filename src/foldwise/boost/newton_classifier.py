"""Newton boosted trees for classes: the BDT of the slides, on LightGBM."""

from foldwise.boost.booster import BoostedClassifier
from foldwise.boost.newton import NewtonBoosting


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
