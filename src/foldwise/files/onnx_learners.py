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


def add_learner(graph: Graph, model: Any, names: Any, n_classes: int | None, label: str) -> str:
    """Add a fitted model to a graph and return the name of its values or probabilities."""
    source, n_features = INPUT, graph.n_features
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], PickColumns):
        places = _places(model.steps[0][1].columns, names, n_features)
        source, n_features = graph.columns(INPUT, places), len(places)
        model = model.steps[1][1] if len(model.steps) == 2 else Pipeline(model.steps[1:])
    if isinstance(model, Net):
        return add_net(graph, model, source)
    converted = _converted(model, n_features, n_classes, label)
    return graph.model(converted, 0 if n_classes is None else 1, source, n_classes or 1)


def _places(columns: Any, names: Any, n_features: int) -> list[int]:
    every = list(range(n_features))
    if isinstance(columns, slice):
        return every[columns]
    picked = np.asarray(columns)
    if picked.dtype == bool:
        return np.flatnonzero(picked).tolist()
    known = [] if names is None else list(names)
    return [known.index(c) if isinstance(c, str) else every[c] for c in picked.tolist()]


def _converted(model: Any, n_features: int, n_classes: int | None, label: str) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    _know_boosters()
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    try:
        return convert_sklearn(
            model,
            initial_types=[(INPUT, FloatTensorType([None, n_features]))],
            options=None if n_classes is None else {id(last): {"zipmap": False}},
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
    from skl2onnx.common import shape_calculator

    of_values = shape_calculator.calculate_linear_regressor_output_shapes
    of_classes = shape_calculator.calculate_linear_classifier_output_shapes
    choices = {"nocl": [True, False], "zipmap": [True, False, "columns"]}
    known: list[tuple[Any, ...]] = [
        (LGBMRegressor, "LightGbmLGBMRegressor", of_values, convert_lightgbm, {"split": None}),
        (LGBMClassifier, "LightGbmLGBMClassifier", of_classes, convert_lightgbm, choices),
    ]
    if sys.modules.get("xgboost"):
        from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
        from xgboost import XGBClassifier, XGBRegressor

        known += [
            (XGBRegressor, "XGBoostXGBRegressor", of_values, convert_xgboost, {}),
            (XGBClassifier, "XGBoostXGBClassifier", of_classes, convert_xgboost, choices),
        ]
    for cls, alias, shapes, convert, options in known:
        update_registered_converter(cls, alias, shapes, convert, options=options)
