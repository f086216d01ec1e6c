"""What numbers mean, in sentences."""

import math
from typing import Any

from foldwise.wording import number

METRICS = {
    "accuracy": "accuracy",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "brier_score": "Brier score",
    "f1": "F1",
    "log_loss": "log-loss",
    "max_error": "largest error",
    "mean_absolute_error": "mean absolute error",
    "mean_absolute_percentage_error": "mean absolute percentage error",
    "mean_squared_error": "mean squared error",
    "median_absolute_error": "median absolute error",
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "root_mean_squared_error": "RMSE",
    "root_mean_squared_log_error": "RMSLE",
}
STACKERS = {
    "GreedyStacker": "a mean of learners picked one by one",
    "LassoClassStacker": "logistic lasso on the learners",
    "LassoStacker": "lasso regression on the learners",
    "LogisticRegression": "logistic regression on the learners",
    "OneClass": "the only class there is",
    "PoolStacker": "a weighted pool of logits",
    "RankStacker": "the mean of the learners' ranks",
    "RidgeStacker": "ridge regression on the learners",
}
RULES = {
    "mean": "the plain mean of the learners",
    "best": "the best single learner",
    "nnls": "a weighted mean with non-negative weights",
    "simplex": "a weighted mean, weights summing to one",
    "log_score": "a mean weighted for the log score",
    "weighted_mean": "a mean weighted by the learners' scores",
}


def metric_name(name: str) -> str:
    """Return a metric's name as people write it.

    Examples
    --------
    >>> metric_name("root_mean_squared_error"), metric_name("my_gain")
    ('RMSE', 'my gain')
    """
    return METRICS.get(name, name.replace("_", " "))


def article(name: str) -> str:
    """Return a metric's name with its article.

    Examples
    --------
    >>> article("RMSE"), article("log-loss"), article("accuracy")
    ('an RMSE', 'a log-loss', 'an accuracy')
    """
    return ("an " if name[0] in "aeioAEIFRM" else "a ") + name


def direction(sign: int) -> str:
    """Return which way is better.

    Examples
    --------
    >>> direction(-1)
    'lower is better'
    """
    return "higher is better" if sign > 0 else "lower is better"


def verdict(gain: float, error: float) -> str:
    """Return how sure it is that one model is better than another.

    Examples
    --------
    >>> verdict(1.0, 0.3), verdict(0.1, 0.3), verdict(-0.4, 0.3)
    ('clearly better than', 'about as good as', 'probably worse than')
    """
    if gain == 0:
        return "exactly as good as"
    if not math.isfinite(gain):
        return "not comparable with"
    word = "better" if gain > 0 else "worse"
    if math.isnan(error):
        return f"{word} than"
    distance = gain / error if error > 0 else math.inf
    if abs(distance) < 1:
        return "about as good as"
    return f"{'clearly' if abs(distance) >= 2 else 'probably'} {word} than"


def stacker_name(stacker: Any) -> str:
    """Return what stands on top, in words.

    Examples
    --------
    >>> from foldwise.stack.stackers.means import WeightedMean
    >>> stacker_name(WeightedMean("best")), stacker_name(WeightedMean("pseudo_bma"))
    ('the best single learner', 'pseudo bma')
    """
    kind = type(stacker).__name__
    rule = getattr(stacker, "rule", None)
    if isinstance(rule, str) and kind not in STACKERS:
        return RULES.get(rule, rule.replace("_", " "))
    return STACKERS.get(kind, kind)


def interval(low: float, high: float, decimals: int | None) -> str:
    """Return an interval in words.

    Examples
    --------
    >>> interval(1.0, 2.5, 1)
    '1.0 to 2.5'
    """
    return f"{number(low, decimals)} to {number(high, decimals)}"
