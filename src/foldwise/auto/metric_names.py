"""Short names of metrics, as people say them."""

from typing import Any

from sklearn.metrics import get_scorer_names

from foldwise.checks import unknown_word

REGRESSION = {
    "rmse": "neg_root_mean_squared_error",
    "mse": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
    "medae": "neg_median_absolute_error",
    "r2": "r2",
}
CLASSES = {
    "log_loss": "neg_log_loss",
    "logloss": "neg_log_loss",
    "brier": "neg_brier_score",
    "auc": "roc_auc",
    "roc_auc": "roc_auc",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "f1": "f1",
    "average_precision": "average_precision",
}
SEVERAL_CLASSES = {"auc": "roc_auc_ovr", "roc_auc": "roc_auc_ovr", "f1": "f1_macro"}


def scorer_of(metric: Any, *, owner: str, n_classes: int | None) -> Any:
    """Return what the stack takes as ``scoring``.

    Examples
    --------
    >>> scorer_of("rmse", owner="x", n_classes=None)
    'neg_root_mean_squared_error'
    >>> scorer_of("auc", owner="x", n_classes=3)
    'roc_auc_ovr'
    """
    if metric is None or callable(metric):
        return metric
    short = REGRESSION if n_classes is None else CLASSES
    if n_classes is not None and n_classes > 2:
        short = {**short, **SEVERAL_CLASSES}
    scorers = get_scorer_names()
    if isinstance(metric, str) and metric in short:
        return short[metric]
    if not isinstance(metric, str) or metric not in scorers:
        must = "be None, the name of a metric or a scorer"
        raise unknown_word(owner, "metric", metric, short, must)
    return metric
