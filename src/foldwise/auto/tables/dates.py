"""Points in time -> the parts of the calendar and the clock."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldwise.arrays import FloatArray

PARTS = ("days", "year", "month", "day", "weekday", "day of year", "hour", "minute")
EPOCH = np.datetime64("2000-01-01", "us")
DAY = np.timedelta64(1, "D").astype("timedelta64[us]").astype(np.float64)


def date_parts(dates: NDArray[np.datetime64]) -> FloatArray:
    """Return the parts of points in time, NaN where there is none.

    Shapes: returns (n_samples, 8).

    Examples
    --------
    >>> import numpy as np
    >>> date_parts(np.array(["2000-01-03T12:30"], dtype="datetime64[us]")).ravel().round(2)
    array([2.52e+00, 2.00e+03, 1.00e+00, 3.00e+00, 0.00e+00, 3.00e+00, 1.20e+01, 3.00e+01])
    """
    index = pd.DatetimeIndex(dates)
    days = (dates - EPOCH).astype(np.float64) / DAY
    days[np.isnat(dates)] = np.nan
    calendar = [index.year, index.month, index.day, index.day_of_week, index.day_of_year]
    clock = [index.hour, index.minute]
    parts = [np.asarray(part, dtype=np.float64) for part in [*calendar, *clock]]
    return np.column_stack([days, *parts])
