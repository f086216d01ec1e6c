import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise.learners import NodeTask, TrainingData, fit_nodes
from learners.lattices import plain

RNG = np.random.default_rng(0)
DATA = TrainingData(RNG.normal(size=(60, 3)), RNG.normal(size=60))


@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor()])
def test_the_learner_is_cloned_and_never_changed(learner):
    before = dict(vars(learner))
    fits = fit_nodes(learner, DATA, plain(60))
    assert vars(learner) == before
    assert all(fit.model is not learner for fit in fits)


@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor(random_state=0)])
def test_fits_come_in_the_order_of_the_tasks_with_their_times(learner):
    tasks = plain(60)
    fits = fit_nodes(learner, DATA, tasks)
    for fit, task in zip(fits, tasks, strict=True):
        expected = type(learner)(**learner.get_params()).fit(DATA.X[task.train], DATA.y[task.train])
        np.testing.assert_allclose(fit.predictions[:, 0], expected.predict(DATA.X[task.test]))
        assert fit.fit_seconds > 0
        assert fit.predict_seconds > 0


def test_no_row_is_predicted_by_a_model_that_saw_it():
    # A fully grown tree returns a seen row's own target, so a leak would be a zero error.
    for fit, task in zip(
        fit_nodes(DecisionTreeRegressor(), DATA, plain(60)), plain(60), strict=True
    ):
        assert np.abs(fit.predictions[:, 0] - DATA.y[task.test]).min() > 0


def test_an_error_of_a_learner_is_raised():
    one = TrainingData(DATA.X, np.zeros(60, dtype=int), None, 2)
    with pytest.raises(ValueError, match="at least 2 classes"):
        fit_nodes(LogisticRegression(), one, [NodeTask(np.arange(30), np.arange(30, 60))])
