import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise.boost.learner import make_table
from foldwise.resample.bag import Plan, answers, fit_member, fit_members, mean_answer
from foldwise.resample.draws import Draws


def plan_of(learner, scheme="bootstrap", n=40, n_columns=3, weight=None):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    table = make_table(X, [learner])
    return Plan(learner, table, y, weight, Draws(scheme, n, n, None, None), n_columns, None)


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
    plan, seeds, told = plan_of(learner), list(range(25)), []
    one = fit_members(plan, seeds, None, told.append)
    two = fit_members(plan, seeds, 2, told.append)
    assert told[:3] == [10, 20, 25]

    def tally(member, table):
        return member.answer(table, "predict")

    np.testing.assert_array_equal(
        mean_answer(one, plan.table, tally, None), mean_answer(two, plan.table, tally, 2)
    )
    every = np.array(list(answers(one, plan.table, "predict")))
    np.testing.assert_allclose(every.mean(axis=0), mean_answer(one, plan.table, tally, None))
