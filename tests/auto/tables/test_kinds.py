import numpy as np
import pandas as pd
import polars as pl
import pytest

from foldwise.auto.tables import column_kinds
from foldwise.errors import InvalidParameterError, UnsupportedError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 200
    words = ["fold", "leaf", "node", "root", "tree", "stack", "weight", "row"]
    return pd.DataFrame(
        {
            "price": rng.normal(size=n),
            "rooms": rng.integers(1, 9, n),
            "town": rng.choice(["Bonn", "Rome", "Zug"], n),
            "sold": rng.choice(["yes", "no"], n),
            "new": rng.random(n) < 0.5,
            "when": pd.date_range("2024-01-01", periods=n).strftime("%d.%m.%Y"),
            "notes": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "row_id": rng.permutation(n) + 1000,
            "code": [f"K{k:05d}" for k in range(n)],
            "unit": "m2",
            "nothing": None,
        }
    )


EXPECTED = {
    "price": "number",
    "rooms": "number",
    "town": "category",
    "sold": "boolean",
    "new": "boolean",
    "when": "date",
    "notes": "text",
    "row_id": "identifier",
    "code": "identifier",
    "unit": "constant",
    "nothing": "constant",
}


def test_each_kind_is_found(frame):
    assert {column.name: column.kind for column in column_kinds(frame)} == EXPECTED


def test_polars_gives_the_same_kinds(frame):
    pandas, polars = column_kinds(frame), column_kinds(pl.from_pandas(frame))
    assert {c.name: c.kind for c in polars} == {c.name: c.kind for c in pandas}


def test_the_target_is_left_out(frame):
    assert "price" not in column_kinds(frame, target="price").names()


def test_what_is_known_is_taken(frame):
    kinds = column_kinds(frame, given={"rooms": "category", "row_id": "number", "when": "date"})
    assert kinds["rooms"].kind == "category"
    assert kinds["row_id"].kind == "number"
    assert kinds["when"].date_format == "%d.%m.%Y"
    assert kinds["rooms"].why == "as you said"


def test_dropped_columns_are_named(frame):
    assert column_kinds(frame).dropped == ["row_id", "code", "unit", "nothing"]
    assert "row_id" in str(column_kinds(frame))
    assert column_kinds(frame).to_frame()["done with it"].tolist()[-4:] == ["dropped"] * 4


def kind(values, name="a"):
    return column_kinds(pd.DataFrame({name: values}))[name].kind


def test_an_identifier_is_never_told_from_few_rows():
    assert kind([f"K{k}" for k in range(10)]) == "category"
    assert kind(list(range(10)), "id") == "number"


@pytest.mark.parametrize("name", ["id", "Id", "customer_id", "PassengerId", "user.uuid", "key"])
def test_distinct_numbers_named_like_identifiers_are_identifiers(name):
    assert kind(np.random.default_rng(0).permutation(50) + 7, name) == "identifier"


@pytest.mark.parametrize("name", ["paid", "grid", "humidity", "monkey", "year"])
def test_distinct_numbers_with_other_names_are_numbers(name):
    assert kind(np.random.default_rng(0).permutation(50) + 7, name) == "number"


def test_a_count_of_the_rows_is_an_identifier_but_years_are_not():
    assert kind(list(range(1, 51)), "Unnamed") == "identifier"
    assert kind(list(range(1970, 2020)), "year") == "number"
    assert kind(list(range(1, 51)), "day number") == "number"


def test_a_value_or_nothing_is_not_constant():
    assert kind(["pool", None, None, "pool"]) == "category"
    assert kind([1.0, None]) == "number"
    assert kind([1.0, 1.0]) == "constant"


def test_marks_for_missing_do_not_hide_numbers():
    assert kind(["1", "2.5", "?", "3"] * 10) == "number"
    assert kind(["1", "2.5", "n/a", "three"] * 10) == "category"


def test_a_stray_word_among_many_numbers_counts_as_missing():
    assert kind([str(k / 7) for k in range(200)] + ["broken"]) == "number"


def test_a_time_of_day_is_a_time():
    assert kind(["08:30", "17:45", "23:59"]) == "date"


def test_durations_are_numbers():
    assert kind(pd.to_timedelta(["1h", "2h"])) == "number"


def test_categories_of_numbers_stay_categories():
    assert kind(pd.Categorical([1, 2, 1, 2])) == "category"


def test_lists_in_cells_are_refused():
    with pytest.raises(UnsupportedError, match="got a list in column 'a'"):
        kind([[1], [2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"target": "pricee"},
            "column_kinds: target must name a column of the table; got 'pricee'. "
            "Did you mean 'price'?",
        ),
        (
            {"given": {"pricee": "number"}},
            "column_kinds: given must name a column of the table; got 'pricee'. "
            "Did you mean 'price'?",
        ),
        (
            {"given": {"price": "numbr"}},
            "column_kinds: given must be one of 'number', 'category', 'boolean', 'date', 'text', "
            "'identifier', 'constant'; got 'numbr'. "
            "Did you mean 'number'?",
        ),
    ],
)
def test_wrong_arguments_are_refused_word_for_word(arguments, message, frame):
    with pytest.raises(InvalidParameterError) as caught:
        column_kinds(frame, **arguments)
    assert str(caught.value) == message
