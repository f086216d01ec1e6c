import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise.boost import AdaBoostClassifier
from foldwise.boost.samme import (
    BoostingPath,
    add_votes,
    centred,
    class_margins,
    coefficient_path,
    gridded,
    path_point,
    reweighted,
    round_fitter,
    vote_weight,
)
from foldwise.learners.one_learner import WeightedRows, input_for


@given(st.floats(0.001, 0.499))
def test_after_a_round_the_learner_is_no_better_than_chance(error) -> None:
    n_wrong = max(1, round(error * 1000))
    wrong = np.arange(1000) < n_wrong
    weight = np.full(1000, 1e-3)
    say = vote_weight(float(weight @ wrong), 2, 1000)
    assert reweighted(weight, wrong, say, 2) @ wrong == pytest.approx(0.5)


@pytest.mark.parametrize("n_classes", [3, 7])
def test_samme_leaves_the_learner_at_its_chance_level(n_classes) -> None:
    wrong = np.arange(100) < 30
    weight = np.full(100, 0.01)
    say = vote_weight(0.3, n_classes, 100)
    assert reweighted(weight, wrong, say, n_classes) @ wrong == pytest.approx(1 - 1 / n_classes)


def test_a_perfect_learner_has_a_finite_say() -> None:
    assert vote_weight(0.0, 2, 50) == pytest.approx(0.5 * np.log(99))


def test_two_class_votes_differ_by_twice_the_say() -> None:
    votes = np.zeros((1, 2))
    add_votes(votes, np.array([1]), 0.7)
    assert votes.tolist() == [[0.0, 1.4]]


def test_gridded_weights_add_up_exactly() -> None:
    rng = np.random.default_rng(0)
    weight = rng.random(1000)
    weight /= weight.sum()
    parts = gridded(weight, np.ones(1000))
    assert parts.sum() == parts[::-1].sum() == np.cumsum(rng.permutation(parts))[-1]
    np.testing.assert_allclose(parts, weight * 1000, atol=1e-9)


def test_centred_votes_sum_to_zero() -> None:
    votes = np.random.default_rng(0).random((5, 3))
    np.testing.assert_allclose(centred(votes).sum(axis=1), 0, atol=1e-15)


def test_margins_lie_between_minus_one_and_one_and_tell_right_from_wrong() -> None:
    rng = np.random.default_rng(0)
    votes, codes = rng.random((50, 4)), rng.integers(4, size=50)
    margins = class_margins(votes, codes)
    assert np.abs(margins).max() <= 1
    assert ((margins > 0) == (votes.argmax(axis=1) == codes)).all()


def test_the_path_can_be_cut() -> None:
    votes, codes = np.array([[2.0, 0.0]]), np.array([0])
    points = [path_point(times * votes, codes, np.ones(1)) for times in (1, 2)]
    path = BoostingPath.of([1.0, 1.0], points)
    assert path.l1_norm.tolist() == [1.0, 2.0]
    assert path.first(1).exponential_loss.tolist() == [np.exp(-1)]


def test_learners_that_answer_alike_share_a_coefficient() -> None:
    path = coefficient_path(np.array([[0, 1], [0, 1], [1, 0]]), np.array([1.0, 2.0, 3.0]))
    assert path[-1].tolist() == [3.0, 3.0]


def test_slow_boosting_climbs_to_the_largest_margin_there_is() -> None:
    # The oracle is the linear programme max μ: Σ β y h ≥ μ, Σ |β| = 1 over all stumps.
    rng = np.random.default_rng(3)
    X = rng.random((30, 2))
    y = np.where(X.sum(axis=1) > 1, 1, -1)
    stumps = []
    for j in range(2):
        values = np.sort(X[:, j])
        for cut in (values[1:] + values[:-1]) / 2:
            stumps.append(np.where(X[:, j] > cut, 1, -1))
    H = y[:, None] * np.column_stack(stumps + [-stump for stump in stumps])
    n, k = H.shape
    solved = linprog(
        np.r_[np.zeros(k), -1.0],
        A_ub=np.hstack([-H, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(k), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    model = AdaBoostClassifier(n_estimators=600, learning_rate=0.5, random_state=0).fit(X, y)
    path = model.path_
    assert path.smallest_margin[-1] == pytest.approx(-solved.fun, rel=0.05)
    assert path.smallest_margin.max() <= -solved.fun + 1e-9
    assert (np.diff(path.l1_norm) > 0).all()
    coefficients = model.coefficient_path(X)
    np.testing.assert_allclose(coefficients.sum(axis=1), path.l1_norm)
    assert (np.diff(coefficients, axis=0) >= 0).all()


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def fitter(learner, X, codes, start=None, draw=False):
    start = np.ones(len(X)) if start is None else start
    given = WeightedRows(input_for(X, [learner]), codes, start, True)
    return round_fitter(learner, np.arange(9), given, draw=draw)


def test_sorted_columns_and_weights_grow_the_same_stump(rows) -> None:
    X, codes = rows
    start = np.arange(60.0)  # the first row has no weight
    weight = start / start.sum()
    quick = fitter(DecisionTreeClassifier(max_depth=1), X, codes, start)(0, weight)
    slow = fitter(DecisionTreeClassifier(max_depth=1, min_samples_split=3), X, codes, start)(
        0, weight
    )
    np.testing.assert_allclose(quick.predict_proba(X), slow.predict_proba(X), atol=1e-9)
    assert quick.tree_.threshold[0] == slow.tree_.threshold[0]


def test_a_table_without_a_split_grows_a_root(rows) -> None:
    _, codes = rows
    fit = fitter(DecisionTreeClassifier(max_depth=1), np.zeros((60, 2)), codes)
    assert fit(0, np.full(60, 1 / 60)).tree_.node_count == 1


def test_drawn_rows_follow_the_weights(rows) -> None:
    X, codes = rows
    weight = np.zeros(60)
    weight[:4] = 0.25
    model = fitter(KNeighborsClassifier(1), X, codes, draw=True)(0, weight)
    assert {tuple(row) for row in model._fit_X} <= {tuple(row) for row in X[:4]}


def test_learners_of_different_rounds_have_different_seeds(rows) -> None:
    X, codes = rows
    fit = fitter(DecisionTreeClassifier(max_depth=2), X, codes)
    weight = np.full(60, 1 / 60)
    assert fit(0, weight).random_state != fit(1, weight).random_state


def test_rows_of_one_class_still_grow_a_stump(rows) -> None:
    # The rows left after setting some apart may all be of the first class.
    X, codes = rows
    model = fitter(DecisionTreeClassifier(max_depth=1), X, np.zeros_like(codes))(
        0, np.full(60, 1 / 60)
    )
    assert set(model.predict(X)) == {0}
