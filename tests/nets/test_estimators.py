"""The estimators, alone and in stacks."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import NetClassifier, NetRegressor, StackingClassifier, StackingRegressor, load, save
from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.files import export_onnx
from foldwise.learners import NodeTask, TrainingData, fit_nodes, prepared, shortcut_for
from foldwise.learners.general import fit_generally
from foldwise.nets import estimators
from tests.learners.lattices import LATTICES

torch = pytest.importorskip("torch")

SMALL = {"width": 8, "n_frequencies": 4, "epochs": 4, "device": "cpu"}
QUICK = {"width": 16, "epochs": 20, "learning_rate": 0.02, "device": "cpu"}
WEIGHTS_DIFFER = {
    "check_sample_weight_equivalence_on_dense_data": "batches and rows to stop on are drawn by row"
}


@parametrize_with_checks(
    [NetRegressor(**QUICK), NetClassifier(**QUICK)], expected_failed_checks=lambda _: WEIGHTS_DIFFER
)
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def friedman() -> tuple[np.ndarray, np.ndarray]:
    return make_friedman1(240, 6, noise=1.0, random_state=0)


def tensors_trained(monkeypatch) -> list[int]:
    """Return a list that is told how many networks each tensor holds."""
    sizes, train = [], estimators.train

    def counted(torch, nodes, *rest):
        sizes.append(len(nodes))
        return train(torch, nodes, *rest)

    monkeypatch.setattr(estimators, "train", counted)
    return sizes


@pytest.mark.parametrize("deal", LATTICES)
@pytest.mark.parametrize("classify", [False, True])
def test_all_nodes_at_once_are_the_nodes_one_by_one(friedman, deal, classify, monkeypatch) -> None:
    X, y = friedman
    X = np.where(np.arange(X.size).reshape(X.shape) % 17 == 0, np.nan, X)
    kind, method = (NetClassifier, "predict_proba") if classify else (NetRegressor, "predict")
    y = (y > 12).astype(int) + (y > 18) if classify else y
    weight = np.linspace(0.5, 2, len(y))
    groups = np.arange(len(y)) // 3
    data = TrainingData(X, y, weight, 3 if classify else None, groups)
    in_time = deal == "forward"
    tasks = [
        NodeTask(t.train, t.test, seed, in_order=in_time)
        for seed, t in enumerate(LATTICES[deal](len(y)))
    ]
    sizes = tensors_trained(monkeypatch)
    together = fit_nodes(kind(**SMALL), data, tasks, method)
    assert len(sizes) < len(tasks) or in_time
    for task, fit in zip(tasks, together, strict=True):
        alone = fit_generally(kind(**SMALL), data, task, method)
        assert fit.model.best_epoch_ == alone.model.best_epoch_
        np.testing.assert_allclose(fit.predictions, alone.predictions, rtol=1e-4, atol=1e-4)


def test_a_stack_trains_its_nets_as_few_tensors(friedman, monkeypatch) -> None:
    X, y = friedman
    learners = [("net", NetRegressor(**SMALL)), ("ridge", Ridge())]
    sizes = tensors_trained(monkeypatch)
    stack = StackingRegressor(learners, "nnls", cv=5, random_state=0).fit(X, y)
    assert sorted(sizes) == [2, 5, 8]
    again = StackingRegressor(learners, "nnls", cv=5, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(stack.predict(X), again.predict(X))
    sizes.clear()
    learners[0][1].set_params(nodes_at_once=4)
    StackingRegressor(learners, "nnls", cv=5, random_state=0).fit(X, y)
    assert sorted(sizes) == [1, 2, 4, 4, 4]


def test_nets_behind_transformers_are_trained_together_too(friedman, monkeypatch) -> None:
    X, y = friedman
    table = pd.DataFrame(X[:, :3]).assign(word=np.where(X[:, 3] > 0.5, "low", "high"))
    table.columns = table.columns.astype(str)
    words = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    net = make_pipeline(words, NetRegressor(**SMALL))
    data = TrainingData(table, y)
    tasks = [NodeTask(train, test, 0) for train, test in KFold(3).split(X)]
    assert shortcut_for(net, data) is not None
    sizes = tensors_trained(monkeypatch)
    together = fit_nodes(net, data, tasks)
    assert sum(sizes) == 3
    for task, fit in zip(tasks, together, strict=True):
        alone = fit_generally(net, data, task, "predict")
        np.testing.assert_allclose(fit.predictions, alone.predictions, rtol=1e-4, atol=1e-4)


def test_threads_that_train_tensors_beside_each_other_change_no_bit(friedman) -> None:
    X, y = friedman
    data, before = TrainingData(X, y), torch.get_num_threads()
    tasks = [NodeTask(train, test, k) for k, (train, test) in enumerate(KFold(5).split(X))]
    said = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            fits = fit_nodes(NetRegressor(**SMALL, nodes_at_once=2, random_state=0), data, tasks)
            said.append(np.concatenate([fit.predictions for fit in fits]))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*said)


def test_what_ends_one_tensor_ends_those_that_are_trained_beside_it(friedman, monkeypatch) -> None:
    X, y = friedman
    tasks = [NodeTask(train, test, k) for k, (train, test) in enumerate(KFold(2).split(X))]
    begun, ended = threading.Event(), []

    def trained(_torch, nodes, _recipe, _device, tell):
        if nodes[0].seed == first:
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                tell(1)
            except InterruptedError:
                ended.append(True)
                raise

    net, before = NetRegressor(**SMALL, nodes_at_once=1), torch.get_num_threads()
    first = prepared(net, tasks[0].seed)._plan(X, y).rows.seed
    monkeypatch.setattr(estimators, "train", trained)
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            fit_nodes(net, TrainingData(X, y), tasks)
    finally:
        torch.set_num_threads(before)
    assert ended == [True]


def test_one_seed_gives_the_same_bits(friedman) -> None:
    X, y = friedman
    net = NetRegressor(**SMALL, random_state=3).fit(X, y)
    np.testing.assert_array_equal(net.predict(X), clone(net).fit(X, y).predict(X))
    other = clone(net).set_params(random_state=4).fit(X, y)
    assert not np.array_equal(net.predict(X), other.predict(X))


def test_the_rows_to_stop_on_are_not_learned_from(friedman) -> None:
    X, y = friedman
    net = NetRegressor(**SMALL, n_iter_no_change=None, random_state=0)
    given = net.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    scaled = (y[200:] - y[:200].mean()) / y[:200].std()
    predicted = (given.predict(X[200:]) - y[:200].mean()) / y[:200].std()
    assert given.validation_losses_.min() == pytest.approx(
        np.mean((predicted - scaled) ** 2), rel=1e-3
    )
    # Other targets there choose another epoch, of the same training.
    other = clone(net).fit(X[:200], y[:200], eval_set=[(X[200:], -y[200:])])
    assert len(other.validation_losses_) == 4
    assert other.best_epoch_ < given.best_epoch_


def test_it_learns_what_a_line_cannot() -> None:
    X, y = make_friedman1(900, 6, noise=1.0, random_state=0)
    net = NetRegressor(width=64, epochs=40, random_state=0, device="cpu").fit(X[:600], y[:600])
    line = Ridge().fit(X[:600], y[:600])
    error = np.mean((net.predict(X[600:]) - y[600:]) ** 2)
    assert error < 0.45 * np.mean((line.predict(X[600:]) - y[600:]) ** 2)


def test_on_a_processor_few_rows_have_more_members_and_large_steps(monkeypatch) -> None:
    recipes = []

    def trained(_torch, _nodes, recipe, *_):
        recipes.append(recipe)
        raise TimeoutError

    monkeypatch.setattr(estimators, "train", trained)
    for n_rows in (3000, 3001):
        X = np.zeros((n_rows, 1))
        with pytest.raises(TimeoutError):
            NetRegressor(device="cpu").fit(X, X[:, 0], eval_set=[(X[:9], X[:9, 0])])
    assert [recipe.shape.n_members for recipe in recipes] == [8, 4]
    assert {recipe.learning_rate for recipe in recipes} == {0.004}


def test_members_differ_and_their_mean_is_the_prediction(friedman) -> None:
    X, y = friedman
    net = NetRegressor(**SMALL, n_members=4, random_state=0).fit(X, y)
    members = estimators.answers(torch, "cpu", net.shape_, net.weights_, net.inputs_.read(X))
    assert members.shape == (4, 240, 1)
    assert members.std(axis=0).mean() > 0.01
    mean = members.mean(axis=0)[:, 0] * net.targets_.spread + net.targets_.centre
    np.testing.assert_allclose(net.predict(X), np.clip(mean, y.min(), y.max()), rtol=0.02)


def test_several_targets_missing_values_and_weights_of_zero(friedman) -> None:
    X, y = friedman
    X, both = X.copy(), np.column_stack([y, -2 * y])
    X[::7, 1] = np.nan
    weight = np.ones(len(y))
    weight[:40] = 0
    both[:40] = 1e9
    net = NetRegressor(**SMALL, random_state=0).fit(X, both, sample_weight=weight)
    assert net.predict(X).shape == both.shape
    assert net.predict(X).max() <= y.max()
    left_out = clone(net).fit(X[40:], both[40:])
    np.testing.assert_array_equal(net.predict(X), left_out.predict(X))
    assert net.inputs_.missing.tolist() == [1]


def test_dropout_left_on_scatters_around_the_plain_prediction(friedman) -> None:
    X, y = friedman
    net = NetRegressor(**{**SMALL, "epochs": 20}, dropout=0.2, random_state=0).fit(X, y)
    draws = net.predict_draws(X, 200, random_state=0)
    assert draws.shape == (200, 240)
    spread = draws.std(axis=0).mean()
    assert spread > 0
    assert np.abs(draws.mean(axis=0) - net.predict(X)).mean() < spread
    classes = NetClassifier(**SMALL, random_state=0).fit(X, y > 14)
    np.testing.assert_allclose(classes.predict_draws(X, 2).sum(axis=2), 1)


@pytest.mark.parametrize("kind", [NetRegressor, NetClassifier])
def test_pickles_and_model_files_predict_the_same_bits(friedman, kind, tmp_path) -> None:
    X, y = friedman
    y = y if kind is NetRegressor else np.where(y > 14, "high", "low")
    net = kind(**SMALL, n_members=2, random_state=0).fit(X, y)
    save(net, tmp_path / "net.foldwise")
    for other in (pickle.loads(pickle.dumps(net)), load(tmp_path / "net.foldwise")):
        np.testing.assert_array_equal(other.predict(X), net.predict(X))


def test_a_fitted_net_predicts_without_torch(friedman, monkeypatch) -> None:
    X, y = friedman
    net = NetRegressor(**SMALL, random_state=0).fit(X, y)
    with_torch = net.predict(X)
    monkeypatch.setattr(estimators, "find_spec", lambda _name: None)
    np.testing.assert_allclose(net.predict(X), with_torch, rtol=1e-10)


@pytest.mark.parametrize("residual", [False, True])
def test_onnx_predicts_the_same(friedman, residual, tmp_path) -> None:
    X, y = friedman
    net = NetRegressor(**SMALL, residual=residual, n_members=2, random_state=0).fit(X, y)
    assert export_onnx(net, tmp_path / "net.onnx", X) < 1e-4
    X = np.where(X > 0.9, np.nan, X)
    stack = StackingClassifier(
        [("net", NetClassifier(**SMALL)), ("wide", NetClassifier(**SMALL, n_members=2))], "mean"
    ).fit(X, np.digitize(y, [12, 18]))
    assert export_onnx(stack, tmp_path / "stack.onnx", X) < 1e-4


def test_what_cannot_be_is_refused_in_words(friedman) -> None:
    X, y = friedman
    with pytest.raises(InvalidParameterError) as refused:
        NetRegressor(device="moon").fit(X, y)
    assert str(refused.value) == (
        "NetRegressor: device must name a device that torch can use here; got 'moon'. Use 'auto'."
    )
    with pytest.raises(InvalidParameterError) as refused:
        NetRegressor(dropout=1.0).fit(X, y)
    assert str(refused.value) == (
        "NetRegressor: dropout must be a number at least 0 and below 1; got 1.0. Try 0.25."
    )


@pytest.mark.parametrize(("n_rows", "labels"), [(2, [0, 1]), (3, [0, 0, 1]), (9, range(9))])
def test_classes_of_one_row_are_fitted_where_none_can_be_set_apart(n_rows, labels) -> None:
    X = np.arange(3.0 * n_rows).reshape(n_rows, 3)
    model = NetClassifier(**SMALL, random_state=1).fit(X, list(labels))
    assert model.classes_.tolist() == sorted(set(labels))
    assert np.isfinite(model.validation_losses_).all()
    assert NetRegressor(**SMALL).fit(X[:1], [2.0]).predict(X).tolist() == [2.0] * n_rows


def test_rows_to_stop_on_come_as_one_pair(friedman) -> None:
    X, y = friedman
    with pytest.raises(InvalidDataError, match="eval_set must be a list of one pair"):
        NetRegressor(**SMALL).fit(X, y, eval_set=(X, y))


def test_progress_is_told_epoch_by_epoch(friedman, caplog) -> None:
    caplog.set_level("INFO", "foldwise")
    NetRegressor(**SMALL, verbose=2).fit(*friedman)
    assert "NetRegressor: 3/4 epochs" in caplog.text
