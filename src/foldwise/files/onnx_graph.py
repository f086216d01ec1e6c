"""Pieces of ONNX graphs put together into one, in the numbers of the combination: doubles."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.arrays import Array

OPSET = {"": 17, "ai.onnx.ml": 3}
INPUT = "X"


class Graph:
    """A growing ONNX graph with one input of 32-bit numbers."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        self._count = 0

    def name(self, hint: str) -> str:
        """Return a name nobody has."""
        self._count += 1
        return f"{hint}_{self._count}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = self.name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        from onnx import helper

        name = self.name(kind.lower())
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def model(self, converted: Any, place: int, source: str, width: int) -> str:
        """Add a whole model and return the name of one of its outputs, as doubles."""
        from onnx import TensorProto, compose

        prefix = self.name("model") + "_"
        part = compose.add_prefix(converted, prefix).graph
        own = part.input[0].name
        for node in part.node:
            for i, name in enumerate(node.input):
                if name == own:
                    node.input[i] = source
        self.nodes += part.node
        self.constants += part.initializer
        shape = self.constant([-1, width], np.int64)
        flat = self.node("Reshape", part.output[place].name, shape)
        return self.node("Cast", flat, to=TensorProto.DOUBLE)

    def weighted_sum(self, parts: Sequence[str], weights: Sequence[Any]) -> str:
        """Return the sum of matrices, each times a number or a row of numbers."""
        scaled = [
            self.node("Mul", part, self.constant(weight))
            for part, weight in zip(parts, weights, strict=True)
        ]
        return scaled[0] if len(scaled) == 1 else self.node("Sum", *scaled)

    def columns(self, source: str, places: Sequence[int]) -> str:
        """Return some columns of a matrix."""
        return self.node("Gather", source, self.constant(places, np.int64), axis=1)

    def linear(self, source: str, coefficients: Array, intercept: Array) -> str:
        """Return a matrix times coefficients, and the intercept."""
        product = self.node("MatMul", source, self.constant(coefficients))
        return self.node("Add", product, self.constant(intercept))

    def both_classes(self, second: str) -> str:
        """Return the probabilities of two classes from that of the second."""
        first = self.node("Sub", self.constant(1.0), second)
        return self.node("Concat", first, second, axis=1)

    def output(self, source: str, name: str, kind: int, shape: list[Any]) -> None:
        """Make something an output, in a type of ONNX."""
        from onnx import TensorProto, helper

        final = "Identity" if kind in (TensorProto.STRING, TensorProto.INT64) else "Cast"
        attributes = {} if final == "Identity" else {"to": kind}
        self.nodes.append(helper.make_node(final, [source], [name], name=name, **attributes))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def proto(self, title: str) -> Any:
        """Return the finished, checked model."""
        from onnx import TensorProto, checker, helper

        start = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [None, self.n_features])
        graph = helper.make_graph(self.nodes, title, [start], self.outputs, self.constants)
        imports = [helper.make_opsetid(domain, version) for domain, version in OPSET.items()]
        model = helper.make_model(graph, producer_name="foldwise", opset_imports=imports)
        model.ir_version = 8
        checker.check_model(model)
        return model
