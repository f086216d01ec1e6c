"""What a model file may hold: the list is ours, never the file's.

Classes are found by their name only where a family below says so; the name in a file is
checked before anything is imported, and what is found is checked again.
"""

import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import scipy.special
from sklearn import feature_selection, metrics
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

import foldwise
from foldwise.errors import Plain
from foldwise.files.refuse import refused, without_library

OURS = re.compile(r"foldwise(\.\w+)+\.\w+")
THEIRS = re.compile(r"(sklearn(\.\w+)+|lightgbm\.sklearn|xgboost\.sklearn|catboost\.core)\.\w+")
# Where nothing a model is made of lives, or where importing does more than define.
CLOSED = {"tests", "externals", "experimental", "datasets", "conftest", "__main__",
          "cli", "engine", "files", "plot", "report"}  # fmt: skip

# Classes without a common base that fitted models are made of.
EXTRA = {
    "catboost.core.CatBoostClassifier",
    "catboost.core.CatBoostRegressor",
    "foldwise.engine.run.RunSummary",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    "sklearn.utils._metadata_requests.MetadataRequest",
}
# Where classes are now whose older names are in files.
MOVED = {"foldwise.stack.judge.judge.Option": "foldwise.stack.stackers.candidates.Option"}
EXTRA_MODULES = ("sklearn._loss.link", "sklearn._loss.loss")
BASES = (BaseEstimator, Kernel, BaseCrossValidator, BaseShuffleSplit)

FUNCTION_HOMES = {
    "numpy": np,
    "scipy.special": scipy.special,
    "sklearn.metrics": metrics,
    "sklearn.feature_selection": feature_selection,
}
FACTORIES: dict[str, Any] = {
    kind.__name__: kind for kind in (float, int, list, dict, OrderedDict)
} | {"None": None}
TYPES: dict[str, type] = {
    f"builtins.{kind.__name__}": kind for kind in (bool, bytes, float, int, object, str)
} | {
    f"numpy.{kind.__name__}": kind
    for kind in {np.dtype(c).type for c in "?bhilqBHILQefdgFDSU"} | {np.number}
}


def name_of(cls: Any) -> str:
    """Return the full name of a class or function."""
    return f"{cls.__module__}.{cls.__qualname__}"


def is_allowed(cls: type, trusted: Sequence[Any] = ()) -> bool:
    """Tell whether objects of a class may be in a file.

    True for what ensembles of foldwise are made of, estimators of scikit-learn, LightGBM and
    XGBoost, and a short list of what these are made of.
    """
    if cls in trusted:
        return True
    name = name_of(cls)
    if name in EXTRA:
        return True
    if CLOSED & set(name.split(".")):
        return False
    if OURS.fullmatch(name):
        return not issubclass(cls, BaseException)
    if not THEIRS.fullmatch(name):
        return False
    return issubclass(cls, BASES) or cls.__module__ in EXTRA_MODULES


def class_named(name: Any, trusted: Sequence[Any] = ()) -> type:
    """Return the allowed class of that name, or refuse."""
    name = MOVED.get(name, name) if isinstance(name, str) else name
    for cls in trusted:
        if isinstance(cls, type) and name == name_of(cls):
            return cls
    known = isinstance(name, str) and (OURS.fullmatch(name) or THEIRS.fullmatch(name))
    if known and (name in EXTRA or not CLOSED & set(name.split("."))):
        module, _, own = name.rpartition(".")
        cls = getattr(_imported(module), own, None)
        if isinstance(cls, type) and name_of(cls) == name and is_allowed(cls):
            return cls
    fix = "If it is a class of yours, give it in trusted=[...]; else do not load this file."
    raise refused("hold only types that foldwise allows", name, fix)


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name == root:
            raise without_library(root) from error
        return None


def function_name(function: Any, trusted: Sequence[Any] = ()) -> str | None:
    """Return the name under which a file may hold a function, None if it may not."""
    if any(function is known for known in trusted):
        return name_of(function)
    own = getattr(function, "__name__", "")
    for home in FUNCTION_HOMES:
        if _public(home, own) is function:
            return f"{home}.{own}"
    return None


def _public(home: str, own: str) -> Any:
    """Return the public function of that name in one of the homes, None if there is none."""
    found = getattr(FUNCTION_HOMES.get(home), own, None)
    if home in ("numpy", "scipy.special"):
        return found if isinstance(found, np.ufunc) else None
    return found if inspect.isfunction(found) and own in FUNCTION_HOMES[home].__all__ else None


def function_named(name: Any, trusted: Sequence[Any] = ()) -> Callable[..., Any]:
    """Return the allowed function of that name, or refuse."""
    for known in trusted:
        if not isinstance(known, type) and name == name_of(known):
            return known
    home, _, own = str(name).rpartition(".")
    found = _public(home, own)
    if found is None:
        raise refused("hold only functions that foldwise allows", Plain(f"{name!r}"))
    return found


def trusted_types() -> list[str]:
    """Return the names of all classes a model file may hold, for skops and MLflow.

    Returns
    -------
    list of str
        Sorted full names. Imports everything, so it takes a second or two.

    Notes
    -----
    ``skops.io.load(file, trusted=trusted_types())`` says that you trust these classes; it
    does not say that you trust the file.

    Examples
    --------
    >>> "foldwise.stack.regressor.StackingRegressor" in trusted_types()
    True
    """
    found = {*EXTRA}
    for module in _modules():
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                found |= {name_of(value)} if is_allowed(value) else set()
    return sorted(found)


def _modules() -> list[Any]:
    """Import every module that allowed classes may be in."""
    from sklearn.utils.discovery import all_estimators

    homes = {found.name for found in walk_packages(foldwise.__path__, "foldwise.")}
    homes = {home for home in homes if not CLOSED & set(home.split("."))}
    homes |= {cls.__module__ for _, cls in all_estimators()} | {"lightgbm.sklearn"}
    homes |= {*EXTRA_MODULES, "sklearn.gaussian_process.kernels", "sklearn.model_selection._split"}
    return [import_module(home) for home in sorted(homes)]
