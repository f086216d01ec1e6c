import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from foldwise.auto.tables import TableEncoder
from foldwise.auto.tables.cleaning import NumberCleaner


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(80, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def test_medians_and_marks_are_those_of_scikit_learn(values):
    theirs = SimpleImputer(strategy="median", add_indicator=True)
    ours = NumberCleaner(True, None, 0)
    assert_array_equal(ours.fit_transform(values.copy()), theirs.fit_transform(values))
    assert_array_equal(ours.transform(values[:9].copy()), theirs.transform(values[:9]))


def test_standard_scale_is_that_of_scikit_learn(values):
    found = NumberCleaner(False, "standard", 0).fit_transform(values.copy())
    assert_allclose(found, StandardScaler().fit_transform(values), rtol=1e-12)


@pytest.mark.parametrize("scale", [None, "standard", "squash", "quantile"])
def test_new_rows_are_cleaned_as_training_rows(scale, values):
    for impute in (True, False):
        cleaner = NumberCleaner(impute, scale, 0)
        first = cleaner.fit_transform(values.copy())
        assert_array_equal(cleaner.transform(values), first)


def test_infinity_counts_as_the_largest_of_the_column():
    cleaner = NumberCleaner(False, None, 0)
    found = cleaner.fit_transform(np.array([[np.inf], [3.0], [-np.inf], [1.0], [np.nan]]))
    assert_array_equal(found, [[3], [3], [1], [1], [np.nan]])
    assert_array_equal(cleaner.transform(np.array([[np.inf], [7.0]])), [[3], [7]])


def test_normal_quantiles_are_those_of_scikit_learn_to_the_bit(values):
    rng = np.random.default_rng(1)
    odd = [np.round(values[:, 0]), 1e-9 * values[:, 1], np.full(len(values), 3.0)]
    values = np.column_stack([values, *odd])
    theirs = QuantileTransformer(
        n_quantiles=len(values), output_distribution="normal", random_state=0
    )
    ours = NumberCleaner(False, "quantile", 0)
    assert_array_equal(ours.fit_transform(values.copy()), theirs.fit_transform(values))
    new = 2 * values[rng.permutation(len(values))] - 0.5
    new[:3] = values[:3]
    assert_array_equal(ours.transform(new.copy()), theirs.transform(new))


def test_no_number_is_beyond_single_precision():
    found = NumberCleaner(False, None, 0).fit_transform(np.array([[1e300], [-1e300], [1.0]]))
    assert np.isfinite(found.astype(np.float32)).all()


@pytest.mark.parametrize("scale", [None, "standard", "squash", "quantile"])
def test_columns_without_any_number_become_zero(scale):
    X = np.array([[np.nan, 1.0], [np.nan, 1.0], [np.inf, 1.0]])
    found = NumberCleaner(True, scale, 0).fit_transform(X)
    assert np.isfinite(found).all()


def test_squashed_numbers_keep_their_order_and_stay_small():
    x = np.sort(np.random.default_rng(0).standard_cauchy(500))[:, None]
    found = NumberCleaner(False, "squash", 0).fit_transform(x.copy())
    assert (np.diff(found[:, 0]) >= 0).all()
    assert np.abs(found).max() <= 3.0


def test_columns_that_miss_the_same_cells_are_marked_once():
    X = np.array([[1.0, 2.0, np.nan], [np.nan, np.nan, 1.0]])
    assert NumberCleaner(True, None, 0).fit_transform(X).shape == (2, 5)


def test_a_table_of_words_alone_can_be_spread_by_quantiles_of_its_numbers() -> None:
    words = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
    out = TableEncoder(scale="quantile").fit_transform(words)
    np.testing.assert_array_equal(out, TableEncoder().fit_transform(words))
