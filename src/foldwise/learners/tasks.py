"""What goes into fitting a learner at a node, and what comes out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray


@dataclass(frozen=True)
class TrainingData:
    """All rows; a node takes its own part of them.

    Attributes
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Targets; classes are coded 0 .. n_classes - 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights.
    n_classes : int or None
        Number of classes; None for regression.
    groups : ndarray of shape (n_samples,) or None
        Groups, for inner splits that must keep them together.
    shared : dict
        What one learner's shortcut worked out and another's may use.

    Examples
    --------
    >>> import numpy as np
    >>> TrainingData(np.eye(3), np.arange(3.0)).n_classes is None
    True
    """

    X: Any
    y: Array
    sample_weight: FloatArray | None = None
    n_classes: int | None = None
    groups: Array | None = None
    shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True)
class NodeTask:
    """Fit on some rows, predict others.

    Attributes
    ----------
    train, test : ndarray of int
        Row numbers to fit on and to predict (``test`` may be empty).
    seed : int or None
        Fills every ``random_state`` of the learner that is None.
    keep_model : bool
        Whether the fitted model is needed afterwards.
    in_order : bool
        Whether rows follow each other in time, so that rows to stop early on are the last.
    watched : tuple of ndarray of int
        Parts of ``test`` on which the rounds of a booster are found, one answer for each.

    Examples
    --------
    >>> import numpy as np
    >>> NodeTask(np.arange(4), np.array([4])).keep_model
    True
    """

    train: IntArray
    test: IntArray
    seed: int | None = None
    keep_model: bool = True
    in_order: bool = False
    watched: tuple[IntArray, ...] = ()


@dataclass(frozen=True)
class NodeFit:
    """One learner fitted at one node.

    Attributes
    ----------
    predictions : ndarray of shape (n_test, width)
        One column for a regressor with one target or for labels, one a class for
        probabilities. Columns are aligned to all classes.
    model : estimator or None
        The fitted model, if it was to be kept.
    fit_seconds, predict_seconds : float
        Time spent.
    rounds : int
        Of a booster, if they were found on other rows.
    """

    predictions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    model: Any = None
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    rounds: int = 0


# The nodes of one learner, and what a shortcut makes of them: None where it promises nothing.
Tasks = Sequence[NodeTask]
Tried = list[NodeFit | None] | None
