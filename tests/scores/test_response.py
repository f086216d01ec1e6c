import numpy as np
import pytest

from foldwise.scores.metric import Response


@pytest.mark.parametrize(
    ("kind", "values", "labels"),
    [
        ("label", [[2.0], [0.0]], [2, 0]),
        ("decision", [[-0.1], [0.1]], [0, 1]),
        ("decision", [[0.1, 0.3, 0.2], [3.0, -1.0, 2.0]], [1, 0]),
        ("probability", [[0.5, 0.5], [0.2, 0.8]], [0, 1]),
    ],
)
def test_labels_are_the_most_probable_class(kind: str, values: list, labels: list) -> None:
    assert Response(kind, np.array(values)).labels.tolist() == labels


def test_rows_can_be_taken() -> None:
    part = Response("value", np.arange(4.0)[:, None]).take([2, 0])
    assert part.kind == "value"
    assert part.values.ravel().tolist() == [2, 0]
