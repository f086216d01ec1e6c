"""What each model is worth to the ensemble."""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_whole, check_word
from foldwise.diagnose.decomposition import loss_and_values
from foldwise.diagnose.shapley import exact_shapley, sampled_shapley
from foldwise.diagnose.table import OutOfFoldTable, Subset, as_text, table_of

MOST_EXACT = 12
METHODS = ("auto", "exact", "sampled")


@dataclass(frozen=True)
class ModelValues:
    """What each model adds to the honest score.

    Attributes
    ----------
    names : tuple of str
        The models.
    metric : str
        What is scored; here greater is always better.
    method : {"exact", "sampled"}
        How the Shapley values were found.
    shapley, shapley_se : ndarray of shape (n_models,)
        The mean gain when the model joins, over all orders of joining, and the sampling error
        of that mean (zero if exact). They sum to ``score - naive_score``.
    leave_one_out : ndarray of shape (n_models,)
        What the ensemble loses without the model.
    alone : ndarray of shape (n_models,)
        What the model gains alone, over a constant.
    score, naive_score : float
        Of the ensemble of all models and of a constant.
    """

    names: tuple[str, ...]
    metric: str
    method: str
    shapley: FloatArray
    shapley_se: FloatArray
    leave_one_out: FloatArray
    alone: FloatArray
    score: float
    naive_score: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row a model, the most valuable first."""
        columns = ("shapley", "shapley_se", "leave_one_out", "alone")
        values = {name: getattr(self, name) for name in columns}
        frame = pd.DataFrame({"model": list(self.names), **values})
        return frame.sort_values("shapley", ascending=False, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        text = as_text(self.to_frame())
        return (
            f"Value of each model ({self.metric}, greater is better; Shapley {self.method})\n"
            f"all models {self.score:.4g}, a constant {self.naive_score:.4g}\n{text}"
        )


def model_values(
    source: Any, *, method: str = "auto", n_orders: int = 200, random_state: Any = None
) -> ModelValues:
    """Share out the honest score among the models, and leave each out once.

    Parameters
    ----------
    source : fitted stack or OutOfFoldTable
        A stack's deployed combiner is fitted anew on every subset of models and judged on
        folds it has not seen; no model is fitted again; calibration and threshold are those of
        all models together. A table of your own is combined by the plain mean.
    method : {"auto", "exact", "sampled"}, default="auto"
        "auto" is "exact" for up to 12 models.
    n_orders : int, default=200
        Random orders for "sampled".
    random_state : int, Generator or None
        Seed of the orders.

    Returns
    -------
    ModelValues
        Shapley values, leave-one-out values, and what each model is worth alone.

    Notes
    -----
    Exact takes ``2 ** n_models`` fits of the combiner a fold, sampled at most
    ``n_orders * n_models``. Two copies of a model share its Shapley value and have a
    leave-one-out value of nothing: the first says who did the work, the second who can go.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> table = OutOfFoldTable.from_arrays([[1.0, 3.0], [5.0, 4.0]], [2.0, 4.0])
    >>> values = model_values(table)
    >>> values.shapley.tolist(), values.score, values.naive_score
    ([0.1875, 0.6875], -0.125, -1.0)
    """
    table = table_of(source, "model_values")
    check_word("model_values", "method", method, METHODS)
    check_whole("model_values", "n_orders", n_orders, 4, try_=200)
    score_of, n = table.score_of or partial(_plain_mean_score, table), table.n_models
    once = cache(lambda subset: float(score_of(subset)))
    metric = table.metric
    if table.score_of is None:
        metric = "squared_error" if table.classes is None else "log_loss"
    if method == "auto":
        method = "exact" if n <= MOST_EXACT else "sampled"
    if method == "exact":
        shapley, errors = exact_shapley(once, n), np.zeros(n)
    else:
        rng = np.random.default_rng(random_state)
        shapley, errors = sampled_shapley(once, n, n_orders, rng)
    everyone = tuple(range(n))
    score, naive = once(everyone), once(())
    without = [once(tuple(k for k in everyone if k != m)) for m in everyone]
    lost, alone = score - np.array(without), np.array([once((m,)) for m in everyone]) - naive
    return ModelValues(table.names, metric, method, shapley, errors, lost, alone, score, naive)


def _plain_mean_score(table: OutOfFoldTable, subset: Subset) -> float:
    """Return minus the loss of the plain mean; of no models, that of the mean target elsewhere."""
    kind, values, target = loss_and_values(table, "auto", "model_values")
    if subset:
        mean = values[:, :, list(subset)].mean(axis=2)
    else:
        mean = naive_predictions(target, table.share, table.fold)[None]
        if table.classes is not None:
            mean = np.maximum(mean, 0.5 / (table.n_rows + 1))
    return -float(table.share @ kind.loss(target[None], mean).mean(axis=0))


def naive_predictions(target: FloatArray, share: FloatArray, fold: IntArray | None) -> FloatArray:
    """Return for each row the mean target of the rows outside its fold.

    Shapes: ``target`` (n_rows, width), returns (n_rows, width).
    """
    folds = np.zeros(len(target), dtype=np.intp) if fold is None else fold
    naive = np.empty_like(target)
    for f in np.unique(folds):
        inside = folds == f
        outside = inside if inside.all() else ~inside
        naive[inside] = np.average(target[outside], axis=0, weights=share[outside])
    return naive
