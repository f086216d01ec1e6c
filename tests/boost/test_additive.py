import numpy as np
from sklearn.tree import DecisionTreeRegressor

from foldwise.boost.additive import Additive, Stage
from foldwise.boost.learner import Table
from foldwise.losses.numbers import Squared


class Answers:
    """A learner that adds up the columns it is given."""

    def predict(self, X):
        return X.sum(axis=1)


def model(n_stages=3, columns=None):
    stage = Stage((Answers(),), columns, 2.0, 0)
    return Additive(Squared(), np.asarray(1.0), [stage] * n_stages, 0.5, np.zeros(3), None, 0)


def test_the_stages_add_up() -> None:
    table = Table(np.ones((2, 4)), trusted=False)
    assert model().raw(table).tolist() == [13.0, 13.0]
    assert [raw[0] for raw in model().staged_raw(table)] == [5.0, 9.0, 13.0]
    assert model().first(1).raw(table).tolist() == [5.0, 5.0]


def test_a_stage_reads_its_columns_only() -> None:
    table = Table(np.array([[1.0, 10.0, 100.0]]), trusted=False)
    assert model(1, np.array([0, 2])).raw(table).tolist() == [102.0]


def test_importances_go_to_the_columns_that_were_read() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    columns = np.array([0, 2])
    tree = DecisionTreeRegressor(max_depth=2).fit(X[:, columns], y)
    stage = Stage((tree,), columns, 1.0, 0)
    boosted = Additive(Squared(), np.asarray(0.0), [stage], 1.0, np.zeros(1), None, 0)
    assert boosted.only_trees
    assert not model().only_trees
    assert boosted.importances(3)[1] == 0
    np.testing.assert_allclose(boosted.importances(3)[columns], tree.feature_importances_)
