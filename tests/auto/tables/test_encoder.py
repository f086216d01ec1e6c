import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMRegressor
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import StackingRegressor, load, save
from foldwise.auto.tables import TableEncoder, column_kinds
from foldwise.errors import FoldwiseError, InvalidDataError, InvalidParameterError

WAYS = [
    {"numbers": numbers, "categories": categories, "scale": scale}
    for numbers in ("impute", "keep")
    for categories in ("onehot", "ordinal", "target", "keep", "codes")
    for scale in (None, "standard", "squash", "quantile")
]


@parametrize_with_checks(
    [
        TableEncoder(),
        TableEncoder(numbers="keep", categories="keep"),
        TableEncoder(scale="quantile", categories="target"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    words = ["fold", "leaf", "node", "root", "tree"]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": rng.choice(["Bonn", "Rome", "Zug"], n),
            "shop": [f"S{k}" for k in rng.integers(0, 80, n)],
            "sold": rng.choice(["yes", "no"], n),
            "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 5e7, n), "s"),
            "notes": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "unit": "m2",
        }
    )
    y = frame["size"].to_numpy() + (frame["town"] == "Rome") + rng.normal(size=n)
    for name in ("size", "town", "when", "sold"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame, y


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_way_gives_named_finite_columns(way, table):
    frame, y = table
    encoder = TableEncoder(**way)
    first = encoder.fit_transform(frame, y)
    new = frame.iloc[:20].assign(town="Oslo", shop=None, when=None, notes="", size=np.inf)
    later = encoder.transform(new)
    names = list(encoder.get_feature_names_out())
    assert first.shape[1] == later.shape[1] == len(names) == len(set(names))
    assert len(encoder.sources_) == len(names)
    assert set(encoder.sources_) == set(frame.columns) - {"unit"}
    if way["numbers"] == "impute" and way["categories"] not in ("keep", "codes"):
        assert np.isfinite(first).all()
        assert np.isfinite(later).all()
    if way["categories"] in ("keep", "codes"):
        assert isinstance(first, pd.DataFrame)
        assert list(later.dtypes) == list(first.dtypes)


@pytest.mark.parametrize("way", WAYS[::5], ids=str)
def test_polars_gives_the_same_numbers(way, table):
    frame, y = table
    pandas = pd.DataFrame(TableEncoder(**way).fit_transform(frame, y))
    polars = pd.DataFrame(TableEncoder(**way).fit_transform(pl.from_pandas(frame), y))
    pd.testing.assert_frame_equal(pandas, polars, check_exact=True)


def test_two_fits_are_the_same(table):
    frame, y = table
    encoder = TableEncoder(categories="target", scale="quantile")
    first, second = encoder.fit_transform(frame, y), clone(encoder).fit_transform(frame, y)
    assert_array_equal(first, second)
    assert_array_equal(encoder.fit(frame, y).transform(frame), encoder.transform(frame))


def test_a_training_row_is_not_encoded_by_its_own_target(table):
    frame, y = table
    encoder = TableEncoder(categories="target")
    before = encoder.fit_transform(frame[["shop", "town"]], y)
    for row in (0, 100, 299):
        other = y.copy()
        other[row] += 100.0
        after = encoder.fit_transform(frame[["shop", "town"]], other)
        assert_array_equal(after[row], before[row])
        assert (after != before).any()


def test_high_cardinality_does_not_leak_into_the_score():
    # Levels of about two rows: encoded by its own target, each row would be half explained.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"shop": [f"S{k}" for k in rng.integers(0, 300, 600)]})
    y = rng.normal(size=600)
    model = make_pipeline(
        TableEncoder(categories="target"), LGBMRegressor(n_estimators=30, n_jobs=1, verbosity=-1)
    )
    assert model.fit(frame, y).score(frame, y) < 0.1
    assert cross_val_score(model, frame, y).mean() < 0.0


def test_names_of_json_characters_reach_no_booster():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {'a"[1]': rng.normal(size=60), "{b}:,": rng.choice(["x{", 'y"', "z,"], 60)}
    )
    y = rng.normal(size=60)
    for categories in ("keep", "ordinal", "onehot", "target"):
        encoder = TableEncoder(numbers="keep", categories=categories)
        model = make_pipeline(encoder, LGBMRegressor(n_estimators=3, n_jobs=1, verbosity=-1))
        model.fit(frame, y).predict(frame.iloc[:3].replace("x{", "new]"))
        assert json.loads(json.dumps(list(encoder.fit(frame, y).get_feature_names_out())))


def test_names_that_come_out_twice_are_told_apart():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "a (missing)": [1.0, 2.0, 3.0]})
    names = list(TableEncoder().fit(frame).get_feature_names_out())
    assert names == ["a", "a (missing)", "a (missing) [2]"]


