"""How differently the models of an ensemble err."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray
from foldwise.diagnose import measures
from foldwise.diagnose.table import as_text, classes_needed, table_of

# What Kuncheva and Whitaker's arrows say: whether more or less of it is more diverse.
PAIRWISE = {
    "q_statistic": "lower",
    "correlation": "lower",
    "disagreement": "higher",
    "double_fault": "lower",
}
OVERALL = {
    "entropy": "higher",
    "kohavi_wolpert_variance": "higher",
    "interrater_agreement": "lower",
    "difficulty": "lower",
    "generalised_diversity": "higher",
    "coincident_failure_diversity": "higher",
}


@dataclass(frozen=True)
class Diversity:
    """The ten measures of Kuncheva and Whitaker.

    Attributes
    ----------
    names : tuple of str
        The models.
    accuracy : ndarray of shape (n_models,)
        Share of rows each model has right.
    q_statistic, correlation, disagreement, double_fault : ndarray of (n_models, n_models)
        The pairwise measures, for all pairs.
    entropy, kohavi_wolpert_variance, interrater_agreement, difficulty : float
        Measures of all models at once.
    generalised_diversity, coincident_failure_diversity : float
        Measures of failing together.
    """

    names: tuple[str, ...]
    accuracy: FloatArray
    q_statistic: FloatArray
    correlation: FloatArray
    disagreement: FloatArray
    double_fault: FloatArray
    entropy: float
    kohavi_wolpert_variance: float
    interrater_agreement: float
    difficulty: float
    generalised_diversity: float
    coincident_failure_diversity: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row a measure: its value (the mean over pairs) and which way is diverse."""
        values = {name: measures.mean_of_pairs(getattr(self, name)) for name in PAIRWISE}
        values |= {name: getattr(self, name) for name in OVERALL}
        ways = PAIRWISE | OVERALL
        rows = [(name, value, ways[name]) for name, value in values.items()]
        return pd.DataFrame(rows, columns=["measure", "value", "more_diverse_when"])

    def pairs(self, measure: str = "correlation") -> pd.DataFrame:
        """Return a pairwise measure with the models' names on both sides.

        Parameters
        ----------
        measure : {"q_statistic", "correlation", "disagreement", "double_fault"}
            Which.

        Returns
        -------
        DataFrame of shape (n_models, n_models)
            The matrix.
        """
        return pd.DataFrame(getattr(self, measure), index=self.names, columns=list(self.names))

    def __str__(self) -> str:
        text = as_text(self.to_frame(), ".4f")
        mean = float(self.accuracy.mean())
        return f"Diversity of {len(self.names)} models, right on {mean:.1%} of rows\n{text}"


def diversity(source: Any) -> Diversity:
    """Measure how differently classifiers err, in all ten ways of Kuncheva and Whitaker.

    Parameters
    ----------
    source : fitted stack or OutOfFoldTable
        Of a classifier. A model is right where its most probable class is the true one.

    Returns
    -------
    Diversity
        Pairwise matrices and overall numbers; rows count by their weights, repeats alike.

    Notes
    -----
    The measures say the same in different words, and none predicts what an ensemble gains
    [1]_: for that, see :func:`ambiguity` and :func:`model_values`. What is not defined is set:
    see ``diagnose/measures.py``.

    References
    ----------
    .. [1] Kuncheva and Whitaker (2003). Measures of diversity in classifier ensembles and
       their relationship with the ensemble accuracy. Machine Learning 51.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> labels = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> table = OutOfFoldTable.from_arrays(labels, [0, 1, 1, 1], classes=[0, 1])
    >>> found = diversity(table)
    >>> float(found.disagreement[0, 1]), float(found.q_statistic[0, 1]), found.entropy
    (0.5, -1.0, 0.5)
    """
    table = table_of(source, "diversity")
    classes_needed(table, "diversity", "Use ambiguity or error_correlation.")
    correct, share = table.correct, table.repeated_share
    shares = measures.joint_shares(correct, share)
    pairwise = {name: getattr(measures, name)(shares) for name in PAIRWISE}
    overall = {name: getattr(measures, name)(correct, share) for name in OVERALL}
    return Diversity(table.names, share @ correct, **pairwise, **overall)


@dataclass(frozen=True)
class ErrorCorrelation:
    """How alike the models' errors are.

    Attributes
    ----------
    names : tuple of str
        The models.
    matrix : ndarray of shape (n_models, n_models)
        Correlations of their errors.
    """

    names: tuple[str, ...]
    matrix: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """Return the matrix with names on both sides."""
        return pd.DataFrame(self.matrix, index=self.names, columns=list(self.names))

    def __str__(self) -> str:
        text = as_text(self.to_frame(), ".3f", index=True)
        return f"Correlation of the models' errors\n{text}"


def error_correlation(source: Any) -> ErrorCorrelation:
    """Return the correlation of the models' errors, for numbers and for classes.

    Parameters
    ----------
    source : fitted stack or OutOfFoldTable
        For classes the error of a row is what is missing from the true class's probability.

    Returns
    -------
    ErrorCorrelation
        Over rows, weighted. A model whose error is the same everywhere has 0 with others.

    Examples
    --------
    >>> from foldwise.diagnose import OutOfFoldTable
    >>> table = OutOfFoldTable.from_arrays([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0]], [2.0] * 3)
    >>> error_correlation(table).matrix.round(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    table = table_of(source, "error_correlation")
    errors = table.predictions - table.target[None, :, None, :]
    if table.classes is not None:
        errors = errors[:, np.arange(table.n_rows), :, table.y].transpose(1, 0, 2)[..., None]
    flat = errors.transpose(0, 1, 3, 2).reshape(-1, table.n_models)
    share = np.repeat(table.repeated_share, errors.shape[3]) / errors.shape[3]
    centred = flat - share @ flat
    covariance = centred.T @ (share[:, None] * centred)
    spread = np.sqrt(np.diag(covariance))
    scale = np.outer(spread, spread)
    matrix = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(matrix, 1.0)
    return ErrorCorrelation(table.names, np.clip(matrix, -1.0, 1.0))
