import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.coefficients import (
    Reduced,
    independent,
    least_squares,
    least_squares_by_split,
    residual_sum,
    solve_all,
)
from foldwise.subset.columns import choose_from
from foldwise.subset.moments import ScaledGram, SubsetRows, all_rows, by_split


def moments_of(X, y):
    return all_rows(SubsetRows(X, y, np.ones(len(y))))


def test_least_squares_equals_numpy_in_the_units_of_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)) * [1, 1e3, 1e-3] + [0, 1e4, 0], rng.normal(size=30)
    Z = np.column_stack([np.ones(30), X])
    beta, rss, _, _ = np.linalg.lstsq(Z, y, rcond=None)
    assert_allclose(least_squares(moments_of(X, y), np.arange(4)), beta, rtol=1e-7)
    assert_allclose(residual_sum(moments_of(X, y), np.arange(4)), rss[0], rtol=1e-10)


def test_columns_aliased_with_earlier_ones_get_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    doubled = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(30)])
    moments = moments_of(doubled, y)
    assert_array_equal(independent(moments.gram, np.arange(5)), [0, 1, 2])
    beta = least_squares(moments, np.arange(5))
    assert_array_equal(beta[3:], 0)
    assert_allclose(beta[:3], least_squares(moments_of(X, y), np.arange(3)), rtol=1e-9)
    swapped = least_squares(moments, np.array([0, 3, 1, 2]))
    assert swapped[2] == 0
    assert swapped[3] != 0


def test_splits_solved_together_equal_splits_solved_alone_with_aliased_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:30, 2] = X[:30, 0]
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    rows = np.arange(60)
    splits = [(rows[:30], rows[30:]), (rows[30:], rows[:30]), (rows[10:], rows[:10])]
    train, _ = by_split(SubsetRows(X, y, np.ones(60)), splits)
    subsets = [np.array([0, 1, 2, 3])] * 3
    alone = [
        least_squares(ScaledGram(gram, train.centre, train.scale), columns)
        for gram, columns in zip(train.gram, subsets, strict=True)
    ]
    together = least_squares_by_split(train, subsets)
    np.testing.assert_allclose(together, alone, rtol=1e-10)
    assert together[0, 3] == 0.0


def test_all_models_are_solved_as_if_alone():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 4))
    gram, cross = Z.T @ Z, Z.T @ rng.normal(size=20)
    kept = np.array([[True, False, True, True], [False, False, False, False], [True] * 4])
    inverse, beta = solve_all(gram, cross, kept, np.zeros(4))
    for row, mine, coef in zip(kept, inverse, beta, strict=True):
        at = np.flatnonzero(row)
        assert_allclose(mine[np.ix_(at, at)], np.linalg.inv(gram[np.ix_(at, at)]), rtol=1e-9)
        assert_allclose(coef[at], np.linalg.solve(gram[np.ix_(at, at)], cross[at]), rtol=1e-9)
        assert_array_equal(coef[~row], 0)
        assert_array_equal(mine[~row], 0)


def test_leverages_with_forced_columns_are_those_of_the_whole_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    moments = all_rows(SubsetRows(X, y, np.ones(30)))
    choice = choose_from("Test", 4, None, [2])
    reduced = Reduced.of(moments, choice)
    kept = np.array([[True, False, True], [False, False, False]])
    Z = (np.column_stack([np.ones(30), X]) - moments.centre[:-1]) / moments.scale[:-1]
    found = reduced.leverages(Z, kept, np.ones(2))
    for columns, leverages in zip(([0, 2, 3], [2]), found.T, strict=True):
        design = np.column_stack([np.ones(30), X[:, columns]])
        hat = design @ np.linalg.pinv(design)
        assert_allclose(leverages, np.diag(hat), rtol=1e-9)


def test_variances_with_forced_columns_are_those_of_the_whole_model():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    moments = all_rows(SubsetRows(X, y, np.ones(30)))
    choice = choose_from("Test", 3, None, [1])
    fits = Reduced.of(moments, choice).fits(np.array([[True, True]]), np.ones(1))
    gram = moments.gram[:-1, :-1]
    assert_allclose(fits.variance[0], np.diag(np.linalg.inv(gram)), rtol=1e-9)
    assert_allclose(fits.beta[0], np.linalg.solve(gram, moments.gram[:-1, -1]), atol=1e-12)
