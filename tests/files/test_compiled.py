"""Compiled parts: taken apart, checked, built again; no loader but ours reads them."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neighbors import BallTree, KDTree, KernelDensity, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import load, save
from foldwise.errors import InvalidDataError, UnsupportedError
from foldwise.files.compiled import LOSSES, check_grown, parts_of, rebuilt
from tests.files.conftest import X, Y
from tests.files.hostile import nothing_is_run

TREE = DecisionTreeRegressor(max_depth=3).fit(X, Y).tree_


def refusal(name: str, parts: list) -> str:
    with nothing_is_run(), pytest.raises(InvalidDataError) as error:
        rebuilt(name, parts)
    return str(error.value)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_decision_tree_comes_back_with_the_same_bits(classes: int) -> None:
    tree = DecisionTreeClassifier(max_depth=4).fit(X, np.arange(60) % classes).tree_
    rows = X.astype(np.float32)
    again = rebuilt(*parts_of(tree))
    assert_array_equal(again.predict(rows), tree.predict(rows))
    assert_array_equal(again.decision_path(rows).indices, tree.decision_path(rows).indices)
    assert again.max_depth == tree.max_depth
    assert again.__getstate__()["nodes"].tobytes() == tree.__getstate__()["nodes"].tobytes()


@pytest.mark.parametrize("make", [KDTree, BallTree])
@pytest.mark.parametrize(
    "how",
    [
        {"metric": "euclidean"},
        {"metric": "l1", "leaf_size": 3},
        {"metric": "chebyshev"},
        {"metric": "minkowski", "p": 3},
        {"metric": "minkowski", "p": 3, "w": np.arange(1.0, 5)},
    ],
    ids=str,
)
def test_a_search_tree_grown_again_finds_the_same_bits(make, how) -> None:
    tree = make(X, **how)
    again = rebuilt(*parts_of(tree))
    for found, wanted in zip(again.query(X, 5), tree.query(X, 5), strict=True):
        assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "how", [{"metric": "mahalanobis", "V": np.cov(X.T)}, {"metric": "seuclidean", "V": X.var(0)}]
)
def test_metrics_with_matrices_come_back(how) -> None:
    tree = BallTree(X, **how)
    assert_array_equal(rebuilt(*parts_of(tree)).query(X, 3)[0], tree.query(X, 3)[0])


def test_a_density_keeps_the_weights_of_its_rows(tmp_path) -> None:
    model = KernelDensity().fit(X, sample_weight=np.arange(1.0, 61))
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").score_samples(X), model.score_samples(X))


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(loss="hinge"),
        SGDRegressor(loss="huber"),
        HistGradientBoostingClassifier(max_iter=2, categorical_features=[3]),
    ],
    ids=repr,
)
def test_losses_and_categories_come_back(model, tmp_path) -> None:
    rows = np.column_stack([X[:, :3], np.arange(60) % 4])
    model.fit(rows, np.arange(60) % 3 if "Classifier" in repr(model) else Y)
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(rows), model.predict(rows))


def test_a_distance_of_the_users_own_is_not_saved(tmp_path) -> None:
    model = KNeighborsRegressor(algorithm="ball_tree", metric=lambda a, b: abs(a - b).sum())
    with pytest.raises(UnsupportedError):
        save(model.fit(X, Y), tmp_path / "model")
    with pytest.raises(UnsupportedError) as error:
        parts_of(BallTree(X, metric=lambda a, b: abs(a - b).sum()))
    assert str(error.value) == (
        "save: model must measure distances by a metric of scikit-learn; got PyFuncDistance64. "
        "Use metric='minkowski' or another name."
    )


@pytest.mark.parametrize("name", ["system", "PyFunc", "ndarray", "list", "CyLossFunction"])
def test_only_names_on_the_list_are_made(name: str) -> None:
    with nothing_is_run(), pytest.raises((InvalidDataError, TypeError, KeyError)):
        rebuilt(name, [140_000_000_000])


@pytest.mark.parametrize(
    ("name", "parts"),
    [("CyHuberLoss", []), ("CyHuberLoss", [float("nan")]), ("CyHalfSquaredError", [1.0]),
     ("Hinge", [1.0, 2.0])],
)  # fmt: skip
def test_losses_have_their_parameters(name: str, parts: list) -> None:
    assert name in LOSSES
    assert "must hold losses of this scikit-learn with their parameters" in refusal(name, parts)


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
    assert check_grown(nodes, 4) == TREE.max_depth
    nodes[field][0] = value
    with pytest.raises(InvalidDataError) as error:
        check_grown(nodes, 4)
    assert str(error.value).startswith(
        "load: file must hold trees whose branches lead forward; got one that does not."
    )


@pytest.mark.parametrize("n_classes", [[2], [1, 1], [0], [10**12]])
def test_a_tree_has_a_value_for_every_leaf(n_classes: list[int]) -> None:
    _, (n_features, _, nodes, values) = parts_of(TREE)
    parts = [n_features, np.array(n_classes), nodes, values]
    assert "must hold trees with a value for every leaf" in refusal("Tree", parts)
    values = values.copy()
    values[0] = np.inf
    parts = [n_features, np.array([1]), nodes, values]
    assert "must hold trees whose values are finite" in refusal("Tree", parts)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (0, np.array([[np.nan, 1.0]]), "finite numbers"),
        (0, np.zeros((0, 4)), "search trees of rows"),
        (1, 0, "search trees with leaves"),
        (2, "PyFunc", "a metric of scikit-learn"),
        (3, {"func": 1}, "a metric of scikit-learn"),
        (3, {"w": np.ones(1)}, "metrics as wide as their rows"),
        (4, -np.ones(60), "search trees of rows"),
        (4, np.ones(3), "search trees of rows"),
    ],
)
def test_a_search_tree_of_something_else_is_refused(place: int, value, told: str) -> None:
    name, parts = parts_of(KDTree(X, metric="minkowski", p=3))
    parts[place] = value
    assert told in refusal(name, parts)


def test_a_mahalanobis_matrix_narrower_than_its_rows_is_refused() -> None:
    name, parts = parts_of(BallTree(X, metric="mahalanobis", V=np.eye(4)))
    parts[3] = {"VI": np.eye(1)}
    assert "metrics as wide as their rows" in refusal(name, parts)


def test_a_file_that_is_loaded_holds_no_format_of_another_library(saved) -> None:
    from tests.files.hostile import members_of

    members = members_of(saved)
    assert all(name.endswith((".json", ".npy", ".txt")) for name in members)
    assert "compiled" in json.dumps(json.loads(members["model.json"])["entries"])
