"""Gradient boosting of classes over any regressor, or over a set of them."""

from foldwise.boost.booster import BoostedClassifier
from foldwise.boost.gradient import GradientBoosting


class GradientBoostingClassifier(BoostedClassifier, GradientBoosting):
    """Gradient boosting of a class loss over any regressor, or over a set of them.

    Parameters
    ----------
    estimator : regressor, list of regressors or of (name, regressor), optional
        The learner, a *regressor*, for it is fitted to gradients; a tree of depth 3 by default.
        Of a list, each round fits all and keeps the one that lowers the training loss most.
    loss : str or Loss, default="auto"
        "logistic", "exponential" (two classes), "multinomial", "auto" (logistic or multinomial),
        or a loss of your own for two classes coded 0 and 1.
    n_estimators : int, default=100
        Rounds at most; a round of the multinomial loss adds one learner a class.
    learning_rate : float, default=0.1
        The shrinkage ρ.
    step : {"auto", "leaf", "line", "fixed"}, default="auto"
        How α is found: one step a leaf of a tree, one for the whole round by line search, or 1.
        "auto" is "leaf" for scikit-learn trees and "line" for others.
    subsample : float, default=1.0
        The share η of rows drawn for each round, without replacement.
    max_features : float, default=1.0
        The share of columns drawn for each round, without replacement.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found times the ratio of row
        numbers, or for as many. None keeps the model of the one split.
    random_state : int, RandomState or None, default=None
        Seeds learners whose own is None, the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of tuple of regressors
        The learners kept, one tuple a round.
    steps_ : ndarray of shape (n_rounds,)
        Their steps α (1 where the leaves hold them).
    members_ : ndarray of int, shape (n_rounds,)
        Which learner of the set each round kept.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean training loss after each round.
    loss_ : Loss
        The loss.
    feature_importances_ : ndarray of shape (n_features,)
        If all learners are trees.
    n_estimators_ : int
        Rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers, with the notes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """
