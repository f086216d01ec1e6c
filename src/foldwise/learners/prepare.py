"""Getting a learner ready for a node: cloned, seeded, silent, weighted."""

import copy
import inspect
import numbers
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter, validate_data

from foldwise._sklearn import n_samples, take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import ALIGNMENT, aligned_room, let_go
from foldwise.learners.tasks import TrainingData

# Less than this is not worth avoiding a copy of.
BLOCK_BYTES = 2**25
# Of rows that are copied, before what was read of the table around them is let go.
PART_BYTES = 2**21
# LightGBM has four names for it.
EARLY_STOPPING = (
    "early_stopping_rounds", "early_stopping_round", "early_stopping", "n_iter_no_change",
)  # fmt: skip


def prepared(learner: Any, seed: int | None) -> Any:
    """Return a clone whose empty random states are filled and that prints nothing.

    Parameters
    ----------
    learner : estimator
        What to clone.
    seed : int or None
        Fills every ``random_state`` that is None, those of splitters (``cv``) included.

    Returns
    -------
    estimator
        The clone.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> prepared(RandomForestRegressor(), 7).random_state
    7
    >>> prepared(RandomForestRegressor(random_state=1), 7).random_state
    1
    """
    model = cloned(learner)
    parameters = model.get_params(deep=True)
    if seed is not None:
        model.set_params(**dict.fromkeys(unset_states(parameters), seed))
        model.set_params(**seeded_splitters(parameters, seed))
    for part in [model, *parameters.values()]:
        _silence(part)
    return model


def cloned(learner: Any) -> Any:
    """Return a clone, also of CatBoost's models, which copy a list they are given."""
    try:
        return clone(learner)
    except RuntimeError:
        whole = copy.deepcopy(learner)
        parts = [whole, *whole.get_params(deep=True).values()]
        stubborn = [part for part in parts if package_of(part) == "catboost"]
        if not stubborn:
            raise
    for part in stubborn:
        made: Any = type(part)
        part.__sklearn_clone__ = partial(made, **part.get_params())
    return clone(whole)


def cloned_within(parts: Any) -> Any:
    """Return lists of learners with clones in them, and copies of all else.

    What cannot be copied stays as it is: no fit, which is of a copy, can change it.
    """
    if isinstance(parts, list | tuple):
        return type(parts)(map(cloned_within, parts))
    known = hasattr(parts, "get_params") and not isinstance(parts, type)
    try:
        return cloned(parts) if known else copy.deepcopy(parts)
    except TypeError:
        return parts


def package_of(model: Any) -> str:
    """Return the package a model is from."""
    return type(model).__module__.partition(".")[0]


def draws_unseeded(value: Any) -> bool:
    """Tell whether a parameter is a splitter that would split otherwise each time."""
    return (
        not isinstance(value, type)
        and hasattr(value, "split")
        and getattr(value, "random_state", 0) is None
        and bool(getattr(value, "shuffle", True))
    )


def unset_states(parameters: dict[str, Any]) -> list[str]:
    """Return the names of the random states that are None."""
    unset = [name for name, value in parameters.items() if value is None]
    return [name for name in unset if name.split("__")[-1] == "random_state"]


