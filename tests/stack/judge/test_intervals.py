"""CV+ against brute force over all residuals."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import FoldwiseWarning, InvalidParameterError, UnsupportedError
from foldwise.stack.judge.intervals import cv_plus_interval, cv_plus_set, quantile_interval


def made(seed: int, sizes: list[int], n_new: int = 7) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sizes), n_new)) * 10
    residuals = [np.sort(np.abs(rng.normal(size=size)).round(1)) for size in sizes]
    return centres, residuals


def brute_interval(
    centres: np.ndarray, residuals: list[np.ndarray], coverage: float
) -> tuple[np.ndarray, np.ndarray]:
    """Barber et al. (2021): order statistics of centre -+ residual over all training rows."""
    n = sum(map(len, residuals))
    rank = int(np.ceil(round(coverage * (n + 1), 9)))
    low = np.sort(
        np.concatenate([c - r[:, None] for c, r in zip(centres, residuals, strict=True)]), axis=0
    )
    high = np.sort(
        np.concatenate([c + r[:, None] for c, r in zip(centres, residuals, strict=True)]), axis=0
    )
    if rank > n:
        return np.full(centres.shape[1], -np.inf), np.full(centres.shape[1], np.inf)
    return low[n - rank], high[rank - 1]


@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    coverage=st.sampled_from([0.01, 0.5, 0.8, 0.9, 0.95, 0.99]),
)
@settings(max_examples=60, deadline=None)
def test_intervals_are_the_order_statistics(seed: int, sizes: list[int], coverage: float) -> None:
    centres, residuals = made(seed, sizes)
    found = cv_plus_interval(centres, residuals, coverage)
    for end, expected in zip(found, brute_interval(centres, residuals, coverage), strict=True):
        np.testing.assert_allclose(end, expected, atol=1e-9)


def test_too_few_rows_for_the_coverage_give_everything() -> None:
    centres, residuals = made(0, [4, 5])
    lower, upper = cv_plus_interval(centres, residuals, 0.95)
    assert np.isneginf(lower).all()
    assert np.isposinf(upper).all()
    lower, upper = cv_plus_interval(centres, residuals, 0.9)
    assert np.isfinite([lower, upper]).all()


def test_the_quantile_interval_is_split_conformal() -> None:
    residuals = [np.array([1.0, 4.0]), np.array([2.0, 3.0, 5.0, 6.0, 7.0, 8.0, 9.0])]
    lower, upper = quantile_interval(np.array([10.0]), residuals, 0.8)
    assert (lower[0], upper[0]) == (2.0, 18.0)
    assert np.isinf(quantile_interval(np.array([10.0]), residuals, 0.95)).all()


@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    coverage=st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
@settings(max_examples=60, deadline=None)
def test_sets_are_counted_over_all_rows(seed: int, sizes: list[int], coverage: float) -> None:
    rng = np.random.default_rng(seed)
    given_ = rng.dirichlet(np.ones(3), size=(len(sizes), 6)).round(2)
    misfits = [np.sort(rng.uniform(size=size).round(2)) for size in sizes]
    n = sum(sizes)
    expected = np.empty((6, 3), dtype=bool)
    for row in range(6):
        for label in range(3):
            worse = sum((own < 1 - given_[k, row, label]).sum() for k, own in enumerate(misfits))
            expected[row, label] = worse < round(coverage * (n + 1), 9)
    expected[np.arange(6), given_.mean(axis=0).argmax(axis=1)] = True
    assert (cv_plus_set(given_, misfits, coverage) == expected).all()


def line(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, 2.0, 0.0] + rng.standard_t(4, size=n)


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_intervals_of_a_stack_cover_new_rows(predict_with: str) -> None:
    hits = []
    for seed in range(3):
        X, y = line(150, seed)
        stack = StackingRegressor(
            [("ols", LinearRegression()), ("ridge", Ridge(50.0))],
            "nnls",
            cv=4,
            predict_with=predict_with,
            random_state=seed,
        ).fit(X, y)
        new, truth = line(1500, 100 + seed)
        lower, upper = stack.predict_interval(new, 0.9)
        assert (lower <= stack.predict(new)).all()
        assert (stack.predict(new) <= upper).all()
        hits.append(((lower <= truth) & (truth <= upper)).mean())
    # Three fits of 150 rows: the mean coverage has a standard error of about 0.015.
    assert 0.86 < np.mean(hits) < 0.96


def test_wider_coverage_gives_wider_intervals() -> None:
    X, y = line(80, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3, random_state=0)
    stack.fit(X, y)
    widths = [np.subtract(*stack.predict_interval(X, c)[::-1]).mean() for c in (0.5, 0.8, 0.95)]
    assert widths == sorted(widths)


def test_intervals_of_a_stack_are_those_of_its_hold_out_stacks() -> None:
    # One learner and the plain mean: fold i's hold-out stack is the model without fold i.
    X, y = line(60, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3, random_state=0)
    stack.fit(X, y)
    lattice = stack.deals_[0].lattice
    models = [LinearRegression().fit(X[t], y[t]) for t in lattice.trains]
    residuals = [
        np.sort(np.abs(y[t] - m.predict(X[t]))) for m, t in zip(models, lattice.tests, strict=True)
    ]
    new = line(5, 9)[0]
    expected = brute_interval(np.array([m.predict(new) for m in models]), residuals, 0.8)
    np.testing.assert_allclose(stack.predict_interval(new, 0.8), expected, atol=1e-9)


def test_repeats_give_the_mean_of_the_ends() -> None:
    X, y = line(60, 0)
    stack = StackingRegressor(
        [("ols", LinearRegression())], "mean", cv=3, n_repeats=2, random_state=0
    ).fit(X, y)
    lower, upper = stack.predict_interval(X)
    assert (lower < upper).all()


def test_forward_in_time_the_interval_is_around_the_prediction_and_warns() -> None:
    X, y = line(80, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=TimeSeriesSplit(4))
    stack.fit(X, y)
    with pytest.warns(FoldwiseWarning, match="no guarantee forward in time"):
        lower, upper = stack.predict_interval(X)
    np.testing.assert_allclose((lower + upper) / 2, stack.predict(X))


def test_groups_warn() -> None:
    X, y = line(60, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=GroupKFold(3))
    stack.fit(X, y, groups=np.arange(60) // 5)
    with pytest.warns(FoldwiseWarning, match="no guarantee with groups"):
        stack.predict_interval(X)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90])
def test_a_coverage_outside_zero_and_one_is_an_error(coverage: float) -> None:
    X, y = line(40, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3).fit(X, y)
    with pytest.raises(
        InvalidParameterError, match=r"coverage must be a number above 0 and below 1; got "
    ):
        stack.predict_interval(X, coverage)


def test_without_an_honest_score_there_is_no_interval() -> None:
    X, y = line(40, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FoldwiseWarning)
        stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=2).fit(X, y)
    with pytest.raises(UnsupportedError, match="cv must give an honest score for predict_interval"):
        stack.predict_interval(X)


def test_several_targets_have_no_interval() -> None:
    X, y = line(40, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3)
    stack.fit(X, np.column_stack([y, y]))
    with pytest.raises(UnsupportedError, match="y must be one target for predict_interval"):
        stack.predict_interval(X)


def blobs(n: int, seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 2)) + 1.2 * np.stack([y == 1, y == 2], axis=1), y


@pytest.mark.parametrize("top", ["mean", LogisticRegression()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_of_a_stack_cover_new_rows(n_classes: int, top: object) -> None:
    hits = []
    for seed in range(2):
        X, y = blobs(150, seed, n_classes)
        learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
        stack = StackingClassifier(learners, top, cv=3, random_state=seed).fit(X, y)
        new, truth = blobs(1500, 50 + seed, n_classes)
        inside = stack.predict_set(new, 0.85)
        assert inside.any(axis=1).all()
        hits.append(inside[np.arange(len(new)), truth].mean())
    assert 0.8 < np.mean(hits) < 0.95


def test_repeated_deals_never_give_an_empty_set() -> None:
    X, y = blobs(60, 0, 3)
    learners = [("tree", DecisionTreeClassifier())]
    stack = StackingClassifier(learners, "mean", cv=3, n_repeats=3, random_state=0).fit(X, y)
    assert stack.predict_set(blobs(2000, 1, 3)[0], 0.1).any(axis=1).all()
