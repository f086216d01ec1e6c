import numpy as np
import onnxruntime
from numpy.testing import assert_allclose
from onnx import TensorProto

from foldwise.files.onnx_graph import Graph

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)


def run(graph: Graph, source: str, width: int) -> np.ndarray:
    graph.output(source, "out", TensorProto.DOUBLE, [None, width])
    content = graph.proto("test").SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})[0]


def as_doubles(graph: Graph) -> str:
    return graph.node("Cast", "X", to=TensorProto.DOUBLE)


def test_sums_columns_and_linear_maps_are_numpys() -> None:
    graph = Graph(3)
    rows = as_doubles(graph)
    total = graph.weighted_sum([rows, rows], [2.0, 0.5])
    picked = graph.columns(total, [2, 0])
    out = graph.linear(picked, np.array([[1.0], [10.0]]), np.array([3.0]))
    assert_allclose(run(graph, out, 1), 2.5 * (X[:, [2]] + 10 * X[:, [0]]) + 3)


def test_two_classes_from_one() -> None:
    graph = Graph(3)
    out = graph.both_classes(graph.columns(as_doubles(graph), [0]))
    assert_allclose(run(graph, out, 2), np.column_stack([1 - X[:, 0], X[:, 0]]))


def test_names_are_never_given_twice() -> None:
    graph = Graph(1)
    assert len({graph.name("x") for _ in range(100)}) == 100
