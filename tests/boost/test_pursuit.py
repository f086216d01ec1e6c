import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise.boost.pursuit import Additive, Pursuit, Stage, boost_additive, gridded
from foldwise.learners.one_learner import LearnerInput, WeightedRows, input_for
from foldwise.losses.numbers import Squared

TREE = DecisionTreeRegressor()


def pursuit(learners, **changes):
    usual = {
        "learning_rate": 0.5,
        "step": "auto",
        "subsample": 1.0,
        "max_features": 1.0,
        "patience": 3,
        "seed": 0,
    }
    return Pursuit(learners, **(usual | changes))


def sample(n=80, learners=(TREE,)):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=n)
    return WeightedRows(input_for(X, list(learners)), y, np.ones(n), False)


def test_the_model_is_its_constant_and_its_stages() -> None:
    rows = sample()
    learners = [DecisionTreeRegressor(max_depth=2)]
    model = boost_additive(pursuit(learners), Squared(), rows, None, 5, lambda _: None)
    expected = rows.y.mean() + sum(
        0.5 * stage.learners[0].predict(rows.table.X) for stage in model.stages
    )
    np.testing.assert_allclose(model.raw(rows.table), expected)


def test_drawn_rows_alone_decide_the_tree() -> None:
    rows = sample()
    seen: list[int] = []
    learners = [DecisionTreeRegressor()]
    boost_additive(pursuit(learners, subsample=0.25), Squared(), rows, None, 3, seen.append)
    model = boost_additive(pursuit(learners, subsample=0.25), Squared(), rows, None, 1, seen.append)
    assert model.stages[0].learners[0].tree_.n_node_samples[0] == 20
    assert seen == [1, 2, 3, 1]
    # Alone in their leaves the drawn rows are met exactly, whatever rows not drawn say.
    said = model.raw(rows.table)
    met = np.isclose(said, rows.y.mean() + 0.5 * (rows.y - rows.y.mean()))
    assert met.sum() == 20


def test_the_watched_loss_ends_the_boosting() -> None:
    rows = sample()
    noise = WeightedRows(rows.table, np.random.default_rng(1).normal(size=80), np.ones(80), False)
    learners = [DecisionTreeRegressor(max_depth=4)]
    model = boost_additive(pursuit(learners), Squared(), rows, noise, 100, lambda _: None)
    assert len(model.stages) == model.best_round + 3
    assert model.validation_loss is not None
    assert model.validation_loss.argmin() + 1 == model.best_round


def test_a_set_is_searched_in_every_round() -> None:
    learners = [Ridge(), DecisionTreeRegressor(max_depth=2)]
    rows = sample(learners=learners)
    model = boost_additive(pursuit(learners), Squared(), rows, None, 3, lambda _: None)
    assert model.stages[0].member == 1  # a parabola is nothing to a line


def test_gridded_residuals_add_up_exactly() -> None:
    values = np.random.default_rng(0).normal(size=999)
    parts = gridded(values)
    assert parts.sum() == np.cumsum(parts[::-1])[-1]
    np.testing.assert_allclose(parts, values, atol=1e-8)
    assert gridded(np.zeros(3)).tolist() == [0, 0, 0]


class Answers:
    """A learner that adds up the columns it is given."""

    def predict(self, X):
        return X.sum(axis=1)


def model(n_stages=3, columns=None):
    stage = Stage((Answers(),), columns, 2.0, 0)
    return Additive(np.asarray(1.0), [stage] * n_stages, 0.5, np.zeros(3), None, 0)


def test_the_stages_add_up() -> None:
    table = LearnerInput(np.ones((2, 4)), trusted=False)
    assert model().raw(table).tolist() == [13.0, 13.0]
    assert [raw[0] for raw in model().staged_raw(table)] == [5.0, 9.0, 13.0]
    assert model().first(1).raw(table).tolist() == [5.0, 5.0]


def test_a_stage_reads_its_columns_only() -> None:
    table = LearnerInput(np.array([[1.0, 10.0, 100.0]]), trusted=False)
    assert model(1, np.array([0, 2])).raw(table).tolist() == [102.0]


def test_importances_go_to_the_columns_that_were_read() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    columns = np.array([0, 2])
    tree = DecisionTreeRegressor(max_depth=2).fit(X[:, columns], y)
    stage = Stage((tree,), columns, 1.0, 0)
    boosted = Additive(np.asarray(0.0), [stage], 1.0, np.zeros(1), None, 0)
    assert boosted.only_trees
    assert not model().only_trees
    assert boosted.importances(3)[1] == 0
    np.testing.assert_allclose(boosted.importances(3)[columns], tree.feature_importances_)
