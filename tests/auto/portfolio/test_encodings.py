"""How each learner gets its table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from foldwise.auto.portfolio.encodings import SETTINGS, encoded
from foldwise.auto.tables import column_kinds

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "number": np.where(RNG.random(80) < 0.2, np.nan, RNG.lognormal(size=80)),
        "town": pd.Categorical(RNG.choice(["a", "b", "c"], 80)),
    }
)
Y = RNG.normal(size=80)


def seen(encoding: str):
    """Return what the learner behind an encoding is given."""
    pipeline = encoded(DummyRegressor(), encoding, column_kinds(FRAME), regression=True)
    return pipeline[:-1].fit_transform(FRAME, Y)


@pytest.mark.parametrize("encoding", ["ordinal", "onehot", "squash", "normal", "spline"])
def test_nothing_is_missing_where_learners_cannot_take_it(encoding: str) -> None:
    values = seen(encoding)
    assert isinstance(values, np.ndarray)
    assert np.isfinite(values.astype(float)).all()


def test_native_keeps_categories_and_missing_cells() -> None:
    frame = seen("native")
    assert isinstance(frame.dtypes.iloc[-1], pd.CategoricalDtype)
    assert frame.isna().any(axis=None)


def test_named_columns_can_be_read() -> None:
    assert {"number", "town = b"} <= set(seen("named").columns)


def test_squashed_numbers_are_bounded_so_that_lines_cannot_run_away() -> None:
    pipeline = encoded(DummyRegressor(), "squash", column_kinds(FRAME), regression=True)
    pipeline.fit(FRAME, Y)
    far = FRAME.head(1).assign(number=1e12)
    assert np.abs(pipeline[:-1].transform(far)).max() <= 3.0


def test_equal_encodings_are_equal_so_that_nodes_share_them() -> None:
    kinds = column_kinds(FRAME)
    one, two = (encoded(DummyRegressor(), "normal", kinds, regression=True) for _ in range(2))
    assert one.steps[0][1].get_params() == two.steps[0][1].get_params()


def test_every_encoding_is_known() -> None:
    plain = {"native", "ordinal", "onehot", "squash", "normal", "spline"}
    assert set(SETTINGS) == plain | {"named", "numbers"}
