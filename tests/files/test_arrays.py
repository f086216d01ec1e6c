import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from foldwise.errors import InvalidDataError
from foldwise.files.arrays import array_bytes, array_from


@given(
    hnp.arrays(
        st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16", "M8[ns]", "U3", ">f8"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_arrays_come_back_the_same(array) -> None:
    again = array_from(array_bytes(array), "x")
    assert_array_equal(again, array)
    assert again.dtype == array.dtype
    assert again.flags.writeable
    assert again.flags.aligned


def test_the_order_of_memory_is_kept() -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert array_from(array_bytes(array), "x").flags.f_contiguous


def test_fields_are_kept() -> None:
    array = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    assert array_from(array_bytes(array), "x")["b"][0] == 2.0


@pytest.mark.parametrize(
    "shape", ["(1000000000000,)", "(3, -1)", "(2,)", "(4,)", "(1 << 70,)", "(True,)"]
)
def test_a_header_that_lies_is_refused_before_memory_is_taken(shape: str) -> None:
    content = array_bytes(np.arange(3.0)).replace(b"(3,), }", f"{shape}, }}".encode(), 1)
    with pytest.raises(InvalidDataError):
        array_from(content, "arrays/0.npy")


def test_pickles_are_refused() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidDataError) as error:
        array_from(buffer.getvalue(), "arrays/0.npy")
    assert str(error.value).startswith(
        "load: file must hold arrays of numbers, dates or text that are as long as they say; "
        "got 'arrays/0.npy' of shape (1,) and type object."
    )


def test_objects_are_refused_even_if_as_long_as_they_say() -> None:
    content = array_bytes(np.arange(1.0)).replace(b"'<f8'", b"'|O' ", 1)
    with pytest.raises(InvalidDataError, match="of numbers, dates or text"):
        array_from(content, "x")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x09\x00", b"\x93NUMPY\x01\x00\xff\xff{"])
def test_what_is_no_array_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidDataError, match=r"hold arrays in the \.npy format; got 'x'"):
        array_from(content, "x")
