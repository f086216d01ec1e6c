"""How each learner gets its table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from foldwise.auto.portfolio import trees
from foldwise.auto.portfolio.encodings import SETTINGS, encoded
from foldwise.auto.portfolio.member import profile_of
from foldwise.auto.tables import TableEncoder, column_kinds
from foldwise.auto.tables.encoder import category_names
from foldwise.learners import TrainingData, fit_prepared, prepared

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
    dense = {"ordinal", "onehot", "squash", "normal", "spline"}
    assert set(SETTINGS) == {"native", "arithmetic", "crossed", "codes", "named", "numbers", *dense}


def test_codes_are_whole_numbers_by_the_names_catboost_is_told() -> None:
    values = seen("codes")
    assert list(values.columns) == ["c0", "k0"]
    assert values["k0"].dtype.kind == "i"
    assert list(values.columns[-1:]) == category_names(1)
    np.testing.assert_array_equal(values["k0"], FRAME["town"].cat.codes)
    assert values["c0"].isna().any()


def test_codes_of_many_levels_are_not_replaced_by_means_and_unknown_ones_are_minus_one() -> None:
    many = pd.DataFrame({"id": [f"level {j % 60}" for j in range(180)], "x": np.arange(180.0)})
    many.loc[0, "id"] = None
    encoder = TableEncoder({"id": "category"}, numbers="keep", categories="codes")
    codes = encoder.fit_transform(many)["k0"]
    assert codes.nunique() == 61
    new = encoder.transform(pd.DataFrame({"id": ["never", None, "level 3"], "x": 1.0}))["k0"]
    assert list(new) == [-1, codes[0], codes[3]]


def test_catboost_knows_its_categories() -> None:
    catboost = pytest.importorskip("catboost")
    kinds = column_kinds(FRAME)
    learner = trees.catboost_levels(profile_of(kinds, Y, size=0.01))
    assert isinstance(learner, catboost.CatBoostRegressor)
    model = prepared(encoded(learner, "codes", kinds, regression=True), 0)
    rows = model[0].fit_transform(FRAME, Y)
    fit_prepared(model[-1], TrainingData(rows, Y), 0)
    assert model[-1].get_cat_feature_indices() == [1]
