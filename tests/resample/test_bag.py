import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise.engine import Stream
from foldwise.learners.one_learner import LearnerInput, input_for
from foldwise.resample.bag import (
    BagPlan,
    accuracy_with_error,
    fit_member,
    fit_members,
    mean_and_error,
    mean_answer,
    out_of_bag,
    r2_with_error,
)
from foldwise.resample.draws import Draws


def plan_of(learner, scheme="bootstrap", n=40, n_columns=3, weight=None):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    table = input_for(X, [learner])
    return BagPlan(learner, table, y, weight, Draws(scheme, n, n, None, None), n_columns, None)


def test_a_tree_of_counts_is_a_tree_of_repeated_rows() -> None:
    plan = plan_of(DecisionTreeRegressor(random_state=0))
    member = fit_member(plan, 5)
    counts = plan.draws.rows(5).astype(int)
    rows = np.repeat(np.arange(40), counts)
    repeated = DecisionTreeRegressor(random_state=0).fit(plan.table.X[rows], plan.y[rows])
    np.testing.assert_allclose(
        member.answer(plan.table, "predict"), repeated.predict(plan.table.X), rtol=1e-12
    )


def test_rows_left_out_are_absent() -> None:
    plan = plan_of(KNeighborsRegressor(1))
    counts = plan.draws.rows(5)
    member = fit_member(plan, 5)
    assert len(member.learner._fit_X) == 40
    out = counts == 0
    said = member.answer(plan.table, "predict")
    assert (said[~out] == plan.y[~out]).all()
    assert (said[out] != plan.y[out]).all()


def test_weights_are_passed_on_with_the_rows() -> None:
    weight = np.linspace(0.1, 1, 40)
    plan = plan_of(Ridge(), "subsample", weight=weight)
    expected = Ridge().fit(plan.table.X, plan.y, sample_weight=weight)
    np.testing.assert_allclose(fit_member(plan, 1).learner.coef_, expected.coef_)


def test_a_member_reads_its_columns() -> None:
    member = fit_member(plan_of(Ridge(), n_columns=2), 3)
    assert len(member.columns) == 2
    assert member.learner.coef_.shape == (2,)


@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor()])
def test_the_result_does_not_depend_on_the_workers(learner) -> None:
    plan, seeds, told = plan_of(learner), list(range(25)), Stream(total=50)
    one = fit_members(plan, seeds, None, told)
    two = fit_members(plan, seeds, 2, told)
    assert told.done == 50

    def tally(member, table):
        return member.answer(table, "predict")

    np.testing.assert_array_equal(
        mean_answer(one, plan.table, tally, None), mean_answer(two, plan.table, tally, 2)
    )
    every = np.array([tally(member, plan.table) for member in one])
    np.testing.assert_allclose(every.mean(axis=0), mean_answer(one, plan.table, tally, None))


def test_no_row_is_predicted_by_a_learner_that_had_it() -> None:
    # The nearest neighbour of a row a learner had is the row itself, with no error.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    table, draws = LearnerInput(X, trusted=False), Draws("bootstrap", 60, 60, None, None)
    seeds = list(range(30))
    plan = BagPlan(KNeighborsRegressor(1), table, y, None, draws, 2, None)
    members = fit_members(plan, seeds, None)
    said = out_of_bag(members, seeds, draws, table, lambda m, t: m.answer(t, "predict"), 1)[:, 0]
    assert np.abs(said - y).min() > 0
    one = out_of_bag(members[:1], [0], draws, table, lambda m, t: m.answer(t, "predict"), 1)[:, 0]
    np.testing.assert_array_equal(np.isnan(one), draws.rows(0) > 0)


def test_the_error_of_a_mean_is_the_textbooks() -> None:
    x = np.random.default_rng(0).normal(size=50)
    mean, error = mean_and_error(x, np.ones(50), None)
    assert mean == pytest.approx(x.mean())
    assert error == pytest.approx(x.std(ddof=1) / np.sqrt(50))


def test_a_weight_of_zero_leaves_a_row_out() -> None:
    x, weight = np.array([1.0, 2.0, 4.0, 9.0]), np.array([1.0, 1.0, 1.0, 0.0])
    assert mean_and_error(x, weight, None) == pytest.approx(mean_and_error(x[:3], np.ones(3), None))


def test_rows_of_a_group_count_as_one() -> None:
    x = np.random.default_rng(0).normal(size=20)
    group = np.arange(20).repeat(5)
    alone = mean_and_error(x, np.ones(20), None)
    assert mean_and_error(x.repeat(5), np.ones(100), group) == pytest.approx(alone)


def test_the_standard_error_of_r2_is_its_spread_over_samples() -> None:
    # 600 samples of 200 rows: the spread is known to about 3 %, the mean error better.
    rng = np.random.default_rng(0)
    scores, errors = [], []
    for _ in range(600):
        truth = rng.normal(size=200)
        y = truth + rng.normal(size=200)
        score, error = r2_with_error(y, truth, np.ones(200), None)
        assert score == pytest.approx(r2_score(y, truth))
        scores.append(score)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=0.12)


def test_constant_targets_have_no_r2_error() -> None:
    assert r2_with_error(np.ones(3), np.ones(3), np.ones(3), None) == (1.0, 0.0)
    assert r2_with_error(np.ones(3), np.zeros(3), np.ones(3), None) == (0.0, 0.0)


def test_the_accuracy_is_the_share_of_right_rows() -> None:
    votes = np.array([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9], [0.2, 0.8]])
    score, error = accuracy_with_error(np.array([0, 1, 1, 1]), votes, np.ones(4), None)
    assert score == 0.75
    assert error == pytest.approx(np.sqrt(0.75 * 0.25 / 3))
