"""Bias, variance and diversity of an ensemble, where every row was predicted several times."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.diagnose.losses import loss_and_values
from foldwise.diagnose.table import OutOfFoldTable, table_of
from foldwise.errors import unsupported


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
        return pd.DataFrame(
            {
                "term": list(terms),
                "value": [getattr(self, term) for term in terms],
                "sign": list(terms.values()),
            }
        )

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
        raise unsupported(
            "bias_variance_diversity",
            "source",
            must="hold at least 2 predictions of each row",
            got=table.n_repeats,
            fix="Fit the stack with n_repeats=5.",
        )
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
