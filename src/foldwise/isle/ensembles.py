"""Ensembles a user brings along: fitted here, or taken as they are."""

from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from foldwise.arrays import Array, FloatArray
from foldwise.errors import invalid_data
from foldwise.isle.table import CodedTable


def fitted_ensemble(
    owner: str, ensemble: Any, table: CodedTable, y: Array, weight: FloatArray, loss: str
) -> Any:
    """Return the fitted model behind an ``ensemble`` parameter."""
    X = table.values
    if isinstance(ensemble, FrozenEstimator):
        model = ensemble.estimator
    else:
        target = y.astype(int) if loss in {"logistic", "multinomial"} else y
        # Weights of one change the random numbers a forest draws.
        weights = {} if (weight == 1).all() else {"sample_weight": weight}
        model = clone(ensemble).fit(X, target, **weights)
    if getattr(model, "n_features_in_", X.shape[1]) != X.shape[1]:
        raise invalid_data(
            owner,
            "X",
            must=f"have the {model.n_features_in_} columns the ensemble was fitted on",
            got=X.shape[1],
            fix="Pass the same columns.",
        )
    return model
