import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from foldwise.learners import NodeFit, NodeTask, TrainingData, fit_nodes
from foldwise.learners import shortcuts as module
from foldwise.learners.shortcuts import register, shortcut_for
from learners.lattices import plain

DATA = TrainingData(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0))


class Level(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.level_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


def yes(_learner, _data):
    return True


def no(_learner, _data):
    return False


def nothing(_learner, _data, _tasks, _method):
    return None


@pytest.fixture
def _registry(monkeypatch):
    monkeypatch.setattr(module, "_KNOWN", dict(module._KNOWN))


@pytest.mark.usefixtures("_registry")
def test_a_registered_shortcut_is_used_and_its_gaps_are_filled_the_general_way():
    def fit(_learner, _data, tasks, _method):
        made = NodeFit(np.full((len(tasks[0].test), 1), -1.0))
        return [made, *[None] * (len(tasks) - 1)]

    register(Level, yes, fit)
    tasks = plain(40)
    fits = fit_nodes(Level(), DATA, tasks)
    assert (fits[0].predictions == -1).all()
    for found, task in zip(fits[1:], tasks[1:], strict=True):
        np.testing.assert_allclose(found.predictions, DATA.y[task.train].mean())


@pytest.mark.usefixtures("_registry")
def test_a_shortcut_that_returns_nothing_is_as_good_as_none():
    register(Level, yes, nothing)
    assert shortcut_for(Level(), DATA)(Level(), DATA, plain(40), "predict") is None
    assert len(fit_nodes(Level(), DATA, plain(40))) == len(plain(40))


@pytest.mark.usefixtures("_registry")
def test_a_shortcut_stands_behind_a_scaler_only_if_it_says_so():
    scaled = make_pipeline(StandardScaler(), Level())
    register(Level, yes, nothing)
    assert shortcut_for(scaled, DATA) is None
    register(Level, yes, nothing, behind="scaler")
    assert shortcut_for(scaled, DATA) is not None


@pytest.mark.usefixtures("_registry")
def test_a_shortcut_is_not_tried_on_learners_it_does_not_handle():
    register(Level, no, nothing)
    assert shortcut_for(Level(), DATA) is None


def test_other_learners_and_other_data_have_no_shortcut():
    assert shortcut_for(Lasso(), DATA) is None
    assert shortcut_for(make_pipeline(StandardScaler(), Lasso()), DATA) is None
    assert shortcut_for(Ridge(), TrainingData(DATA.X.astype(object), DATA.y)) is None
    assert shortcut_for(make_pipeline(StandardScaler(), Ridge(), verbose=True), DATA) is None


def test_an_error_of_the_general_way_is_raised():
    bad = TrainingData(np.full((40, 2), np.nan), DATA.y)
    with pytest.raises(ValueError, match="NaN"):
        fit_nodes(Ridge(), bad, plain(40))


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
