"""Hostile descriptions: hashes right, contents not."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise import load, save
from foldwise.errors import InvalidDataError
from foldwise.files.decode import Decoder
from tests.files.conftest import X, Y
from tests.files.hostile import nothing_is_run, with_document


def build(*entries, model=None):
    document = {"entries": list(entries), "model": model or {"at": len(entries) - 1}}
    with nothing_is_run():
        return Decoder({}).build(document)


@pytest.mark.parametrize(
    "entry",
    [
        ["object", "os.system", {"at": 0}],
        ["object", "builtins.eval", "1"],
        ["named", "os.stat_result", []],
        ["function", "os.system"],
        ["function", "builtins.exec"],
        ["function", "numpy.load"],
        ["type", "os.PathLike"],
        ["object", "lightgbm.basic.Booster", None],
        ["object", "sklearn.tree._tree.Tree", None],
        ["pickle", "gASVAAAA"],
        ["reduce", "os.system", ["id"]],
        [],
        None,
        7,
        ["list"],
        ["list", 3],
        ["list", [[]]],
        ["list", [{"at": 0}]],
        ["list", [{"at": -1}]],
        ["list", [{"at": 10**30}]],
        ["list", [{"at": "0"}]],
        ["list", [{"run": "x"}]],
        ["list", [{"at": 0, "float": "nan"}]],
        ["dict", [[{"float": "1e999"}, 1]]],
        ["dict", [[1]]],
        ["array", "../../etc/passwd"],
        ["array", "model.json"],
        ["small array", "!!!"],
        ["small array", "AAAA"],
        ["objects", [10**12], []],
        ["objects", [-1], [1]],
        ["sparse", "os", [1, 1], []],
        ["sparse", "csr_array", [1, 1], [1, 2, 3]],
        ["random", "Generator", {"at": 0}],
        ["part", 0],
        ["part", -1],
        ["column", "os", []],
        ["booster", "boosters/0.txt", []],
        ["defaultdict", "system", []],
        ["spline", [1, 2, 3, 4, 5]],
        ["range", [1, 2, 0]],
        ["dtype", "object; import os"],
    ],
    ids=repr,
)
def test_a_hostile_entry_is_refused(entry) -> None:
    with pytest.raises(InvalidDataError) as error:
        build(entry)
    assert str(error.value).startswith("load: file must ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("at", [-1, 1, 2])
def test_only_what_was_built_before_can_be_referred_to(at: int) -> None:
    with pytest.raises(InvalidDataError, match="a reference forward"):
        build(["list", []], ["list", [{"at": at}]])


@pytest.mark.parametrize("document", [None, [], {}, {"entries": 3, "model": 1}, {"entries": []}])
def test_a_hostile_document_is_refused(document) -> None:
    with pytest.raises(InvalidDataError, match="describe a model that can be built"):
        Decoder({}).build(document)


def test_an_object_is_made_without_its_init_and_methods_stay_the_class_s() -> None:
    state = ["dict", [["alpha", 3.0], ["_sklearn_version", sklearn.__version__]]]
    model = build(state, ["object", "sklearn.linear_model._ridge.Ridge", {"at": 0}])
    assert model.alpha == 3.0
    assert not hasattr(model, "fit_intercept")


def test_a_sparse_matrix_that_points_outside_is_refused() -> None:
    import base64

    from foldwise.files.arrays import array_bytes

    def small(values):
        return ["small array", base64.b64encode(array_bytes(np.array(values))).decode()]

    entries = [small([1.0]), small([99]), small([0, 1])]
    parts = [{"at": 0}, {"at": 1}, {"at": 2}]
    with pytest.raises(InvalidDataError, match="describe a model that can be built"):
        build(*entries, ["sparse", "csr_array", [1, 2], parts])


def test_a_generator_beyond_its_numbers_is_refused(tmp_path: Path) -> None:
    model = DecisionTreeRegressor(max_depth=1).fit(X, Y)
    model.random_state = np.random.RandomState(0)
    save(model, tmp_path / "model")

    def beyond(document) -> None:
        for entry in document["entries"]:
            if entry[0] == "dict":
                entry[1] = [[k, 10**6] if k == "pos" else [k, v] for k, v in entry[1]]

    (tmp_path / "bad").write_bytes(with_document(tmp_path / "model", beyond))
    with pytest.raises(InvalidDataError, match="a generator beyond its numbers"):
        load(tmp_path / "bad")


def test_a_histogram_tree_that_loops_is_refused(tmp_path: Path) -> None:
    model = HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=5).fit(X, Y)
    nodes = model._predictors[0][0].nodes
    for field, value in (("left", 0), ("right", 10**6), ("feature_idx", 99)):
        before = nodes[field][0]
        nodes[field][0] = value
        save(model, tmp_path / "bad")
        nodes[field][0] = before
        with pytest.raises(InvalidDataError, match=r"hold (trees|parts) "):
            load(tmp_path / "bad")


def test_a_tree_of_more_columns_than_its_estimator_is_refused(tmp_path: Path) -> None:
    model = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    model.n_features_in_ = 2
    save(model, tmp_path / "bad")
    with pytest.raises(InvalidDataError) as error:
        load(tmp_path / "bad")
    assert str(error.value).startswith(
        "load: file must hold parts that belong together; got a DecisionTreeRegressor without."
    )


def test_forty_tuples_each_twice_the_one_before_are_refused_at_once() -> None:
    doubled = [["tuple", [1]]] + [["tuple", [{"at": i}, {"at": i}]] for i in range(40)]
    with pytest.raises(InvalidDataError, match="share parts within reason"):
        build(*doubled, ["set", [{"at": 40}]])


def test_keys_that_share_their_parts_cannot_be_hashed_for_ever() -> None:
    doubled = [["tuple", [1]]] + [["tuple", [{"at": i}, {"at": i}]] for i in range(17)]
    with pytest.raises(InvalidDataError, match="keys of keys without end"):
        build(*doubled, *[["set", [{"at": 17}]]] * 30)


@pytest.mark.parametrize(
    "entry",
    [
        ["range", [0, 2 * 10**8, 1]],
        ["column", "range", [None, 0, 2 * 10**8, 1]],
        ["sparse", "coo_array", [2**40, 2], [{"at": 0}, {"at": 0}, {"at": 0}]],
    ],
    ids=lambda entry: entry[0],
)
def test_nothing_is_longer_than_the_bytes_of_the_file(entry) -> None:
    with pytest.raises(InvalidDataError, match="hold no more than it has bytes"):
        build(["small array", _packed(np.zeros(0, dtype=np.intp))], entry)


@pytest.mark.parametrize("text", ["S2147483647", "f8,f8", "O8", "V8", "(3,)f8", "U99999"])
def test_types_of_arrays_are_plain_and_short(text: str) -> None:
    with pytest.raises(InvalidDataError, match="hold arrays of known types"):
        build(["dtype", text])


def _packed(array) -> str:
    import base64

    from foldwise.files.arrays import array_bytes

    return base64.b64encode(array_bytes(array)).decode()


class Loud:
    def __repr__(self) -> str:
        raise AssertionError("shown")

    def __hash__(self) -> int:
        raise TypeError(self)


def test_nothing_in_a_file_is_asked_to_show_itself() -> None:
    own = f"{Loud.__module__}.{Loud.__qualname__}"
    document = {"entries": [["object", own, None], ["set", [{"at": 0}]]], "model": 1}
    with pytest.raises(InvalidDataError, match="describe a model that can be built"):
        Decoder({}, [Loud]).build(document)
