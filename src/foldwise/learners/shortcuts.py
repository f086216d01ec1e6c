"""One learner at many nodes: node by node, or the cheaper way it knows.

To teach a learner a shortcut, write two functions, and :func:`register` them:

- ``handles(learner, data)``: whether its parameters and the kind of data allow it. Cheap.
- ``fit(learner, data, tasks, method)``: a :class:`NodeFit` for every task. It puts None in
  the place of a task for which it cannot promise the general way's predictions to 1e-8,
  and returns None if that is all of them; those are then fitted the general way.

What is returned for a task may depend on that task's own rows alone, to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from foldwise.learners import gaussian, kernels, linear, neighbors
from foldwise.learners.general import fit_generally, steps_of
from foldwise.learners.rows import matrix_of
from foldwise.learners.tasks import NodeFit, Tasks, TrainingData, Tried

Shortcut = Callable[[Any, TrainingData, Tasks, str], "list[NodeFit] | None"]
Partial = Callable[[Any, TrainingData, Tasks, str], Tried]
Handles = Callable[[Any, TrainingData], bool]


@dataclass(frozen=True)
class _Known:
    handles: Handles
    fit: Partial
    behind: str


_KNOWN: dict[type, _Known] = {}


def register(learner: type, handles: Handles, fit: Partial, *, behind: str = "nothing") -> None:
    """Register the shortcut of a class of learners; subclasses do not inherit it.

    Parameters
    ----------
    learner : type
        The class.
    handles, fit : callable
        As the module says.
    behind : {"nothing", "scaler", "anything"}, default="nothing"
        Whether the shortcut also takes a Pipeline of a StandardScaler and the learner, or one of
        any transformers and the learner; the latter also any table.

    Examples
    --------
    >>> class Mean:
    ...     pass
    >>> register(Mean, lambda learner, data: False, lambda learner, data, tasks, method: None)
    >>> _KNOWN.pop(Mean).behind
    'nothing'
    """
    _KNOWN[learner] = _Known(handles, fit, behind)


def shortcut_for(learner: Any, data: TrainingData) -> Shortcut | None:
    """Return the learner's shortcut, None where it must be fitted node by node.

    Parameters
    ----------
    learner : estimator
        What is to be fitted.
    data : TrainingData
        On what.

    Returns
    -------
    callable or None
        Called as ``shortcut(learner, data, tasks, method)``; returns a list of NodeFit, or None
        if it cannot do any of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> data = TrainingData(np.eye(3), np.arange(3.0))
    >>> shortcut_for(Ridge(), data) is None
    False
    >>> shortcut_for(Lasso(), data) is None
    True
    """
    last = steps_of(learner)[-1]
    known = _KNOWN.get(type(last))
    if known is None:
        return None
    if known.behind != "anything":
        is_behind = last is not learner
        if is_behind and not (known.behind == "scaler" and _is_scaled(learner)):
            return None
        if matrix_of(data.X) is None:
            return None
    if not known.handles(last, data):
        return None
    fit = known.fit

    def shortcut(
        learner: Any, data: TrainingData, tasks: Tasks, method: str
    ) -> list[NodeFit] | None:
        fits = fit(learner, data, tasks, method)
        if fits is None or all(found is None for found in fits):
            return None
        return [
            fit_generally(learner, data, task, method) if found is None else found
            for task, found in zip(tasks, fits, strict=True)
        ]

    return shortcut


def takes_long(learner: Any) -> bool:
    """Tell whether a learner's shortcut costs as much as fits do.

    Parameters
    ----------
    learner : estimator
        One that has a shortcut.

    Returns
    -------
    bool
        True for what is fitted behind any transformers: these are fitted node by node.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> takes_long(Ridge())
    False
    """
    known = _KNOWN.get(type(steps_of(learner)[-1]))
    return known is not None and known.behind == "anything"


def _is_scaled(learner: Any) -> bool:
    """Tell whether a plain Pipeline is a StandardScaler and one more step."""
    return (
        len(learner.steps) == 2
        and type(learner.steps[0][1]) is StandardScaler
        and get_config()["transform_output"] == "default"
        and not hasattr(learner.steps[0][1], "_sklearn_output_config")
    )


def fit_nodes(
    learner: Any, data: TrainingData, tasks: Tasks, method: str = "predict"
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
    >>> from foldwise.learners import NodeTask, TrainingData
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> data = TrainingData(X, 3 * X.ravel())
    >>> tasks = [NodeTask(np.arange(6), np.array([6, 7]))]
    >>> fit_nodes(Ridge(alpha=0), data, tasks)[0].predictions.ravel()
    array([18., 21.])
    """
    shortcut = shortcut_for(learner, data)
    fits = None if shortcut is None else shortcut(learner, data, tasks, method)
    return fits or [fit_generally(learner, data, task, method) for task in tasks]


register(LinearRegression, linear.handles_least_squares, linear.fit_least_squares, behind="scaler")
register(Ridge, linear.handles_ridge, linear.fit_ridge, behind="scaler")
register(RidgeCV, linear.handles_ridge_grid, linear.fit_ridge_grid, behind="scaler")
register(LinearDiscriminantAnalysis, gaussian.handles_discriminant, gaussian.fit_lda)
register(QuadraticDiscriminantAnalysis, gaussian.handles_discriminant, gaussian.fit_qda)
register(GaussianNB, gaussian.handles_naive_bayes, gaussian.fit_naive_bayes)
register(KNeighborsClassifier, neighbors.handles_neighbors, neighbors.fit_neighbors)
register(KNeighborsRegressor, neighbors.handles_neighbors, neighbors.fit_neighbors)
register(KernelRidge, kernels.handles_kernel_ridge, kernels.fit_kernel_ridge)
register(GaussianProcessRegressor, kernels.handles_gaussian_process, kernels.fit_gaussian_process)
