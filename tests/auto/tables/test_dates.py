import datetime as dt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.auto.tables.dates import PARTS, date_parts


@given(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)))
def test_parts_are_those_of_the_calendar(when):
    parts = dict(zip(PARTS, date_parts(np.array([when], dtype="datetime64[us]"))[0], strict=True))
    expected = {
        "days": (when - dt.datetime(2000, 1, 1)) / dt.timedelta(days=1),
        "year": when.year,
        "month": when.month,
        "day": when.day,
        "weekday": when.weekday(),
        "day of year": when.timetuple().tm_yday,
        "hour": when.hour,
        "minute": when.minute,
    }
    assert_allclose([parts[k] for k in PARTS], [expected[k] for k in PARTS], rtol=1e-12)


def test_no_date_has_no_parts():
    assert np.isnan(date_parts(np.array(["NaT"], dtype="datetime64[us]"))).all()
