"""Fitted scikit-learn models made from numbers instead of rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from foldwise.learners.general import take_rows
from foldwise.learners.prepare import prepared


def fitted(learner: Any, X: Any, seed: int | None, learned: dict[str, Any]) -> Any:
    """Return a clone of the learner that has learned these attributes.

    Parameters
    ----------
    learner : estimator
        Left as it is.
    X : array or data frame
        Tells the number and the names of the features.
    seed : int or None
        Fills an empty ``random_state``.
    learned : dict
        Fitted attributes.
    """
    return learned_by(prepared(learner, seed), X, learned)


def learned_by(model: Any, X: Any, learned: dict[str, Any]) -> Any:
    """Give an unfitted model its fitted attributes, the features' names among them."""
    validate_data(model, take_rows(X, np.arange(1)), skip_check_array=True)
    for name, value in learned.items():
        setattr(model, name, value)
    return model
