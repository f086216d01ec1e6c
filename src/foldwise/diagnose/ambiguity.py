"""The loss of an ensemble as the mean loss of its members less their ambiguity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray
from foldwise.diagnose.losses import loss_and_values
from foldwise.diagnose.table import OutOfFoldTable, table_of
from foldwise.errors import invalid_parameter


@dataclass(frozen=True)
class Ambiguity:
    """The ambiguity decomposition: ``ensemble_loss = mean_loss - ambiguity``.

    Attributes
    ----------
    loss : {"squared", "log"}
        Which loss; its ensemble is the mean, or the normalised geometric mean.
    names : tuple of str
        The models.
    weights : ndarray of shape (n_models,)
        Their weights in the ensemble.
    losses : ndarray of shape (n_models,)
        The loss of each.
    distances : ndarray of shape (n_models,)
        How far each is from the ensemble.
    ensemble_loss, mean_loss, ambiguity : float
        The three terms; the last two are weighted means of the arrays.
    """

    loss: str
    names: tuple[str, ...]
    weights: FloatArray
    losses: FloatArray
    distances: FloatArray
    ensemble_loss: float
    mean_loss: float
    ambiguity: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row a model: its weight, its loss and its distance from the ensemble."""
        return pd.DataFrame(
            {
                "model": list(self.names),
                "weight": self.weights,
                "loss": self.losses,
                "distance": self.distances,
            }
        )

    def __str__(self) -> str:
        text = self.to_frame().to_string(index=False, float_format=lambda value: f"{value:.4g}")
        return (
            f"Ambiguity decomposition, {self.loss} loss\n"
            f"ensemble {self.ensemble_loss:.4g} = mean of the models {self.mean_loss:.4g} "
            f"- ambiguity {self.ambiguity:.4g}\n{text}"
        )


def ambiguity(source: Any, *, loss: str = "auto", weights: Any = None) -> Ambiguity:
    """Split the loss of a weighted mean into the models' own losses and their ambiguity.

    Parameters
    ----------
    source : fitted stack or OutOfFoldTable
        Regression, or classification by probabilities.
    loss : {"auto", "squared", "log"}, default="auto"
        "auto" is "squared" for numbers and "log" for classes. For classes "squared" is the
        Brier score, summed over classes.
    weights : array-like of shape (n_models,) or None
        Not negative and of sum one; None is the plain mean.

    Returns
    -------
    Ambiguity
        Exact: the terms add up, for each row and in the mean.

    Notes
    -----
    Mixing models pays where they are good *and* far from their mean. With several targets the
    squared loss is the mean over targets.

    References
    ----------
    .. [1] Krogh and Vedelsby (1995). Neural network ensembles, cross validation, and active
       learning. NIPS 7.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> table = OutOfFoldTable.from_arrays([[1.0, 4.0], [1.0, 2.0]], [2.0, 2.0])
    >>> print(ambiguity(table))
    Ambiguity decomposition, squared loss
    ensemble 0.25 = mean of the models 1.5 - ambiguity 1.25
      model  weight  loss  distance
    model 0     0.5     1      1.25
    model 1     0.5     2      1.25
    """
    table = table_of(source, "ambiguity")
    shares = _weights(weights, table)
    kind, values, target = loss_and_values(table, loss, "ambiguity")
    centre = kind.centre(values, shares, 2)
    row = table.share / table.n_repeats
    losses = np.einsum("rnm,n->m", kind.loss(target[None, :, None], values), row)
    distances = np.einsum("rnm,n->m", kind.distance(centre[:, :, None], values), row)
    return Ambiguity(
        kind.name,
        table.names,
        shares,
        losses,
        distances,
        float(np.einsum("rn,n->", kind.loss(target[None], centre), row)),
        float(shares @ losses),
        float(shares @ distances),
    )


def _weights(weights: Any, table: OutOfFoldTable) -> FloatArray:
    if weights is None:
        return np.full(table.n_models, 1.0 / table.n_models)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (table.n_models,) or (given < 0).any() or abs(given.sum() - 1.0) > 1e-8:
        raise invalid_parameter(
            "ambiguity",
            "weights",
            must=f"be {table.n_models} numbers, none negative, of sum one",
            got=given.tolist(),
            fix="Use None for the plain mean.",
        )
    return given / given.sum()
