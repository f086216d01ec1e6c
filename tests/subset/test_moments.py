import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.moments import SubsetRows, all_rows, by_split


def rows(n=30, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 100, rng.normal(size=n), rng.random(n)


def test_training_products_by_subtraction_equal_products_of_the_training_rows():
    X, y, weights = rows()
    split = np.arange(10, 30), np.arange(10)
    uneven = np.arange(12, 30), np.arange(10)
    for train, test in (split, uneven):
        folds = by_split(SubsetRows(X, y, weights), [(train, test)])
        columns = np.column_stack([np.ones(30), X, y])
        columns = (columns - folds[0].centre) / folds[0].scale
        for moments, part in zip(folds, (train, test), strict=True):
            expected = columns[part].T @ (weights[part, None] * columns[part])
            assert_allclose(moments.gram[0], expected, rtol=1e-12, atol=1e-12)


def test_a_weight_of_two_is_the_row_twice():
    X, y, _ = rows()
    weights = np.arange(30) % 3
    repeated = all_rows(
        SubsetRows(np.repeat(X, weights, axis=0), np.repeat(y, weights), np.ones(30))
    )
    weighted = all_rows(SubsetRows(X, y, weights.astype(float)))
    assert_allclose(weighted.gram, repeated.gram, rtol=1e-12, atol=1e-10)


def test_a_constant_column_has_no_products():
    X, y, weights = rows()
    X[:, 1] = 0.1
    gram = all_rows(SubsetRows(X, y, weights)).gram
    assert_array_equal(gram[2], np.zeros(5))


def test_a_column_that_is_constant_in_the_training_rows_alone_is_not_mistaken_for_signal():
    X, y, _ = rows()
    X[:, 0] = 0.0
    X[:3, 0] = 1e6
    train, _ = by_split(SubsetRows(X, y, np.ones(30)), [(np.arange(3, 30), np.arange(3))])
    spread = train.gram[0, 1, 1] - train.gram[0, 0, 1] ** 2 / train.gram[0, 0, 0]
    assert spread <= 1e-12 * train.gram[0, 1, 1]


def test_subtraction_gives_way_where_a_fold_holds_nearly_all_of_a_column():
    X, y, _ = rows()
    X[[3, 4], 1] = 1e9, -1e9
    part = np.arange(10, 30)
    train, _ = by_split(SubsetRows(X, y, np.ones(30)), [(part, np.arange(10))])
    columns = (np.column_stack([np.ones(30), X, y]) - train.centre) / train.scale
    exact = columns[part].T @ columns[part]
    assert exact[2, 2] < 1e-10
    assert_allclose(train.gram[0], exact, rtol=1e-12, atol=1e-20)
