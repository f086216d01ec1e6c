"""The array types of every annotation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
# What many row numbers are kept in: half of what NumPy takes by itself.
ROW_NUMBER: Any = np.int32
