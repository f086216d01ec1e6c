import numpy as np
import pandas as pd
import pytest

from foldwise.boost.categories import categorical_columns, encode, learn_categories
from foldwise.errors import InvalidParameterError

TABLE = pd.DataFrame({"a": ["x", "y", None], "b": [1.0, 2.0, np.nan], "c": [True, False, True]})


def test_text_columns_are_categories_and_numbers_are_not() -> None:
    assert categorical_columns("Owner", TABLE, "from_dtype") == [0]
    assert categorical_columns("Owner", np.zeros((2, 2)), "from_dtype") == []
    assert categorical_columns("Owner", TABLE, None) == []


@pytest.mark.parametrize("wanted", [["b"], [1], [False, True, False]])
def test_columns_can_be_named_numbered_or_masked(wanted) -> None:
    assert categorical_columns("Owner", TABLE, wanted) == [1]


def test_unknown_columns_are_refused() -> None:
    message = (
        "Owner: categorical_features must name columns of X; got 'z'. "
        "Use names, positions, a mask or 'from_dtype'."
    )
    with pytest.raises(InvalidParameterError) as caught:
        categorical_columns("Owner", TABLE, ["z"])
    assert str(caught.value) == message


def test_codes_count_the_sorted_values_and_missing_stays_missing() -> None:
    categories = learn_categories(TABLE, [0])
    assert categories[0].tolist() == ["x", "y"]
    codes = encode("Owner", TABLE, categories)
    np.testing.assert_array_equal(codes[:, 0], [0, 1, np.nan])
    np.testing.assert_array_equal(codes[:, 1], [1, 2, np.nan])
    np.testing.assert_array_equal(codes[:, 2], [1, 0, 1])


def test_values_of_mixed_kinds_can_be_categories() -> None:
    table = pd.DataFrame({"a": pd.Series([1, "x", 1], dtype=object)})
    assert learn_categories(table, [0])[0].tolist() == [1, "x"]


def test_text_left_out_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="column 'a' of object left out"):
        encode("Owner", TABLE.astype({"a": object}), {1: np.array([1.0])})