def seeded_splitters(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return copies of splitters that split the same way each time, of those that would not."""
    copies = {name: copy.copy(v) for name, v in parameters.items() if draws_unseeded(v)}
    for splitter in copies.values():
        splitter.random_state = seed
    return copies


def _silence(model: Any) -> None:
    """Turn off the standard output of the C++ libraries, unless the user turned it on."""
    home = package_of(model)
    if home == "lightgbm" and hasattr(model, "set_params"):
        said = model.get_params()
        if not {"verbose", "verbosity"} & said.keys():
            model.set_params(verbosity=-1)
    elif home == "catboost" and hasattr(model, "set_params"):
        said = model.get_params()
        if not {"verbose", "silent", "logging_level", "verbose_eval"} & said.keys():
            model.set_params(verbose=False, allow_writing_files=False)


def weight_argument(learner: Any) -> str | None:
    """Return the name under which ``fit`` takes sample weights, None if it cannot.

    Weights reach the last step of a Pipeline, and the estimator inside a search.

    Parameters
    ----------
    learner : estimator
        Whose ``fit``.

    Returns
    -------
    str or None
        For a Pipeline with the name of its step.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_argument(make_pipeline(StandardScaler(), Ridge()))
    'ridge__sample_weight'
    >>> weight_argument(KNeighborsRegressor()) is None
    True
    """
    if has_fit_parameter(learner, "sample_weight"):
        return "sample_weight"
    parameters = inspect.signature(learner.fit).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    if isinstance(learner, Pipeline):
        name, last = learner.steps[-1]
        argument = None if last in (None, "passthrough") else weight_argument(last)
        return None if argument is None else f"{name}__{argument}"
    # Not "or": the truth of an ensemble is its length, which it has only once it is fitted.
    inner = [getattr(learner, name, None) for name in ("estimator", "regressor")]
    within = next((model for model in inner if hasattr(model, "fit")), None)
    return "sample_weight" if within is None else weight_argument(within)


def stops_early_on_given_rows(model: Any) -> bool:
    """Tell whether the model must be given rows to stop early on."""
    rounds = [model.get_params(deep=False).get(name) for name in EARLY_STOPPING]
    wants = any(isinstance(number, numbers.Real) and float(number) > 0 for number in rounds)
    return wants and any(has_fit_parameter(model, name) for name in ("eval_X", "eval_set"))


def aligned(
    values: FloatArray, seen: IntArray, n_classes: int, n_train: int, method: str
) -> FloatArray:
    """Spread columns of the classes a model saw over all classes.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_seen)
        One column for each class the model saw.
    seen : ndarray of int
        The codes of these classes.
    n_classes : int
        Number of classes in all.
    n_train : int
        Rows the model was fitted on.
    method : str
        What the values are: probabilities for "predict_proba".

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        A class that was not seen has a small probability, or the smallest score of the row.

    Examples
    --------
    >>> import numpy as np
    >>> aligned(np.array([[0.5, 0.5]]), np.array([0, 2]), 3, 7, "predict_proba").round(2)
    array([[0.45, 0.1 , 0.45]])
    """
    if len(seen) == n_classes:
        return values
    full = np.empty((len(values), n_classes))
    if method == "predict_proba":
        # What a class that the node's rows did not hold is given.
        share = 1.0 / (n_train + n_classes)
        full[:] = share
        full[:, seen] = values * (1.0 - share * (n_classes - len(seen)))
    else:
        full[:] = values.min(axis=1, keepdims=True)
        full[:, seen] = values
    return full


def over_all_classes(
    values: FloatArray, seen: Any, n_classes: int, n_train: int, method: str
) -> FloatArray:
    """Spread a model's response over all classes, one column of two classes included.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_seen) or (n_samples, 1)
        What the model said.
    seen : array of int
        The codes of the classes it saw.
    n_classes : int
        Number of classes in all.
    n_train : int
        Rows the model was fitted on.
    method : str
        What it was asked for.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The values as they are where columns do not stand for classes.

    Examples
    --------
    >>> import numpy as np
    >>> over_all_classes(np.array([[0.4, 0.6]]), [0, 2], 3, 8, "predict_proba").round(3)
    array([[0.364, 0.091, 0.545]])
    """
    codes = np.asarray(seen, dtype=np.intp)
    if values.shape[1] == 1 and len(codes) == 2 and n_classes > 2:
        values = np.column_stack([-values[:, 0], values[:, 0]])
    if values.shape[1] != len(codes):
        return values
    return aligned(values, codes, n_classes, n_train, method)


class PickColumns(TransformerMixin, BaseEstimator):
    """Pick columns by name, number, mask or slice.

    Parameters
    ----------
    columns : list, mask or slice
        Which columns.

    Examples
    --------
    >>> import numpy as np
    >>> PickColumns([1]).fit_transform(np.array([[1, 2], [3, 4]]))
    array([[2],
           [4]])
    """

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """Return the columns."""
        return take(X, self.columns, axis=1)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return a fresh copy of some rows of an array, sparse matrix or data frame.

    An array's begins at a multiple of 64 bytes, wherever the rows come from: compiled loops
    may round differently on memory that is aligned otherwise.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        All rows.
    rows : ndarray of int
        Which of them.

    Returns
    -------
    array, sparse matrix or data frame
        Of the kind of X.

    Examples
    --------
    >>> import numpy as np
    >>> take_rows(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0]))
    array([[3.],
           [1.]])
    """
    if not isinstance(X, np.ndarray):
        values = one_array(X)
        if values is None or not values.flags.c_contiguous:
            return take(X, rows)
        own = take_rows(values, rows)
        return type(X)(own, index=X.index.take(rows), columns=X.columns, copy=False)
    if X.dtype.hasobject or not X.flags.c_contiguous:
        return _at_boundary(X[rows])
    copied = aligned_room(X.dtype, (len(rows), *X.shape[1:]))
    step = max(1, PART_BYTES // max(X[:1].nbytes, 1))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        np.take(X, rows[part], axis=0, out=copied[part], mode="clip")
        if start + step < len(rows):
            let_go()
    return copied


def one_array(X: Any) -> Any:
    """Return the array that a large pandas frame keeps all of its cells in; None if it does not."""
    if type(X) is not pd.DataFrame or 8 * X.size <= BLOCK_BYTES or len(set(X.dtypes)) > 1:
        return None
    # A frame of several parts would be copied: a few rows show whether it is one.
    few: Any = X.iloc[:2].to_numpy()
    root = few
    while isinstance(root.base, np.ndarray):
        root = root.base
    whole = few.dtype.kind == "f" and root.nbytes >= few.itemsize * X.size
    return X.to_numpy() if whole else None


def _at_boundary(array: Array) -> Array:
    if array.dtype.hasobject or array.ctypes.data % ALIGNMENT == 0 or not array.flags.c_contiguous:
        return array
    copied = aligned_room(array.dtype, array.shape)
    copied[...] = array
    return copied


def _asked_trees(model: Any, X: Any, method: str) -> FloatArray | None:
    """Return what a forest of scikit-learn answers, each tree asked directly; None for all else.

    The same bits; of few rows, most of the forest's own time is spent between its trees.
    """
    own = "predict_proba" if hasattr(model, "classes_") else "predict"
    forest = type(model).__module__ == "sklearn.ensemble._forest" and hasattr(model, "estimators_")
    if not forest or method != own or type(X) is not np.ndarray or X.dtype.kind != "f":
        return None
    with np.errstate(over="ignore"):
        rows = np.asarray(X, dtype=np.float32)
    trees = [tree.tree_ for tree in model.estimators_]
    # What it would refuse it is to refuse itself, and what it does in threads is quick.
    fits = rows.ndim == 2 and all(rows.shape[1] == tree.n_features for tree in trees)
    alone = bool(trees) and model.n_jobs in (None, 1) and model.n_outputs_ == 1
    if not fits or not alone or not len(rows) or not np.isfinite(rows).all():
        return None
    total: FloatArray = np.zeros((len(rows), trees[0].max_n_classes))
    for tree in trees:
        total += tree.predict(rows)
    return total / len(trees)


def respond(model: Any, X: Any, method: str, data: TrainingData, n_train: int) -> FloatArray:
    """Return a fitted model's response as a finite matrix, columns aligned to all classes.

    Parameters
    ----------
    model : estimator
        A fitted one.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows.
    method : str
        What to ask for.
    data : TrainingData
        What it was fitted on: number of classes and targets.
    n_train : int
        Rows it was fitted on.

    Returns
    -------
    ndarray of shape (n_samples, width)
        One column a target, or one a class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise.learners import TrainingData
    >>> data = TrainingData(np.eye(2), np.array([1.0, 3.0]))
    >>> respond(LinearRegression().fit(data.X, data.y), data.X, "predict", data, 2).round(6)
    array([[1.],
           [3.]])
    """
    values = _asked_trees(model, X, method)
    if values is None:
        values = np.asarray(getattr(model, method)(X), dtype=np.float64)
    n_rows = n_samples(X)
    if values.ndim == 0 or len(values) != n_rows:
        raise ValueError(
            f"{type(model).__name__}.{method} returned shape {values.shape} for {n_rows} rows"
        )
    values = values.reshape(n_rows, -1)
    n_targets = n_targets_of(data)
    if data.n_classes is None and values.shape[1] != n_targets:
        raise ValueError(
            f"{type(model).__name__}.{method} returned {values.shape[1]} columns for "
            f"{n_targets} target{'s' if n_targets > 1 else ''}"
        )
    if method != "predict" and data.n_classes is not None and hasattr(model, "classes_"):
        values = over_all_classes(values, model.classes_, data.n_classes, n_train, method)
    if not np.isfinite(values).all():
        raise ValueError(f"{type(model).__name__}.{method} returned values that are not finite")
    return values


def n_targets_of(data: TrainingData) -> int:
    """Return how many columns y has."""
    return 1 if data.y.ndim == 1 else int(data.y.shape[1])


def fitted(learner: Any, X: Any, seed: int | None, learned: dict[str, Any]) -> Any:
    """Return a clone of the learner that has learned these attributes, and the features' names."""
    model = prepared(learner, seed)
    validate_data(model, take_rows(X, np.arange(1)), skip_check_array=True)
    for name, value in learned.items():
        setattr(model, name, value)
    return model
