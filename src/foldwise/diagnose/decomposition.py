"""The loss of an ensemble in parts: the losses of its members less their diversity.

Two losses have a mean that belongs to them: for the squared loss it is the weighted mean, for the
log-loss the normalised geometric mean [1]_. The loss of that ensemble is the mean loss of its
members less their mean distance from it, exactly, row by row.

References
----------
.. [1] Wood, Mu, Webb, Reeve, Luján and Brown (2023). A unified theory of diversity in
   ensemble learning. JMLR 24.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from foldwise.arrays import FloatArray
from foldwise.checks import check_word
from foldwise.diagnose.table import OutOfFoldTable, as_text, classes_needed, table_of
from foldwise.errors import invalid_parameter, unsupported


@dataclass(frozen=True)
class CentroidLoss:
    """A loss, its distance and its mean; the last axis holds one prediction."""

    name: str  # "squared" or "log"
    # maps (target, prediction) to the loss of each row
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    # maps (centre, prediction) to how far the prediction is from the centre
    distance: Callable[[FloatArray, FloatArray], FloatArray]
    # maps (predictions, weights, axis) to their centre along the axis
    centre: Callable[[FloatArray, FloatArray, int], FloatArray]


def _squared(first: FloatArray, second: FloatArray) -> FloatArray:
    return ((first - second) ** 2).sum(axis=-1)


def _mean(values: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    return np.average(values, axis=axis, weights=weights)


def _cross_entropy(target: FloatArray, prediction: FloatArray) -> FloatArray:
    return -(target * np.log(prediction)).sum(axis=-1)


def _divergence(centre: FloatArray, prediction: FloatArray) -> FloatArray:
    return (centre * (np.log(centre) - np.log(prediction))).sum(axis=-1)


def _geometric_mean(values: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    return softmax(np.average(np.log(values), axis=axis, weights=weights), axis=-1)


SQUARED = CentroidLoss("squared", _squared, _squared, _mean)
LOG = CentroidLoss("log", _cross_entropy, _divergence, _geometric_mean)


def loss_and_values(
    table: OutOfFoldTable, loss: str, owner: str
) -> tuple[CentroidLoss, FloatArray, FloatArray]:
    """Return the loss, the predictions it can take, and the targets.

    For "log", kept off 0 by ``0.5 / (n_rows + 1)`` and normalised. For several targets scaled, so
    that sums of squares are means over targets.

    Shapes: returns (n_repeats, n_rows, n_models, width), returns (n_rows, width).
    """
    check_word(owner, "loss", loss, ["auto", "squared", "log"])
    if loss == "log" or (loss == "auto" and table.classes is not None):
        classes_needed(table, f"{owner}(loss='log')", "Use loss='squared'.")
        clipped: Any = np.maximum(table.predictions, 0.5 / (table.n_rows + 1))
        return LOG, clipped / clipped.sum(axis=-1, keepdims=True), table.target
    scale = 1.0 if table.classes is not None else 1.0 / np.sqrt(table.target.shape[1])
    return SQUARED, table.predictions * scale, table.target * scale


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
        numbers = {"weight": self.weights, "loss": self.losses, "distance": self.distances}
        return pd.DataFrame({"model": list(self.names), **numbers})

    def __str__(self) -> str:
        text = as_text(self.to_frame())
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
    whole = float(np.einsum("rn,n->", kind.loss(target[None], centre), row))
    means = float(shares @ losses), float(shares @ distances)
    return Ambiguity(kind.name, table.names, shares, losses, distances, whole, *means)


def _weights(weights: Any, table: OutOfFoldTable) -> FloatArray:
    if weights is None:
        return np.full(table.n_models, 1.0 / table.n_models)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (table.n_models,) or (given < 0).any() or abs(given.sum() - 1.0) > 1e-8:
        must = f"be {table.n_models} numbers, none negative, of sum one"
        fix = "Use None for the plain mean."
        raise invalid_parameter("ambiguity", "weights", must=must, got=given.tolist(), fix=fix)
    return given / given.sum()


@dataclass(frozen=True)
class BiasVarianceDiversity:
    """Expected loss = bias + variance - diversity, estimated from repeats: approximate.

    Attributes
    ----------
    loss : {"squared", "log"}
        Which loss.
    n_repeats, n_models : int
        How many predictions of a row the expectations are over, and by how many models.
    expected_loss : float
        Of the ensemble (mean, or normalised geometric mean), in the mean over repeats.
    bias : float
        Mean loss of the models' centres over repeats; the noise is in it.
    variance : float
        Mean distance of the models from their own centres.
    diversity : float
        Mean distance of the models from the ensemble.
    """

    loss: str
    n_repeats: int
    n_models: int
    expected_loss: float
    bias: float
    variance: float
    diversity: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row a term, with its sign in the sum."""
        terms = {"bias": 1, "variance": 1, "diversity": -1, "expected_loss": 0}
        values = [getattr(self, term) for term in terms]
        return pd.DataFrame({"term": list(terms), "value": values, "sign": list(terms.values())})

    def __str__(self) -> str:
        return (
            f"Bias, variance, diversity ({self.loss} loss; approximate: {self.n_repeats} repeats "
            "on overlapping rows)\n"
            f"expected loss {self.expected_loss:.4g} = bias and noise {self.bias:.4g} "
            f"+ variance {self.variance:.4g} - diversity {self.diversity:.4g}"
        )


