"""Networks as ONNX, node by node as :func:`foldwise.nets.network.respond` says it."""

from typing import Any

import numpy as np

from foldwise.files.onnx_graph import Graph
from foldwise.nets.inputs import FARTHEST, Inputs


def add_net(graph: Graph, net: Any, source: str) -> str:
    """Add a fitted network to a graph and return the name of its response."""
    weights = {name: np.asarray(values, np.float64) for name, values in net.weights_.items()}
    x = _read(graph, net.inputs_, source)
    if "frequency" in weights:
        x = graph.node("Concat", x, _waves(graph, weights, x, net.shape_.n_waved), axis=1)
    hidden = graph.node("Mul", x, graph.constant(weights["scale"][:, None]))
    for layer in range(net.shape_.n_layers):
        line = graph.linear(hidden, weights[f"matrix_{layer}"], weights[f"bias_{layer}"])
        curve = graph.node("Mul", line, graph.node("Sigmoid", line))
        bend = graph.constant(weights[f"bend_{layer}"])
        bent = graph.node("Add", line, graph.node("Mul", bend, graph.node("Sub", curve, line)))
        stays = net.shape_.residual and layer
        hidden = graph.node("Add", hidden, bent) if stays else bent
    answers = graph.linear(hidden, weights["head"], weights["head_bias"][:, None])
    if hasattr(net, "classes_"):
        answers = graph.node("Softmax", answers, axis=2)
        return graph.node("ReduceMean", answers, axes=[0], keepdims=0)
    mean = graph.node("ReduceMean", answers, axes=[0], keepdims=0)
    scale = net.targets_
    values = graph.node("Mul", mean, graph.constant(scale.spread))
    values = graph.node("Add", values, graph.constant(scale.centre))
    values = graph.node("Max", values, graph.constant(scale.low))
    return graph.node("Min", values, graph.constant(scale.high))


def _read(graph: Graph, inputs: Inputs, source: str) -> str:
    """Return the columns of the network, as :meth:`Inputs.read` does."""
    from onnx import TensorProto

    x = graph.node("Cast", source, to=TensorProto.DOUBLE)
    unknown = graph.node("IsNaN", x)
    scaled = graph.node("Sub", x, graph.constant(inputs.centre))
    scaled = graph.node("Div", scaled, graph.constant(inputs.spread))
    part = graph.node("Div", scaled, graph.constant(FARTHEST))
    square = graph.node("Add", graph.node("Mul", part, part), graph.constant(1.0))
    scaled = graph.node("Div", scaled, graph.node("Sqrt", square))
    scaled = graph.node("Where", unknown, graph.constant(0.0), scaled)
    columns = [graph.columns(scaled, [*inputs.waved, *inputs.straight])]
    if len(inputs.missing):
        shown = graph.node("Cast", unknown, to=TensorProto.DOUBLE)
        columns.append(graph.columns(shown, inputs.missing.tolist()))
    return graph.node("Concat", *columns, axis=1)


def _waves(graph: Graph, weights: dict[str, Any], x: str, n_waved: int) -> str:
    """Return the cosines of the first columns, mixed."""
    waved = graph.columns(x, range(n_waved))
    waved = graph.node("Unsqueeze", waved, graph.constant([2], np.int64))
    turned = graph.node("Mul", waved, graph.constant(weights["frequency"]))
    waves = graph.node("Cos", graph.node("Add", turned, graph.constant(weights["phase"])))
    by_column = graph.node("Transpose", waves, perm=[1, 0, 2])
    mixed = graph.linear(by_column, weights["wave_mix"], weights["wave_bias"][:, None])
    by_row = graph.node("Transpose", mixed, perm=[1, 0, 2])
    width = weights["wave_bias"].size
    return graph.node("Reshape", by_row, graph.constant([-1, width], np.int64))
