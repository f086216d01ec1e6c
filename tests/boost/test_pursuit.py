import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise.boost.learner import make_table
from foldwise.boost.pursuit import Recipe, Sample, boost_additive, gridded
from foldwise.losses.numbers import Squared

TREE = DecisionTreeRegressor()


def recipe(learners, **changes):
    usual = {
        "learning_rate": 0.5,
        "step": "auto",
        "n_rows": None,
        "n_columns": None,
        "patience": 3,
        "seed": 0,
    }
    return Recipe(learners, **(usual | changes))


def sample(n=80, learners=(TREE,)):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=n)
    return Sample(make_table(X, list(learners)), y, np.ones(n), False)


def test_the_model_is_its_constant_and_its_stages() -> None:
    rows = sample()
    learners = [DecisionTreeRegressor(max_depth=2)]
    model = boost_additive(recipe(learners), Squared(), rows, 5, None, lambda _: None)
    expected = rows.y.mean() + sum(
        0.5 * stage.learners[0].predict(rows.table.X) for stage in model.stages
    )
    np.testing.assert_allclose(model.raw(rows.table), expected)


def test_drawn_rows_alone_decide_the_tree() -> None:
    rows = sample()
    seen: list[int] = []
    learners = [DecisionTreeRegressor()]
    boost_additive(recipe(learners, n_rows=20), Squared(), rows, 3, None, seen.append)
    model = boost_additive(recipe(learners, n_rows=20), Squared(), rows, 1, None, seen.append)
    assert model.stages[0].learners[0].tree_.n_node_samples[0] == 20
    assert seen == [1, 2, 3, 1]
    # Alone in their leaves the drawn rows are met exactly, whatever rows not drawn say.
    said = model.raw(rows.table)
    met = np.isclose(said, rows.y.mean() + 0.5 * (rows.y - rows.y.mean()))
    assert met.sum() == 20


def test_the_watched_loss_ends_the_boosting() -> None:
    rows = sample()
    noise = Sample(rows.table, np.random.default_rng(1).normal(size=80), np.ones(80), False)
    learners = [DecisionTreeRegressor(max_depth=4)]
    model = boost_additive(recipe(learners), Squared(), rows, 100, noise, lambda _: None)
    assert len(model.stages) == model.best_round + 3
    assert model.validation_loss is not None
    assert model.validation_loss.argmin() + 1 == model.best_round


def test_a_set_is_searched_in_every_round() -> None:
    learners = [Ridge(), DecisionTreeRegressor(max_depth=2)]
    rows = sample(learners=learners)
    model = boost_additive(recipe(learners), Squared(), rows, 3, None, lambda _: None)
    assert model.stages[0].member == 1  # a parabola is nothing to a line


def test_gridded_residuals_add_up_exactly() -> None:
    values = np.random.default_rng(0).normal(size=999)
    parts = gridded(values)
    assert parts.sum() == np.cumsum(parts[::-1])[-1]
    np.testing.assert_allclose(parts, values, atol=1e-8)
    assert gridded(np.zeros(3)).tolist() == [0, 0, 0]
