"""The mean of ranks, against the ranks of predictions that were stored."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.checks import row_shares

MOST_KNOTS = 1000


@dataclass(frozen=True)
class RankMean:
    """The mean over models of where a prediction stands among stored ones.

    Attributes
    ----------
    knots : tuple of ndarray
        For each model, stored predictions in ascending order.
    levels : tuple of ndarray
        For each model, the share of stored predictions below each knot, ties counted half.
    weights : ndarray of shape (n_models,)
        Weights of the models; they sum to one.
    """

    knots: tuple[FloatArray, ...]
    levels: tuple[FloatArray, ...]
    weights: FloatArray

    def predict(self, predictions: FloatArray) -> FloatArray:
        """Return mean ranks between 0 and 1.

        Parameters
        ----------
        predictions : ndarray of shape (n_samples, n_models)
            One column a model.

        Returns
        -------
        ndarray of shape (n_samples,)
            A row gets the same answer alone as among others.
        """
        each = [
            np.interp(predictions[:, m], knots, levels)
            for m, (knots, levels) in enumerate(zip(self.knots, self.levels, strict=True))
        ]
        return np.asarray(self.weights @ np.array(each))


def rank_mean(
    predictions: FloatArray,
    sample_weight: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> RankMean:
    """Return the map from predictions to mean ranks.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models)
        Out-of-fold predictions, one column a model.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows; one of two counts as two rows.
    weights : ndarray of shape (n_models,) or None
        Weights of the models; None for equal ones.

    Returns
    -------
    RankMean
        At most 1000 knots a model are stored; ranks in between are interpolated, ranks beyond
        the ends are those of the ends.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = rank_mean(np.array([[0.1, 10.0], [0.2, 30.0], [0.9, 20.0]]))
    >>> ranks.predict(np.array([[0.9, 30.0], [0.1, 20.0]])).round(3)
    array([0.833, 0.333])
    """
    shares = row_shares(len(predictions), sample_weight)
    n_models = predictions.shape[1]
    each = [_levels(predictions[:, m], shares) for m in range(n_models)]
    votes = np.ones(n_models) if weights is None else np.asarray(weights, dtype=np.float64)
    knots, levels = zip(*each, strict=True)
    return RankMean(tuple(knots), tuple(levels), votes / votes.sum())


def _levels(column: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    used = shares > 0
    values, where = np.unique(column[used], return_inverse=True)
    mass = np.bincount(where, weights=shares[used])
    levels = np.cumsum(mass) - mass / 2
    if len(values) > MOST_KNOTS:
        kept = np.unique(np.searchsorted(levels, np.linspace(levels[0], levels[-1], MOST_KNOTS)))
        values, levels = values[kept], levels[kept]
    return values, levels
