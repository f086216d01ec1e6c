import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from foldwise.boost.learner import Table
from foldwise.resample.bag import Plan, fit_members
from foldwise.resample.draws import Draws
from foldwise.resample.out_of_bag import (
    accuracy_with_error,
    mean_and_error,
    out_of_bag,
    r2_with_error,
)


def test_no_row_is_predicted_by_a_learner_that_had_it() -> None:
    # The nearest neighbour of a row a learner had is the row itself, with no error.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    table, draws = Table(X, trusted=False), Draws("bootstrap", 60, 60, None, None)
    seeds = list(range(30))
    plan = Plan(KNeighborsRegressor(1), table, y, None, draws, 2, None)
    members = fit_members(plan, seeds, None, lambda _: None)
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
