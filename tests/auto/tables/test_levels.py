import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import TargetEncoder

from foldwise.auto.tables.frames import factorised
from foldwise.auto.tables.levels import (
    Levels,
    indicators,
    is_quantity,
    level_means,
    out_of_fold_means,
    random_folds,
    target_columns,
)
from foldwise.auto.tables.values import truths_of


def test_levels_are_sorted_by_number_or_alphabet():
    assert Levels(pd.Series(["10", "9", "1"])).words == ["1", "9", "10"]
    assert Levels(pd.Series(["b", "a", "10"])).words == ["10", "a", "b"]


def test_an_ordered_categorical_keeps_its_order():
    sizes = pd.Categorical(["L", "S"], categories=["S", "M", "L"], ordered=True)
    assert Levels(pd.Series(sizes)).words == ["S", "L"]


def test_unknown_is_minus_one_and_missing_a_level_where_it_was_seen():
    seen = Levels(pd.Series(["a", None, "b"]))
    assert_array_equal(seen.codes(pd.Series(["b", "c", None])), [1, -1, 2])
    unseen = Levels(pd.Series(["a", "b"]))
    assert_array_equal(unseen.codes(pd.Series(["b", "c", None])), [1, -1, -1])
    assert seen.names == ["a", "b", "(missing)"]


def test_a_level_is_the_same_number_or_word():
    levels = Levels(pd.Series([1, 2]))
    assert_array_equal(levels.codes(pd.Series([2.0, np.nan])), [1, -1])
    assert_array_equal(levels.codes(pd.Series(["2", "1"])), [1, 0])


def test_levels_read_a_categorical_as_they_read_its_words():
    words = pd.Series(["b", None, "a", "new", "b", " a ", ""])
    seen = Levels(words[:3])
    quick = factorised(pd.DataFrame({"word": words}))["word"]
    assert isinstance(quick.dtype, pd.CategoricalDtype)
    assert_array_equal(seen.codes(quick), [1, 2, 0, -1, 1, 0, 2])
    assert_array_equal(seen.codes(words), seen.codes(quick))


@pytest.mark.parametrize("cells", [[True, None, False], [True, True, None]])
def test_truth_values_among_missing_cells_stay_truth_values(cells) -> None:
    quick = factorised(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))["a"]
    assert quick.cat.categories.dtype == bool
    np.testing.assert_array_equal(truths_of(quick), np.array(cells, dtype=float))


def test_indicators_mark_the_level():
    assert_array_equal(indicators(np.array([0, 2, -1]), 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])


def slow_level_means(codes, y, n_levels):
    """The one-way random effects model, by loops."""
    overall = y.mean()
    groups = [y[codes == k] for k in range(n_levels)]
    seen = [g for g in groups if len(g)]
    n = sum(len(g) for g in seen)
    within = sum(((g - g.mean()) ** 2).sum() for g in seen) / (n - len(seen))
    middle = np.concatenate(seen).mean()
    spread = sum(len(g) * (g.mean() - middle) ** 2 for g in seen)
    effective = n - sum(len(g) ** 2 for g in seen) / n
    between = max(0.0, (spread - (len(seen) - 1) * within) / effective)
    out = []
    for g in groups:
        if len(g) == 0 or between == 0:
            out.append(overall)
        else:
            m = within / between
            out.append(overall + len(g) / (len(g) + m) * (g.mean() - overall))
    return np.array([*out, overall])


@pytest.mark.parametrize("seed", range(5))
def test_means_are_those_of_the_random_effects_model(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 8, 60)
    y = rng.normal(size=60) + codes
    found = level_means(codes, y[:, None], 10)[:, 0]
    assert_allclose(found, slow_level_means(codes, y, 10), rtol=1e-12)


def test_means_agree_with_scikit_learn_at_the_same_shrinkage():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, 300)
    y = rng.normal(size=300) + codes
    found = level_means(codes, y[:, None], 6)[:-1, 0]
    counts = np.bincount(codes)
    plain = np.bincount(codes, weights=y) / counts
    share = (found - y.mean()) / (plain - y.mean())
    m = float((counts * (1 - share) / share).mean())
    theirs = TargetEncoder(smooth=m, target_type="continuous").fit(codes[:, None], y)
    assert_allclose(found, theirs.encodings_[0], rtol=1e-10)


def test_levels_of_noise_are_pulled_to_the_mean_and_real_ones_are_not():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 200, 1000)
    noise = rng.normal(size=(1000, 1))
    spread = level_means(codes, noise, 200)[:-1].std()
    assert spread < 0.35 * np.std([noise[codes == k].mean() for k in range(200)])
    real = level_means(codes, noise * 0.01 + codes[:, None], 200)[:-1, 0]
    assert_allclose(real, np.arange(200), atol=0.05)


def test_levels_of_one_row_each_say_nothing():
    assert_array_equal(level_means(np.arange(5), np.arange(5.0)[:, None], 5), np.full((6, 1), 2.0))


@given(
    st.integers(0, 10_000),
    st.integers(0, 39),
    st.floats(-1e6, 1e6, allow_nan=False),
)
def test_no_row_is_encoded_by_its_own_target(seed, row, value):
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(0, 6, 40), rng.normal(size=(40, 1))
    folds = random_folds(40, 5, seed)
    before = out_of_fold_means(codes, y, 6, folds)
    y[folds == folds[row]] += value
    after = out_of_fold_means(codes, y, 6, folds)
    assert_array_equal(after[folds == folds[row]], before[folds == folds[row]])


def test_folds_are_of_equal_size_and_the_same_each_time():
    folds = random_folds(23, 5, 0)
    assert sorted(np.bincount(folds)) == [4, 4, 5, 5, 5]
    assert_array_equal(folds, random_folds(23, 5, 0))


@pytest.mark.parametrize(
    ("y", "quantity"),
    [([1.0, 2.0], True), ([1, 2], False), (list(range(31)), True), (["a", "b"], False)],
)
def test_quantities_are_told_from_classes(y, quantity):
    assert is_quantity(np.array(y)) is quantity
    assert is_quantity(np.array(y), "regression")
    assert not is_quantity(np.array(y), "classification")


def test_several_classes_have_a_column_each():
    columns, names = target_columns(np.array([2, 0, 1]), quantity=False)
    assert_array_equal(columns, [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert names == ["share of 0", "share of 1", "share of 2"]
