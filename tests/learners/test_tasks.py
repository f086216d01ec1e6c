import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise.learners import NodeTask, TrainingData, fit_nodes

LEARNERS = [Ridge(), KNeighborsRegressor(3), DecisionTreeRegressor()]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_fitting_changes_neither_the_rows_nor_the_nodes(learner):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(40, 3)), rng.normal(size=40)]
    rows = [np.arange(30), np.arange(30, 40), np.arange(10, 40), np.arange(10)]
    before = [array.copy() for array in arrays + rows]
    tasks = [NodeTask(rows[0], rows[1], 0), NodeTask(rows[2], rows[3], 0)]
    fits = fit_nodes(learner, TrainingData(*arrays), tasks)
    assert [fit.predictions.shape for fit in fits] == [(10, 1), (10, 1)]
    for now, then in zip(arrays + rows, before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_node_keeps_its_model_and_predicts_only_if_it_is_asked_to(learner):
    rng = np.random.default_rng(0)
    data = TrainingData(rng.normal(size=(40, 3)), rng.normal(size=40))
    train, test, none = np.arange(30), np.arange(30, 40), np.arange(0)
    asked = [NodeTask(train, test, 0, keep_model=False), NodeTask(train, none, 0)]
    only_predictions, only_model = fit_nodes(learner, data, asked)
    assert only_predictions.model is None
    assert only_model.predictions.size == 0
    expected = only_model.model.predict(data.X[test])
    np.testing.assert_allclose(only_predictions.predictions.ravel(), expected)
