import datetime as dt

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.auto.tables.sources import PARTS, HashedText, date_parts


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


TEXTS = pd.Series(["the cat sat on a mat", "a dog ran in the park", "cats and dogs sat", None] * 5)


def test_the_same_text_gives_the_same_numbers():
    text = HashedText("t", 4, 0)
    first = text.fit_transform(TEXTS)
    assert first.shape == (20, 5)
    assert_allclose(text.transform(TEXTS), first, atol=1e-10)
    assert_array_equal(HashedText("t", 4, 0).fit_transform(TEXTS), first)


def test_an_unknown_or_missing_text_is_numbers_too():
    text = HashedText("t", 4, 0)
    text.fit_transform(TEXTS)
    assert np.isfinite(text.transform(pd.Series(["zzz", None, ""]))).all()


def test_empty_texts_do_not_fail():
    assert np.isfinite(HashedText("t", 4, 0).fit_transform(pd.Series(["", None, "!"]))).all()


def test_texts_about_one_thing_lie_together():
    rng = np.random.default_rng(0)
    sea, wood = ["ship", "wave", "salt", "sail"], ["tree", "leaf", "bark", "root"]
    texts = [" ".join(rng.choice(words, 5)) for words in [sea] * 30 + [wood] * 30]
    numbers = HashedText("t", 2, 0).fit_transform(pd.Series(texts))[:, 1:]
    centres = numbers[:30].mean(axis=0), numbers[30:].mean(axis=0)
    nearer = np.linalg.norm(numbers - centres[0], axis=1) < np.linalg.norm(
        numbers - centres[1], axis=1
    )
    assert_array_equal(nearer, np.arange(60) < 30)