def test_kinds_given_as_a_whole_or_in_part(table):
    frame, y = table
    kinds = column_kinds(frame)
    whole = TableEncoder(kinds).fit_transform(frame, y)
    assert_array_equal(whole, TableEncoder().fit_transform(frame, y))
    part = TableEncoder({"notes": "identifier"}).fit(frame, y)
    assert "notes" not in set(part.sources_)


def test_kinds_that_do_not_know_a_column_are_refused(table):
    frame, y = table
    with pytest.raises(
        InvalidParameterError,
        match=r"^TableEncoder: kinds must tell the kind of every column; got none for 'size'. "
        r"Call column_kinds on the same table.$",
    ):
        TableEncoder(column_kinds(frame.drop(columns="size"))).fit(frame, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"numbers": "imputed"},
            "TableEncoder: numbers must be one of 'impute', 'keep'; got 'imputed'. "
            "Did you mean 'impute'?",
        ),
        (
            {"scale": "standrd"},
            "TableEncoder: scale must be one of 'standard', 'squash', 'quantile' or None; "
            "got 'standrd'. Did you mean 'standard'?",
        ),
        (
            {"text_width": 0},
            "TableEncoder: text_width must be a whole number of at least 1; got 0. Try 16.",
        ),
        (
            {"high_cardinality": 0},
            "TableEncoder: high_cardinality must be a whole number of at least 1; got 0. Try 40.",
        ),
    ],
)
def test_wrong_parameters_are_refused_word_for_word(parameters, message, table):
    with pytest.raises(InvalidParameterError) as caught:
        TableEncoder(**parameters).fit(*table)
    assert str(caught.value) == message


def test_many_levels_need_the_target(table):
    with pytest.raises(
        InvalidDataError,
        match=r"^TableEncoder: y must be given to encode the 77 levels of 'shop' by the target; "
        r"got None. Pass y to fit, or raise high_cardinality.$",
    ):
        TableEncoder().fit(table[0])


def test_a_table_of_nothing_to_use_is_refused():
    with pytest.raises(FoldwiseError, match="neither constant nor an identifier; got 3 samples"):
        TableEncoder().fit(pd.DataFrame({"a": [1, 1, 1]}))


def test_new_tables_may_hold_other_types_for_the_same_columns(table):
    frame, y = table
    encoder = TableEncoder().fit(frame, y)
    written = frame.iloc[:5].astype(object).where(frame.iloc[:5].notna(), None)
    written["when"] = frame["when"].iloc[:5].dt.strftime("%Y-%m-%d %H:%M:%S")
    written["size"] = [None if v is None else str(v) for v in written["size"]]
    assert_array_equal(encoder.transform(written), encoder.transform(frame.iloc[:5]))


def test_a_stack_fits_it_inside_its_nodes_and_shares_it(table):
    frame, y = table
    encoder = TableEncoder(column_kinds(frame), task="regression")
    learners = [(f"ridge {a}", make_pipeline(encoder, Ridge(a))) for a in (1.0, 10.0)]
    stack = StackingRegressor(learners, cv=3, random_state=0).fit(frame, y)
    assert np.isfinite(stack.score_)
    assert np.isfinite(stack.predict(frame.iloc[:3].assign(town="Oslo"))).all()


def test_classes_are_encoded_by_their_shares(table):
    frame, y = table
    three = np.digitize(y, [-0.5, 0.8])
    encoder = TableEncoder(categories="target").fit(frame[["town"]], three)
    assert [f"town (share of {k})" for k in range(3)] == list(encoder.get_feature_names_out())
    np.testing.assert_allclose(encoder.transform(frame[["town"]]).sum(axis=1), 1.0, rtol=1e-12)


def test_integer_valued_regression_targets_are_a_quantity(table):
    frame, y = table
    encoder = TableEncoder(categories="target").fit(frame[["town"]], np.round(y))
    assert encoder.get_feature_names_out().tolist() == ["town (mean target)"]


def test_a_saved_encoder_gives_the_same_numbers(table, tmp_path):
    frame, y = table
    ways = [
        {"scale": "quantile"},
        {"categories": "target", "scale": "squash"},
        {"categories": "ordinal", "scale": "standard"},
    ]
    learners = [
        (f"ridge {k}", make_pipeline(TableEncoder(task="regression", **way), Ridge()))
        for k, way in enumerate(ways)
    ]
    stack = StackingRegressor(learners, cv=3, random_state=0, final_estimator="mean")
    save(stack.fit(frame, y), tmp_path / "m.foldwise")
    new = frame.iloc[:9].assign(town="Oslo", size=np.inf)
    assert_array_equal(load(tmp_path / "m.foldwise").predict(new), stack.predict(new))


@pytest.mark.filterwarnings("ignore:X (has|does not have)")
def test_columns_without_names_are_known_by_their_place():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0] * 5, "b": [3.0, 1.0, 2.0] * 5})
    values = frame.to_numpy()
    named, plain = TableEncoder().fit(frame), TableEncoder().fit(values)
    for rows in (frame, values):
        assert_array_equal(named.transform(rows), values)
        assert_array_equal(plain.transform(rows), values)
