"""CV+ against brute force over all residuals."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import GammaRegressor, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import FoldwiseWarning, InvalidParameterError, UnsupportedError
from foldwise.stack.judge.intervals import cv_plus_interval, cv_plus_set, quantile_interval
from foldwise.stack.judge.scale import ErrorScale, error_scale
from foldwise.stack.table.read import Features


def made(seed: int, sizes: list[int], n_new: int = 7) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sizes), n_new)) * 10
    residuals = [np.sort(np.abs(rng.normal(size=size)).round(1)) for size in sizes]
    return centres, residuals


def brute_interval(
    centres: np.ndarray,
    residuals: list[np.ndarray],
    coverage: float,
    scales: np.ndarray | None = None,
    weights: list[np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Barber et al. (2021): order statistics of centre -+ residual over all training rows."""
    scales = np.ones_like(centres) if scales is None else scales
    votes = np.concatenate(weights or [np.ones(len(own)) for own in residuals])
    rank = coverage * (votes.sum() + 1) - 1e-9
    reach = [s * r[:, None] for s, r in zip(scales, residuals, strict=True)]
    high = np.concatenate([c + r for c, r in zip(centres, reach, strict=True)])
    low = np.concatenate([c - r for c, r in zip(centres, reach, strict=True)])
    if rank > votes.sum():
        return np.full(centres.shape[1], -np.inf), np.full(centres.shape[1], np.inf)

    def least_that_holds(values: np.ndarray) -> np.ndarray:
        order = np.argsort(values, axis=0)
        first = (np.cumsum(votes[order], axis=0) >= rank).argmax(axis=0)
        return np.take_along_axis(values, order, axis=0)[first, np.arange(values.shape[1])]

    return -least_that_holds(-low), least_that_holds(high)


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
    rng = np.random.default_rng(seed)
    scales, weights = rng.uniform(0.2, 5, centres.shape), [rng.uniform(0.3, 3, n) for n in sizes]
    found = cv_plus_interval(centres, residuals, coverage, weights, scales)
    wanted = brute_interval(centres, residuals, coverage, scales, weights)
    for end, expected in zip(found, wanted, strict=True):
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
    found = stack.predict_interval(new, 0.8, adaptive=False)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def expected_errors(train: np.ndarray, y: np.ndarray, asked: list[np.ndarray]) -> list[np.ndarray]:
    """Fit the errors' size to out-of-fold predictions, with scikit-learn's gamma regression."""
    shares = 1 / ((train - y[:, None]) ** 2).mean(axis=0)
    shares = shares / shares.sum()
    usual = np.abs(train @ shares - y).mean()

    def inputs(members: np.ndarray) -> list[np.ndarray]:
        mean = members @ shares
        apart = np.sqrt(((members - mean[:, None]) ** 2).mean(axis=1))
        return [mean, np.log(apart + 0.01 * usual)]

    at = [[0.02, 0.34, 0.66, 0.98], [0.02, 0.98]]
    knots = [
        np.quantile(own, q, method="inverted_cdf") for own, q in zip(inputs(train), at, strict=True)
    ]

    def design(members: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [
                (np.clip(x, k[0], k[-1]) - knot).clip(0) / (k[-1] - k[0])
                for x, k in zip(inputs(members), knots, strict=True)
                for knot in k[:-1]
            ]
        )

    errors = np.abs(train @ shares - y)
    errors = errors.clip(0, np.quantile(errors, 0.99, method="inverted_cdf")) / usual
    top = GammaRegressor(alpha=1 / len(y), solver="newton-cholesky", tol=1e-12)
    top.fit(design(train), errors.clip(1e-3))
    return [usual * top.predict(design(members)) for members in asked]


def test_adaptive_intervals_are_those_of_everything_refitted_by_hand() -> None:
    X, y = line(90, 0)
    learners = [LinearRegression(), DecisionTreeRegressor(max_depth=3, random_state=0)]
    stack = StackingRegressor(
        [("ols", learners[0]), ("tree", learners[1])], "mean", cv=3, random_state=0
    ).fit(X, y)
    lattice, new = stack.deals_[0].lattice, line(6, 9)[0]

    def by_hand(left_out: set[int], rows: np.ndarray) -> np.ndarray:
        train = np.flatnonzero(~np.isin(np.arange(90), [lattice.tests[i] for i in left_out]))
        return np.column_stack([clone(m).fit(X[train], y[train]).predict(rows) for m in learners])

    centres, scales, ratios = [], [], []
    for i in range(3):
        others = [j for j in range(3) if j != i]
        inside = np.concatenate([by_hand({i, j}, X[lattice.tests[j]]) for j in others])
        targets = np.concatenate([y[lattice.tests[j]] for j in others])
        held, fresh = by_hand({i}, X[lattice.tests[i]]), by_hand({i}, new)
        at_held, at_new = expected_errors(inside, targets, [held, fresh])
        centres.append(fresh.mean(axis=1))
        scales.append(at_new)
        ratios.append(np.abs(held.mean(axis=1) - y[lattice.tests[i]]) / at_held)
    wanted = brute_interval(np.array(centres), ratios, 0.8, np.array(scales))
    # The two gamma regressions stop at about 1e-8.
    np.testing.assert_allclose(stack.predict_interval(new, 0.8), wanted, rtol=1e-5)


