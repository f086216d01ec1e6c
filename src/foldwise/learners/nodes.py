"""Fit one learner at many nodes, by a shortcut where there is one."""

from collections.abc import Sequence
from typing import Any

from foldwise.learners.general import fit_generally
from foldwise.learners.shortcuts import shortcut_for
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData


def fit_nodes(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str = "predict"
) -> list[NodeFit]:
    """Return the learner fitted at every node, by a shortcut if it has one.

    Parameters
    ----------
    learner : estimator
        Cloned for each node, never changed.
    data : TrainingData
        All rows.
    tasks : sequence of NodeTask
        The nodes: which rows to fit on, which to predict.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        What to ask the fitted models for.

    Returns
    -------
    list of NodeFit
        One for each task, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> data = TrainingData(X, 3 * X.ravel())
    >>> tasks = [NodeTask(np.arange(6), np.array([6, 7]))]
    >>> fit_nodes(Ridge(alpha=0), data, tasks)[0].predictions.ravel()
    array([18., 21.])
    """
    shortcut = shortcut_for(learner, data)
    if shortcut is not None:
        fits = shortcut(learner, data, tasks, method)
        if fits is not None:
            return list(fits)
    return [fit_generally(learner, data, task, method) for task in tasks]
