"""The six diversity measures of Kuncheva and Whitaker that look at all models at once.

All are functions of how many models are right on each row. One model, or models that are
right everywhere, have no diversity: entropy, variance and both failure measures are 0 and
the agreement is 1.
"""

import numpy as np

from foldwise.arrays import BoolArray, FloatArray


def entropy(correct: BoolArray, share: FloatArray) -> float:
    """Return how evenly votes split: 0 if all models agree, 1 if as many are right as wrong.

    Shapes: ``correct`` (n_rows, n_models).

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.array([[True, False, False], [True, True, True]]), np.array([0.5, 0.5]))
    0.5
    """
    n_models = correct.shape[1]
    right = correct.sum(axis=1)
    most = n_models - (n_models + 1) // 2
    return float(share @ np.minimum(right, n_models - right) / most) if most else 0.0


def kohavi_wolpert_variance(correct: BoolArray, share: FloatArray) -> float:
    """Return the variance of being right between the models: half the mean disagreement, shrunk.

    Parameters are those of :func:`entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> kohavi_wolpert_variance(np.array([[True, False]]), np.ones(1))
    0.25
    """
    n_models = correct.shape[1]
    right = correct.sum(axis=1)
    return float(share @ (right * (n_models - right)) / n_models**2)


def interrater_agreement(correct: BoolArray, share: FloatArray) -> float:
    """Return Fleiss's kappa of being right: 1 for the same errors, 0 for errors by chance.

    Parameters are those of :func:`entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> interrater_agreement(np.array([[True, True], [False, False]]), np.array([0.5, 0.5]))
    1.0
    """
    n_models = correct.shape[1]
    accuracy = float(share @ correct.mean(axis=1))
    chance = accuracy * (1.0 - accuracy)
    variance = kohavi_wolpert_variance(correct, share)
    if n_models == 1 or variance == 0.0 or chance <= 0.0:
        return 1.0
    return 1.0 - n_models / (n_models - 1) * variance / chance


def difficulty(correct: BoolArray, share: FloatArray) -> float:
    """Return the variance over rows of the share of models that are right: low is diverse.

    Parameters are those of :func:`entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> difficulty(np.array([[True, True], [False, False]]), np.array([0.5, 0.5]))
    0.25
    """
    right = correct.mean(axis=1)
    return float(share @ (right - share @ right) ** 2)


def generalised_diversity(correct: BoolArray, share: FloatArray) -> float:
    """Return 1 if a failing model is never joined by another drawn at random, 0 if always.

    Parameters are those of :func:`entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> generalised_diversity(np.array([[True, False], [False, True]]), np.array([0.5, 0.5]))
    1.0
    """
    n_models = correct.shape[1]
    failures = n_models - correct.sum(axis=1)
    one = float(share @ failures) / n_models
    if one == 0.0 or n_models == 1:
        return 0.0
    two = float(share @ (failures * (failures - 1))) / (n_models * (n_models - 1))
    return 1.0 - two / one


def coincident_failure_diversity(correct: BoolArray, share: FloatArray) -> float:
    """Return 1 if failures are of one model at a time, 0 if of all models together or never.

    Parameters are those of :func:`entropy`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[True, True, True], [True, False, True], [False, False, True]])
    >>> coincident_failure_diversity(rows, np.full(3, 1 / 3))
    0.75
    """
    n_models = correct.shape[1]
    failures = n_models - correct.sum(axis=1)
    failing = failures > 0
    some = float(share[failing].sum())
    if some == 0.0 or n_models == 1:
        return 0.0
    apart = (n_models - failures[failing]) / (n_models - 1)
    return float(share[failing] @ apart / some)