def bias_variance_diversity(source: Any, *, loss: str = "auto") -> BiasVarianceDiversity:
    """Split the expected loss of the models' mean into bias, variance and diversity.

    Parameters
    ----------
    source : fitted stack with ``n_repeats > 1``, or OutOfFoldTable with repeats
        Several predictions of each row by each model.
    loss : {"auto", "squared", "log"}, default="auto"
        "auto" is "squared" for numbers and "log" for classes.

    Returns
    -------
    BiasVarianceDiversity
        The terms add up exactly.

    Notes
    -----
    Approximate as estimates: repeats deal the same rows anew, so their training sets overlap
    and the variance between *independent* training sets is greater; and of R repeats one R-th
    of the variance counts as bias.

    References
    ----------
    .. [1] Wood, Mu, Webb, Reeve, Luján and Brown (2023). A unified theory of diversity in
       ensemble learning. JMLR 24.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> table = OutOfFoldTable.from_arrays([[[[1.0], [3.0]]], [[[3.0], [3.0]]]], [2.0])
    >>> print(bias_variance_diversity(table))
    Bias, variance, diversity (squared loss; approximate: 2 repeats on overlapping rows)
    expected loss 0.5 = bias and noise 0.5 + variance 0.5 - diversity 0.5
    """
    table = table_of(source, "bias_variance_diversity")
    if table.n_repeats < 2:
        got = table.n_repeats
        must, fix = "hold at least 2 predictions of each row", "Fit the stack with n_repeats=5."
        raise unsupported("bias_variance_diversity", "source", must=must, got=got, fix=fix)
    kind, values, target = loss_and_values(table, loss, "bias_variance_diversity")
    over_repeats = kind.centre(values, np.ones(table.n_repeats), 0)
    over_models = kind.centre(values, np.ones(table.n_models), 2)
    return BiasVarianceDiversity(
        kind.name,
        table.n_repeats,
        table.n_models,
        _over_rows(table, kind.loss(target[None], over_models).mean(axis=0)),
        _over_rows(table, kind.loss(target[:, None], over_repeats).mean(axis=1)),
        _over_rows(table, kind.distance(over_repeats[None], values).mean(axis=(0, 2))),
        _over_rows(table, kind.distance(over_models[:, :, None], values).mean(axis=(0, 2))),
    )


def _over_rows(table: OutOfFoldTable, losses: Any) -> float:
    return float(table.share @ losses)