def growing(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise that grows with the mean, and twice as much of it in one of two kinds of rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(1, 9, n), rng.integers(0, 2, n)])
    return X, X[:, 0] + X[:, 0] * (0.3 + 0.3 * X[:, 1]) * rng.normal(size=n)


def test_adaptive_intervals_hold_the_widest_and_the_narrowest_tenth_and_each_level() -> None:
    held: dict[str, list[float]] = {"plain": [], "narrow": [], "wide": [], "level": []}
    new, truth = growing(3000, 1000)
    tenth = np.argsort(new[:, 0])
    for seed in range(4):
        X, y = growing(400, seed)
        stack = StackingRegressor([("ols", LinearRegression())], "mean", random_state=seed)
        stack.fit(X, y)
        ends = [stack.predict_interval(new, 0.9, adaptive=a, by=b)
                for a, b in ((False, None), (True, None), (True, 1))]  # fmt: skip
        inside = [(lower <= truth) & (truth <= upper) for lower, upper in ends]
        held["plain"].append(inside[0][tenth[-300:]].mean())
        held["narrow"].append(inside[1][tenth[:300]].mean())
        held["wide"].append(inside[1][tenth[-300:]].mean())
        held["level"].append([inside[2][new[:, 1] == level].mean() for level in (0, 1)])
        assert inside[1][new[:, 1] == 1].mean() < 0.88
    # Four fits of 400 rows: standard errors of about 0.01.
    assert np.mean(held["plain"]) < 0.85
    assert 0.87 < np.mean(held["narrow"]) < 0.98
    assert 0.87 < np.mean(held["wide"]) < 0.94
    assert (np.abs(np.mean(held["level"], axis=0) - 0.905) < 0.03).all()


def stacked(n: int = 60, **fit: Any) -> tuple[StackingRegressor, np.ndarray]:
    X, y = line(n, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3, random_state=0)
    return stack.fit(X, y, **fit), X


def judged_parts(stack: StackingRegressor, X: np.ndarray) -> tuple[Any, ...]:
    (deal,) = stack.deals_
    folds = deal.verdict.folds
    features = [features for _, features in deal.hold_outs(X)]
    centres = np.array([f.respond(x).values[:, 0] for f, x in zip(folds, features, strict=True)])
    scales = np.array([f.scale.of(x) for f, x in zip(folds, features, strict=True)])
    return [j.test.rows for j in deal.reading.judgements], folds, centres, scales


def test_with_levels_only_rows_of_the_same_level_speak() -> None:
    label = np.array(["a", "b", None], dtype=object)[np.arange(60) % 3]
    stack, X = stacked()
    lower, upper = stack.predict_interval(X[:9], 0.8, by=(label, label[:9]))
    tests, folds, centres, scales = judged_parts(stack, X[:9])
    for level in range(3):
        own = [f.relative[rows % 3 == level] for f, rows in zip(folds, tests, strict=True)]
        at = np.arange(9) % 3 == level
        wanted = brute_interval(centres[:, at], own, 0.8, scales[:, at])
        np.testing.assert_allclose((lower[at], upper[at]), wanted, rtol=1e-9)


def test_a_group_counts_once() -> None:
    groups, weight = np.arange(60) ** 2 // 180, np.linspace(1, 3, 60)
    stack, X = stacked(groups=groups, sample_weight=weight)
    lower, upper = stack.predict_interval(X, 0.8)
    tests, folds, centres, scales = judged_parts(stack, X)
    total = np.bincount(groups, weights=weight)[groups]
    votes = [(weight / total)[rows] for rows in tests]
    own = [fold.relative for fold in folds]
    wanted = brute_interval(centres, own, 0.8, scales, votes)
    np.testing.assert_allclose((lower, upper), wanted, rtol=1e-9)


def test_labels_are_the_same_as_a_column_and_stay_after_pickling() -> None:
    X, y = growing(120, 0)
    frame = pd.DataFrame(X, columns=["x", "kind"])
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3, random_state=0)
    stack.fit(frame, y, sample_weight=np.r_[np.ones(110), np.zeros(10)])
    wanted = stack.predict_interval(frame, 0.8, by="kind")
    labels = (X[:, 1], X[:, 1])
    np.testing.assert_array_equal(stack.predict_interval(frame, 0.8, by=labels), wanted)
    again = pickle.loads(pickle.dumps(stack))
    np.testing.assert_array_equal(again.predict_interval(frame, 0.8, by=labels), wanted)
    with pytest.raises(
        InvalidParameterError, match=r"got 'kind'\. Give \(labels of the rows of fit"
    ):
        again.predict_interval(frame, 0.8, by="kind")


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("knd", "by must be a column of X or two arrays of labels; got 'knd'. Did you mean 'kind'"),
        ((np.zeros(3), np.zeros(40)), "by must label the 40 training rows first; got 3 labels"),
        ((np.zeros(40), np.zeros(3)), "by must have one entry for each of the 40 rows of X"),
    ],
)
def test_labels_that_do_not_fit_are_an_error(by: Any, message: str) -> None:
    X, y = growing(40, 0)
    frame = pd.DataFrame(X, columns=["x", "kind"])
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3).fit(frame, y)
    with pytest.raises(ValueError, match=message):
        stack.predict_interval(frame, by=by)


