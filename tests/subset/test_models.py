import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.columns import choose_from
from foldwise.subset.models import Reduced, solve_all
from foldwise.subset.moments import all_rows


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
    moments = all_rows(X, y, np.ones(30))
    choice = choose_from("Test", 4, None, [2], None, intercept=True)
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
    moments = all_rows(X, y, np.ones(30))
    choice = choose_from("Test", 3, None, [1], None, intercept=True)
    fits = Reduced.of(moments, choice).fits(np.array([[True, True]]), np.ones(1))
    gram = moments.gram[:-1, :-1]
    assert_allclose(fits.variance[0], np.diag(np.linalg.inv(gram)), rtol=1e-9)
    assert_allclose(fits.beta[0], np.linalg.solve(gram, moments.gram[:-1, -1]), atol=1e-12)
