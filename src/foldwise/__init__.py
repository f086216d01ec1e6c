"""Ensembles that know their own error.

``import foldwise`` costs next to nothing: each public name is imported when first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES: dict[str, str] = {
    "AdaBoostClassifier": "foldwise.boost",
    "AutoStackClassifier": "foldwise.auto",
    "AutoStackRegressor": "foldwise.auto",
    "AveragedCVClassifier": "foldwise.subset",
    "AveragedCVRegressor": "foldwise.subset",
    "BaggingClassifier": "foldwise.resample",
    "BaggingRegressor": "foldwise.resample",
    "BayesianModelAveragingClassifier": "foldwise.subset",
    "BayesianModelAveragingRegressor": "foldwise.subset",
    "BestSubsetRegressor": "foldwise.subset",
    "CalibratedClassifier": "foldwise.stack",
    "EnsembleSelectionClassifier": "foldwise.stack",
    "EnsembleSelectionRegressor": "foldwise.stack",
    "ForwardStagewiseClassifier": "foldwise.paths",
    "ForwardStagewiseRegressor": "foldwise.paths",
    "GradientBoostingClassifier": "foldwise.boost",
    "GradientBoostingRegressor": "foldwise.boost",
    "ISLEClassifier": "foldwise.isle",
    "ISLERegressor": "foldwise.isle",
    "LassoPathClassifier": "foldwise.paths",
    "LassoPathRegressor": "foldwise.paths",
    "NetClassifier": "foldwise.nets",
    "NetRegressor": "foldwise.nets",
    "NewtonBoostingClassifier": "foldwise.boost",
    "NewtonBoostingRegressor": "foldwise.boost",
    "RuleFitClassifier": "foldwise.rules",
    "RuleFitRegressor": "foldwise.rules",
    "StackingClassifier": "foldwise.stack",
    "StackingRegressor": "foldwise.stack",
    "TableEncoder": "foldwise.auto.tables",
    "column_kinds": "foldwise.auto.tables",
    "read_table": "foldwise.auto.tables",
    "load": "foldwise.files",
    "save": "foldwise.files",
    "write_report": "foldwise.report",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foldwise' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
