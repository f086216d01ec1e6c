"""Class labels to codes, sums to probabilities."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.multiclass import check_classification_targets

from foldwise.arrays import Array, FloatArray
from foldwise.errors import invalid_data


def class_codes(owner: str, y: Array) -> tuple[Array, FloatArray]:
    """Return the sorted class labels and the position of each row's label among them.

    Examples
    --------
    >>> class_codes("me", np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1., 0., 1.]))
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise invalid_data(
            owner,
            "y",
            must="hold at least two classes",
            got=classes.tolist(),
            fix="Use a regressor, or add rows of another class.",
        )
    return classes, codes.astype(np.float64)


def class_probabilities(decision: FloatArray) -> FloatArray:
    """Return probabilities from sums: one column is the log-odds of the second of two classes.

    Examples
    --------
    >>> class_probabilities(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    if decision.shape[1] > 1:
        return softmax(decision, axis=1)
    second = expit(decision[:, 0])
    return np.column_stack([1 - second, second])
