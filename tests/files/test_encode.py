"""Descriptions of odd things, read back by the decoder."""

import json
import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils import Bunch

from foldwise.errors import UnsupportedError
from foldwise.files.decode import Decoder
from foldwise.files.encode import Encoder


def again(thing):
    encoder = Encoder()
    document = {"model": encoder.value(thing), "entries": encoder.entries}
    return Decoder(encoder.members).build(json.loads(json.dumps(document)))


@pytest.mark.parametrize(
    "thing",
    [
        None,
        True,
        2**100,
        0.1,
        -math.inf,
        "\ud800 <script> \x00",
        b"\x00\xff",
        bytearray(b"x"),
        [1, [2, (3, {4, 5}, frozenset({6}))]],
        {("a", frozenset({1, 2}), None): 1, 2: "x", None: []},
        OrderedDict([("b", 1), ("a", 2)]),
        Counter("hello"),
        slice(1, None, 2),
        range(3, 9, 2),
        np.dtype("f4"),
        np.float32,
        float,
    ],
    ids=repr,
)
def test_plain_things_come_back_equal_and_of_their_type(thing) -> None:
    found = again(thing)
    assert found == thing
    assert type(found) is type(thing)


def test_not_a_number_comes_back() -> None:
    assert math.isnan(again(math.nan))


@pytest.mark.parametrize("scalar", [np.float64(0.1), np.int32(3), np.bool_(True), np.str_("x")])
def test_scalars_keep_their_type(scalar) -> None:
    found = again(scalar)
    assert found == scalar
    assert type(found) is type(scalar)


def test_defaults_and_bunches_still_work() -> None:
    found = again(defaultdict(float, a=1.0))
    assert found["b"] == 0.0
    assert again(Bunch(a=1)).a == 1


def test_arrays_of_objects_keep_shape_and_items() -> None:
    array = np.array([["a", None], [1, math.inf]], dtype=object)
    found = again(array)
    assert found.dtype == object
    assert_array_equal(found, array)


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
def test_sparse_matrices_come_back(kind: str) -> None:
    matrix = getattr(sparse, kind)(np.eye(3))
    found = again(matrix)
    assert_array_equal(found.toarray(), np.eye(3))
    if "lil" not in kind:
        assert type(found) is type(matrix)


@pytest.mark.parametrize(
    "source",
    [
        np.random.RandomState(3),
        *(np.random.Generator(getattr(np.random, name)(3))
          for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")),
    ],
    ids=lambda source: type(getattr(source, "bit_generator", source)).__name__,
)  # fmt: skip
def test_random_sources_go_on_where_they_were(source) -> None:
    source.normal(size=3)
    assert_array_equal(again(source).normal(size=5), source.normal(size=5))


def test_what_was_shared_is_shared_again() -> None:
    array = np.arange(100.0)
    first, second = again([array, array])
    assert first is second


def test_big_arrays_get_members_of_their_own() -> None:
    encoder = Encoder()
    encoder.value([np.arange(100.0), np.arange(3.0), np.arange(200.0)])
    assert list(encoder.members) == ["arrays/0.npy", "arrays/1.npy"]


def test_what_refers_to_itself_is_not_saved() -> None:
    thing: list = []
    thing.append(thing)
    with pytest.raises(UnsupportedError) as error:
        again(thing)
    assert str(error.value) == (
        "save: model must not refer to itself; got list. Remove the circular reference."
    )


@pytest.mark.parametrize(
    "thing",
    [lambda x: x, open, object(), json, type(json)],
    ids=["lambda", "open", "object", "module", "type"],
)
def test_what_cannot_be_loaded_is_not_saved(thing) -> None:
    with pytest.raises(UnsupportedError, match="save: model must hold"):
        again(thing)


def test_factories_of_ones_own_are_not_saved() -> None:
    with pytest.raises(UnsupportedError, match="use plain default factories; got"):
        again(defaultdict(lambda: 3))
