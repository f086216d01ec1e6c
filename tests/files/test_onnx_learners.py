import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline

from foldwise.files.onnx_graph import Graph
from foldwise.files.onnx_learners import add_learner
from foldwise.learners import PickColumns
from tests.files.test_onnx_graph import X, run

NAMES = ["a", "b", "c"]


@pytest.mark.parametrize(
    "columns", [[0, 2], ["a", "c"], slice(0, None, 2), np.array([True, False, True]), [0, -1]],
    ids=str,
)  # fmt: skip
def test_picked_columns_are_found_however_they_are_named(columns) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 2))
    line = LinearRegression().fit(rows, rows @ [1.0, 2.0] + 3)
    model = Pipeline([("columns", PickColumns(columns)), ("learner", line)])
    graph = Graph(3)
    out = add_learner(graph, model, NAMES, None, "line")
    np.testing.assert_allclose(run(graph, out, 1)[:, 0], X[:, [0, 2]] @ [1, 2] + 3, rtol=1e-6)
