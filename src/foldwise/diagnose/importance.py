"""What the whole ensemble loses when a column of X is shuffled."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.checks import check_lengths, check_whole
from foldwise.diagnose.shapley import standard_errors
from foldwise.diagnose.shuffling import column_groups, scores_when_shuffled
from foldwise.diagnose.table import as_text

OWNER = "permutation_importance"


@dataclass(frozen=True)
class PermutationImportance:
    """How much the score falls when columns are shuffled.

    Attributes
    ----------
    names : tuple of str
        The columns, or the names of groups of columns.
    metric : str
        What is scored; greater is better.
    score : float
        With all columns as they are.
    drops : ndarray of shape (n_names, n_repeats)
        How much the score fell at each shuffle.
    """

    names: tuple[str, ...]
    metric: str
    score: float
    drops: FloatArray

    @property
    def importance(self) -> FloatArray:
        """The mean drop of each column."""
        return self.drops.mean(axis=1)

    @property
    def importance_se(self) -> FloatArray:
        """The standard error of the mean drop over shuffles, NaN for one shuffle."""
        return standard_errors(self.drops.T)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column, the most important first."""
        drops = {"importance": self.importance, "se": self.importance_se}
        frame = pd.DataFrame({"column": list(self.names), **drops})
        return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        text = as_text(self.to_frame())
        return f"Permutation importance ({self.metric}, {self.score:.4g} as it is)\n{text}"


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    columns: Any = None,
    scoring: Any = None,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: Any = None,
) -> PermutationImportance:
    """Shuffle each column of X and see how much worse the whole ensemble predicts.

    Parameters
    ----------
    model : fitted estimator
        Any; a stack is asked as a whole, so an encoded column counts as the one it came from.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows the model has not seen.
    y : array-like of shape (n_samples,)
        Their targets.
    columns : None, sequence or mapping, default=None
        None is every column by itself. A mapping from names to lists of columns shuffles each
        list together: for columns that say the same.
    scoring : None, str or callable
        None is the model's own ``scoring`` if it has one; else RMSE, log-loss or accuracy.
    n_repeats : int, default=5
        Shuffles of each column.
    sample_weight : array-like of shape (n_samples,) or None
        Weights in the score.
    random_state : int, Generator or None
        Seed of the shuffles.

    Returns
    -------
    PermutationImportance
        The drops, with standard errors over shuffles.

    Notes
    -----
    Costs ``1 + n_repeats * n_columns`` predictions. On rows the model was fitted on it shows
    what the model uses, not what helps. Columns that say the same hide each other: group them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, X[:, 0])
    >>> found = permutation_importance(model, X, X[:, 0], random_state=0)
    >>> found.to_frame()["column"].tolist(), bool(found.importance[1] < 1e-12)
    (['x0', 'x1'], True)
    """
    check_is_fitted(model)
    X = X if hasattr(X, "shape") else np.asarray(X)
    # Not every sparse format can be asked for some rows.
    X = X.tocsr() if sparse.issparse(X) else X
    check_lengths(OWNER, X.shape[0], y=y)
    check_whole(OWNER, "n_repeats", n_repeats, 1, try_=5)
    groups = column_groups(X, columns, OWNER)
    name, scorer = _scorer(model, scoring)
    weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
    rng = np.random.default_rng(random_state)
    every = [places for places in groups.values() for _ in range(n_repeats)]
    shuffles = [(places, rng.permutation(X.shape[0])) for places in every]
    score, scores = scores_when_shuffled(
        model, X, lambda asked, table: scorer(asked, table, y, **weights), shuffles
    )
    drops = score - scores.reshape(len(groups), n_repeats)
    return PermutationImportance(tuple(groups), name, score, drops)


def _scorer(model: Any, scoring: Any) -> tuple[str, Any]:
    wanted = scoring if scoring is not None else getattr(model, "scoring", None)
    if wanted is None:
        wanted = "neg_root_mean_squared_error"
        if is_classifier(model):
            wanted = "neg_log_loss" if hasattr(model, "predict_proba") else "accuracy"
    if isinstance(wanted, str):
        return wanted, get_scorer(wanted)
    return getattr(wanted, "__name__", type(wanted).__name__), check_scoring(model, wanted)
