"""Arrays as bytes of the .npy format, read without trusting what their headers claim."""

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from foldwise.errors import Plain
from foldwise.files.refuse import refused


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array in the .npy format.

    Examples
    --------
    >>> import numpy as np
    >>> array_from(array_bytes(np.arange(3.0)), "x")
    array([0., 1., 2.])
    """
    buffer = io.BytesIO()
    npy.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def array_from(content: bytes, name: str) -> NDArray[Any]:
    """Return the array in some .npy bytes, or refuse."""
    buffer = io.BytesIO(content)
    try:
        version = npy.read_magic(buffer)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = read(buffer)
    except Exception as error:
        raise refused("hold arrays in the .npy format", Plain(f"{name!r} ({error})")) from error
    rest = len(content) - buffer.tell()
    # Checked before anything is made: a header can claim more than there is.
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != rest or dtype.itemsize == 0:
        got = Plain(f"{name!r} of shape {shape} and type {dtype}")
        raise refused("hold arrays of numbers, dates or text that are as long as they say", got)
    flat = np.frombuffer(content, dtype=dtype, offset=buffer.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")