def test_a_level_with_too_few_rows_is_named_and_nothing_is_ruled_out() -> None:
    stack, X = stacked()
    label = np.where(np.arange(60) < 3, "rare", "usual")
    with pytest.warns(FoldwiseWarning, match="9 training rows .* got fewer in 'rare'"):
        lower, upper = stack.predict_interval(X, 0.9, by=(label, label))
    assert (np.isinf([lower, upper]) == (label == "rare")).all()


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
    assert np.ptp(upper - lower) > 0.1


def test_too_few_groups_warn() -> None:
    X, y = line(60, 0)
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=GroupKFold(3))
    stack.fit(X, y, groups=np.arange(60) // 8)
    with pytest.warns(FoldwiseWarning, match="no guarantee with fewer than 9 groups, where rows"):
        lower, _ = stack.predict_interval(X)
    assert np.isfinite(lower).all()


SOME = np.arange(80) % 8 > 3


@pytest.mark.parametrize("how", ["layers", "blending", "tuned", "passed", "repeated", "idle"])
def test_intervals_are_there_for_every_kind_of_stack(how: str) -> None:
    X, y = line(80, 0)
    learners: Any = [("ols", LinearRegression()), ("ridge", Ridge(50.0))]
    arguments: dict[str, Any] = {
        "layers": {"estimators": [learners, [("top", Ridge())]], "cv": 4},
        "blending": {"cv": [(np.flatnonzero(SOME), np.flatnonzero(~SOME))]},
        "tuned": {"tune": {"ridge": {"alpha": [1.0, 10.0]}}},
        "passed": {"passthrough": True, "final_estimator": Ridge()},
        "repeated": {"n_repeats": 2},
        "idle": {"final_estimator": "best"},
    }[how]
    stack = StackingRegressor(**{"estimators": learners, "random_state": 0, **arguments})
    lower, upper = stack.fit(X, y).predict_interval(X, 0.8)
    assert 0.7 < ((lower <= y) & (y <= upper)).mean() < 0.95
    assert np.ptp(upper - lower) > 0.1


def test_a_weight_of_two_is_a_row_twice_for_the_scale() -> None:
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=50), rng.integers(1, 4, 50)
    members = y[:, None, None] + rng.normal(size=(50, 2, 1))

    def scale(rows: np.ndarray, weight: np.ndarray | None) -> ErrorScale:
        outputs = [members[rows, m] for m in range(2)]
        features = Features(outputs, ("a", "b"), ("value", "value"), None, 50.0)
        return error_scale(Ridge(), features, y[rows], weight)

    one = scale(np.arange(50), weight.astype(float))
    two = scale(np.arange(50).repeat(weight), None)
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-5)


def test_exact_learners_have_a_scale() -> None:
    X = np.arange(40.0)[:, None]
    stack = StackingRegressor([("ols", LinearRegression())], "mean", cv=3).fit(X, X[:, 0])
    lower, upper = stack.predict_interval(X)
    np.testing.assert_allclose(lower, X[:, 0], atol=1e-9)
    np.testing.assert_allclose(upper, X[:, 0], atol=1e-9)


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


def test_sets_hold_every_level_and_only_rows_of_the_level_speak() -> None:
    X, y = blobs(240, 0, 3)
    label = np.arange(240) % 2
    y = np.where(label == 1, np.random.default_rng(1).integers(0, 3, 240), y)
    stack = StackingClassifier([("nb", GaussianNB())], "mean", cv=3, random_state=0).fit(X, y)
    new, at = blobs(400, 9, 3)[0], np.arange(400) % 2
    sizes = stack.predict_set(new, 0.8, by=(label, at)).sum(axis=1)
    assert sizes[at == 1].mean() > 2 > sizes[at == 0].mean()
    (deal,) = stack.deals_
    given_ = np.array([f.respond(x).values for f, x in deal.hold_outs(new)])
    rows = [j.test.rows for j in deal.reading.judgements]
    own = [f.misfits[r % 2 == 1] for f, r in zip(deal.verdict.folds, rows, strict=True)]
    wanted = cv_plus_set(given_[:, at == 1], own, 0.8)
    found = stack.predict_set(new, 0.8, by=(label, at))[at == 1]
    assert (found == wanted).all(axis=1).mean() > 0.99  # the deployed class is always inside


def test_repeated_deals_never_give_an_empty_set() -> None:
    X, y = blobs(60, 0, 3)
    learners = [("tree", DecisionTreeClassifier())]
    stack = StackingClassifier(learners, "mean", cv=3, n_repeats=3, random_state=0).fit(X, y)
    assert stack.predict_set(blobs(2000, 1, 3)[0], 0.1).any(axis=1).all()
