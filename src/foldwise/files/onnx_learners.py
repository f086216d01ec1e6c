"""Single fitted models as ONNX, by skl2onnx and onnxmltools."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from foldwise.errors import Plain, unsupported
from foldwise.files.onnx_graph import INPUT, OPSET, Graph
from foldwise.files.onnx_nets import add_net
from foldwise.learners import PickColumns
from foldwise.nets.estimators import Net


def not_exported(must: str, got: Any, fix: str) -> Exception:
    """Build the error for what has no ONNX."""
    return unsupported("export_onnx", "model", must=must, got=got, fix=fix)


def add_learner(
    graph: Graph, model: Any, names: Any, *, probabilities: bool, width: int, label: str
) -> str:
    """Add a fitted model to a graph and return the name of its response."""
    source, n_features = INPUT, graph.n_features
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], PickColumns):
        places = _places(model.steps[0][1].columns, names, n_features)
        source, n_features = graph.columns(INPUT, places), len(places)
        model = model.steps[1][1] if len(model.steps) == 2 else Pipeline(model.steps[1:])
    if isinstance(model, Net):
        return add_net(graph, model, source)
    converted = _converted(model, n_features, probabilities, label)
    return graph.model(converted, 1 if probabilities else 0, source, width)


def _places(columns: Any, names: Any, n_features: int) -> list[int]:
    every = list(range(n_features))
    if isinstance(columns, slice):
        return every[columns]
    picked = np.asarray(columns)
    if picked.dtype == bool:
        return np.flatnonzero(picked).tolist()
    known = [] if names is None else list(names)
    return [known.index(c) if isinstance(c, str) else every[c] for c in picked.tolist()]


def _converted(model: Any, n_features: int, probabilities: bool, label: str) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    _know_boosters()
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    try:
        return convert_sklearn(
            model,
            initial_types=[(INPUT, FloatTensorType([None, n_features]))],
            options={id(last): {"zipmap": False}} if probabilities else None,
            target_opset=OPSET,
        )
    except Exception as error:
        must = "hold only learners that skl2onnx and onnxmltools can convert"
        got = Plain(f"{label!r}, a {type(last).__name__}")
        raise not_exported(must, got, "Leave it out, or use foldwise.save.") from error


def _know_boosters() -> None:
    """Tell skl2onnx about LightGBM and, where it was imported, XGBoost."""
    import sys

    from lightgbm import LGBMClassifier, LGBMRegressor
    from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
        calculate_linear_regressor_output_shapes,
    )

    known = [
        (LGBMRegressor, "LightGbmLGBMRegressor", convert_lightgbm, {"split": None}),
        (LGBMClassifier, "LightGbmLGBMClassifier", convert_lightgbm, None),
    ]
    if sys.modules.get("xgboost"):
        from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
        from xgboost import XGBClassifier, XGBRegressor

        known += [
            (XGBRegressor, "XGBoostXGBRegressor", convert_xgboost, {}),
            (XGBClassifier, "XGBoostXGBClassifier", convert_xgboost, None),
        ]
    choices = {"nocl": [True, False], "zipmap": [True, False, "columns"]}
    for cls, alias, convert, options in known:
        regresses = options is not None
        update_registered_converter(
            cls,
            alias,
            calculate_linear_regressor_output_shapes
            if regresses
            else calculate_linear_classifier_output_shapes,
            convert,
            options=options if regresses else choices,
        )
