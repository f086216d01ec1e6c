"""A fitted stack as one ONNX file: the mean of the fold models, and the stacker on top."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.utils.validation import check_is_fitted

from foldwise.engine import write_whole
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.files.onnx_graph import Graph
from foldwise.files.onnx_learners import add_learner, not_exported
from foldwise.stack.estimator import BaseStacking
from foldwise.stack.fit import FittedStack
from foldwise.stack.problem import Entry
from foldwise.stack.stackers.linear import PathStacker, PoolStacker
from foldwise.stack.stackers.means import WeightsStacker
from foldwise.stack.table.read import clip_amount

PACKAGES = ("onnx", "skl2onnx", "onnxmltools", "onnxruntime")
LINEAR = (
    "ElasticNet", "ElasticNetCV", "Lasso", "LassoCV", "LinearRegression", "Ridge", "RidgeCV",
    "RidgeInBlocks",
)  # fmt: skip


def export_onnx(model: Any, path: Any, X: Any, *, tolerance: float = 1e-4) -> float:
    """Write a fitted model as ONNX, after comparing it with ONNX Runtime on some rows.

    Parameters
    ----------
    model : fitted stack, or estimator of scikit-learn, LightGBM or XGBoost
        A stack has one layer and no columns passed through, learners that skl2onnx and
        onnxmltools can convert, and a weighted mean, a linear or a logistic model on top.
    path : str or Path
        Where to.
    X : array or data frame of shape (n_samples, n_features)
        Numbers; rows on which the file is checked before it is written.
    tolerance : float, default=1e-4
        How far predictions may differ, relative to the largest (probabilities: absolutely).

    Returns
    -------
    float
        How far they do.

    Notes
    -----
    The input ``X`` holds 32-bit numbers, as trees in ONNX compare them, so a row that lies on a
    split may fall on its other side. Outputs are ``predictions``, or ``labels`` and
    ``probabilities``. Needs the extra ``onnx``.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from foldwise import StackingRegressor
    >>> X, y = make_regression(50, 3, random_state=0)
    >>> stack = StackingRegressor([("line", LinearRegression()), ("ridge", Ridge())]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(stack, f"{folder}/stack.onnx", X) < 1e-4
    True
    """
    check_is_fitted(model)
    _check_installed()
    rows = _numbers(X)
    graph = Graph(rows.shape[1])
    _add_outputs(graph, _response(graph, model), model.classes_ if is_classifier(model) else None)
    content = graph.proto(type(model).__name__).SerializeToString()
    difference = _difference(model, content, rows, X)
    if not difference <= tolerance:
        got = Plain(f"a difference of {difference:.3g}")
        fix = "Give a greater tolerance, or use foldwise.save."
        raise not_exported(f"predict the same in ONNX Runtime, to {tolerance:g}", got, fix)
    write_whole(Path(path), [content])
    return difference


def _check_installed() -> None:
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        got = Plain(f"no {missing[0]}")
        must, fix = f"be installed: {', '.join(PACKAGES)}", "Run pip install 'foldwise[onnx]'."
        raise invalid_parameter("export_onnx", "packages", must=must, got=got, fix=fix)


def _numbers(X: Any) -> Any:
    try:
        rows = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        must, fix = "hold numbers only", "Encode the other columns before the stack."
        raise invalid_data("export_onnx", "X", must=must, got=Plain(str(error)), fix=fix) from error
    if rows.ndim != 2 or not len(rows):
        must, fix = "be a table with rows", "Give some rows."
        raise invalid_data("export_onnx", "X", must=must, got=rows.shape, fix=fix)
    return rows


def _response(graph: Graph, model: Any) -> str:
    """Return the name of the values, or of the probabilities of all classes."""
    names = getattr(model, "feature_names_in_", None)
    if not isinstance(model, BaseStacking):
        n_classes = len(model.classes_) if is_classifier(model) else None
        return add_learner(graph, model, names, n_classes, type(model).__name__)
    each = [_stacked(graph, deal, names) for deal in model.deals_]
    return graph.weighted_sum(each, [1.0 / len(each)] * len(each))


def _stacked(graph: Graph, deal: FittedStack, names: Any) -> str:
    correction = deal.verdict.correction
    untouched = correction is None or (
        correction.threshold is None
        and (correction.calibration is None or correction.calibration.map is None)
    )
    targets = deal.top.problem.data.y
    if len(deal.layers) > 1 or deal.top.problem.passthrough is not None or not untouched:
        must = "have one layer, nothing passed through, no calibration and no threshold"
        raise not_exported(must, Plain("more than that"), "Use foldwise.save.")
    if targets.ndim > 1 and targets.shape[1] > 1:
        raise not_exported("have one target", Plain(f"{targets.shape[1]}"), "Use foldwise.save.")
    read = deal.top.of(deal.verdict.names).entries
    outputs = [_mean_of_models(graph, deal, entry, names) for entry in read]
    return _combined(graph, deal, outputs)


def _mean_of_models(graph: Graph, deal: FittedStack, entry: Entry, names: Any) -> str:
    """Return a learner's compact response: the mean over the models that predict new rows."""
    n_classes = deal.top.problem.data.n_classes
    wanted = "value" if n_classes is None else "probability"
    if entry.kind != wanted:
        got = Plain(f"{entry.name!r}, which gives a {entry.kind}")
        fix = "Leave it out, or use foldwise.save."
        raise not_exported("hold regressors, or classifiers with probabilities", got, fix)
    cells = deal.top.table.cells(entry.name, deal.reading.deployed)
    parts = []
    for cell in cells:
        model = deal.top.table.models[cell]
        if n_classes is not None and len(model.classes_) != n_classes:
            got = Plain(f"{entry.name!r} without some")
            fix = "Fit on more rows, or use foldwise.save."
            raise not_exported("hold models that have seen every class", got, fix)
        parts.append(add_learner(graph, model, names, n_classes, entry.name))
    mean = graph.weighted_sum(parts, [times / cells.total() for times in cells.values()])
    return graph.columns(mean, [1]) if n_classes == 2 else mean


def _combined(graph: Graph, deal: FittedStack, outputs: list[str]) -> str:
    stacker, n_classes = deal.verdict.stacker, deal.top.problem.data.n_classes
    if isinstance(stacker, WeightsStacker):
        mean = graph.weighted_sum(outputs, [float(w) for w in stacker.weights_])
        return graph.both_classes(mean) if n_classes == 2 else mean
    if n_classes is None and (isinstance(stacker, PathStacker) or type(stacker).__name__ in LINEAR):
        coefficients = np.asarray(stacker.coef_).reshape(len(outputs), 1)
        matrix = graph.node("Concat", *outputs, axis=1)
        return graph.linear(matrix, coefficients, np.reshape(stacker.intercept_, (1,)))
    clip = clip_amount(deal.top.problem.amount)
    if type(stacker) in (LogisticRegression, LogisticRegressionCV):
        linear = np.asarray(stacker.coef_), np.asarray(stacker.intercept_)
        return _logistic(graph, linear, outputs, clip, n_classes)
    if isinstance(stacker, PoolStacker):
        return _logistic(graph, stacker.as_logistic(), outputs, clip, n_classes)
    got, fix = Plain(type(stacker).__name__), "Use restack('nnls'), or foldwise.save."
    raise not_exported("have a weighted mean, a linear or a logistic model on top", got, fix)


def _logistic(
    graph: Graph, linear: tuple[Any, Any], outputs: list[str], clip: float, n_classes: int | None
) -> str:
    low, high = graph.constant(clip), graph.constant(1.0 - clip)
    columns = []
    for output in outputs:
        clipped = graph.node("Min", graph.node("Max", output, low), high)
        logs = graph.node("Log", clipped)
        if n_classes == 2:
            rest = graph.node("Log", graph.node("Sub", graph.constant(1.0), clipped))
            columns.append(graph.node("Sub", logs, rest))
        else:
            mean = graph.node("ReduceMean", logs, axes=[1], keepdims=1)
            columns.append(graph.node("Sub", logs, mean))
    matrix = graph.node("Concat", *columns, axis=1)
    scores = graph.linear(matrix, linear[0].T, linear[1])
    if n_classes == 2:
        return graph.both_classes(graph.node("Sigmoid", scores))
    return graph.node("Softmax", scores, axis=1)


def _add_outputs(graph: Graph, response: str, classes: Any) -> None:
    from onnx import TensorProto

    if classes is None:
        flat = graph.node("Reshape", response, graph.constant([-1], np.int64))
        graph.output(flat, "predictions", TensorProto.FLOAT, [None])
        return
    best = graph.node("ArgMax", response, axis=1, keepdims=0)
    text = np.asarray(classes).dtype.kind in "OUS"
    kind = TensorProto.STRING if text else TensorProto.INT64
    table = graph.constant(
        [str(c) for c in classes] if text else classes, object if text else np.int64
    )
    graph.output(graph.node("Gather", table, best), "labels", kind, [None])
    graph.output(response, "probabilities", TensorProto.FLOAT, [None, len(classes)])


def _difference(model: Any, content: bytes, rows: Any, X: Any) -> float:
    """Return how far ONNX Runtime is from the model on the same 32-bit numbers."""
    from onnxruntime import InferenceSession

    session = InferenceSession(content, providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": rows})[-1]
    same = rows.astype(np.float64)
    if hasattr(X, "columns"):
        same = type(X)({name: same[:, i] for i, name in enumerate(X.columns)})
    if is_classifier(model):
        return float(np.abs(found - model.predict_proba(same)).max())
    wanted = np.asarray(model.predict(same), dtype=np.float64)
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))
