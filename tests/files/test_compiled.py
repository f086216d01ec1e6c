"""Compiled parts: our list, whatever skops would trust, and numbers that lead nowhere bad."""

import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree import DecisionTreeRegressor

from foldwise.errors import InvalidDataError
from foldwise.files.compiled import check_grown, parts_content, parts_from
from tests.files.conftest import X, Y
from tests.files.hostile import nothing_is_run

TREE = DecisionTreeRegressor(max_depth=3).fit(X, Y).tree_


def refusal(content: bytes) -> str:
    with nothing_is_run(), pytest.raises(InvalidDataError) as error:
        parts_from(content)
    return str(error.value)


def rewritten(content: bytes, change, compression=zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", compression) as new,
    ):
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return buffer.getvalue()


def test_trees_come_back_and_predict_the_same() -> None:
    (tree, kd, ball) = parts_from(parts_content([TREE, KDTree(X), BallTree(X, metric="l1")]))
    assert_array_equal(tree.predict(X.astype(np.float32)), TREE.predict(X.astype(np.float32)))
    assert_array_equal(kd.query(X, 3)[1], KDTree(X).query(X, 3)[1])
    assert_array_equal(ball.query(X, 3)[1], BallTree(X, metric="l1").query(X, 3)[1])


@pytest.mark.parametrize(
    "thing",
    [LogisticRegression(), np.random.RandomState(0), np.log1p, {1: 2}],
    ids=lambda thing: type(thing).__name__,
)
def test_what_skops_trusts_by_default_is_not_trusted_here(thing) -> None:
    assert refusal(skops.io.dumps([thing])).startswith("load: file must hold only")


def test_a_list_is_expected() -> None:
    assert refusal(skops.io.dumps({"a": 1})).startswith("load: file must hold")


@pytest.mark.parametrize(
    ("module", "cls"), [("os", "system"), ("builtins", "eval"), ("sklearn.utils", "Bunch")]
)
def test_a_schema_that_names_others_is_refused_by_name(module: str, cls: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != "schema.json":
            return content
        schema = json.loads(content)
        schema["content"][0] |= {"__module__": module, "__class__": cls}
        return json.dumps(schema).encode()

    text = refusal(rewritten(parts_content([TREE]), change))
    assert text.startswith(
        f"load: file must hold only types that foldwise allows; got '{module}.{cls}'."
    )


def test_a_loader_that_is_not_ours_is_refused() -> None:
    def change(_: str, content: bytes) -> bytes:
        return content.replace(b'"TreeNode"', b'"OperatorFuncNode"')

    assert "'loader OperatorFuncNode'" in refusal(rewritten(parts_content([TREE]), change))


def test_packed_and_lying_parts_are_refused() -> None:
    packed = rewritten(parts_content([TREE]), lambda _, c: c, zipfile.ZIP_DEFLATED)
    assert "got a packed 'parts.skops'" in refusal(packed)

    def lie(_: str, content: bytes) -> bytes:
        return content.replace(b"'shape': (", b"'shape': (9", 1)

    assert "as long as they say" in refusal(rewritten(parts_content([TREE]), lie))
    assert "compiled parts that can be read" in refusal(b"PK nothing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 0),
        ("left_child", 10**6),
        ("right_child", -7),
        ("feature", 4),
        ("feature", -2),
    ],
)
def test_a_tree_that_loops_or_reads_beyond_is_refused(field: str, value: int) -> None:
    nodes = TREE.__getstate__()["nodes"].copy()
    check_grown(nodes, 4, len(nodes))
    nodes[field][0] = value
    with pytest.raises(InvalidDataError) as error:
        check_grown(nodes, 4, len(nodes))
    assert str(error.value).startswith(
        "load: file must hold trees whose branches lead forward; got one that does not."
    )


@pytest.mark.parametrize("place", [1, 2])
def test_a_search_tree_that_reads_beyond_its_rows_is_refused(place: int) -> None:
    tree = KDTree(X, leaf_size=5)
    state = list(tree.__getstate__())
    if place == 1:
        state[1] = state[1] + 1000
    else:
        state[2] = state[2].copy()
        state[2]["idx_end"] = 10**6
    tree.__setstate__(tuple(state))
    assert refusal(parts_content([tree])).startswith(
        "load: file must hold search trees of their own rows; got one that is not."
    )
