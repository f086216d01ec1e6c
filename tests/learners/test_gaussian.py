import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.learners import NodeTask, TrainingData
from foldwise.learners import rows as matrix_module
from foldwise.learners.gaussian import cell_moments, class_moments
from foldwise.learners.rows import atoms_of, matrix_of
from learners.lattices import LATTICES, assert_agrees, by_shortcut, plain

LEARNERS = {
    "lda": LinearDiscriminantAnalysis(),
    "qda": QuadraticDiscriminantAnalysis(),
    "regularised qda": QuadraticDiscriminantAnalysis(reg_param=0.2),
    "naive bayes": GaussianNB(),
    "smooth naive bayes": GaussianNB(var_smoothing=0.1),
}


def problem(n=200, p=4, n_classes=3, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + y[:, None] * rng.normal(size=p)
    weight = rng.exponential(size=n) * (rng.random(n) > 0.2) if weighted else None
    return TrainingData(X, y, weight, n_classes)


def methods(name):
    return ("predict", "predict_proba", *(["decision_function"] if "da" in name else []))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", LEARNERS)
def test_agrees_with_the_general_way(name, n_classes):
    for method in methods(name):
        assert_agrees(LEARNERS[name], problem(n_classes=n_classes), plain(200), method)


@pytest.mark.parametrize("deal", LATTICES)
@pytest.mark.parametrize("name", LEARNERS)
def test_agrees_on_every_kind_of_lattice(name, deal):
    assert_agrees(LEARNERS[name], problem(), LATTICES[deal](200), "predict_proba")


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_agrees_on_real_data(load):
    X, y = load(return_X_y=True)
    data = TrainingData(X, y, None, int(y.max()) + 1)
    for learner in (LinearDiscriminantAnalysis(), GaussianNB()):
        assert_agrees(learner, data, plain(len(y), 3), "predict_proba")


def test_a_column_constant_at_some_nodes_of_real_data_agrees():
    X, y = load_digits(return_X_y=True)
    data = TrainingData(X, y, None, 10)
    assert_agrees(LinearDiscriminantAnalysis(), data, plain(len(y)), "predict_proba")


def test_naive_bayes_takes_weights_and_the_others_do_not():
    data = problem(weighted=True)
    assert_agrees(GaussianNB(), data, plain(200), "predict_proba")
    for name in ("lda", "qda"):
        assert by_shortcut(LEARNERS[name], data, plain(200), "predict_proba") is None


@pytest.mark.parametrize("name", LEARNERS)
def test_columns_stay_aligned_where_a_class_is_absent(name):
    data = problem()
    data.y[:] = np.where(np.arange(200) < 60, 2, data.y % 2)
    rows = np.arange(200)
    tasks = [NodeTask(rows[60:], rows[:60], 0), NodeTask(rows[:150], rows[150:], 0)]
    for method in methods(name):
        assert_agrees(LEARNERS[name], data, tasks, "predict")
        fits = by_shortcut(LEARNERS[name], data, tasks, method)
        assert_same_as_general(LEARNERS[name], data, tasks, method, fits)


def assert_same_as_general(learner, data, tasks, method, fits):
    from foldwise.learners.general import fit_generally

    for fit, task in zip(fits, tasks, strict=True):
        general = fit_generally(learner, data, task, method).predictions
        assert fit.predictions.shape == general.shape
        np.testing.assert_allclose(fit.predictions, general, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", LEARNERS)
def test_one_class_only_is_left_to_the_general_way(name):
    data = problem()
    data.y[:] = np.arange(200) >= 100
    tasks = [NodeTask(np.arange(100), np.arange(100, 200), 0)]
    assert by_shortcut(LEARNERS[name], data, tasks) is None


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1])
@pytest.mark.parametrize("name", LEARNERS)
def test_constant_columns_agree_or_are_declined(name, value):
    data = problem()
    data.X[:, 1] = value
    if name != "qda":  # scikit-learn refuses these, too
        assert_agrees(LEARNERS[name], data, plain(200), "predict_proba", must_try=False)
    else:
        assert by_shortcut(LEARNERS[name], data, plain(200)) is None


def test_rows_that_tell_nothing_apart_are_left_to_the_general_way():
    data = problem(p=1)
    data.X[:] = 2.0
    assert by_shortcut(LinearDiscriminantAnalysis(), data, plain(200)) is None


@pytest.mark.parametrize("name", ["lda", "naive bayes", "regularised qda"])
def test_a_column_constant_at_some_nodes_agrees_or_is_declined(name):
    data = problem()
    data.X[:, 1] = 0.25
    apart = plain(200)[0].test
    data.X[apart, 1] += np.random.default_rng(0).normal(size=len(apart))
    assert_agrees(LEARNERS[name], data, plain(200), "predict_proba", must_try=False)


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("name", LEARNERS)
def test_nearly_collinear_columns_agree_or_are_declined(name, apart):
    data = problem()
    rng = np.random.default_rng(1)
    data.X[:, 3] = data.X[:, :3].sum(axis=1) + apart * rng.normal(size=200)
    if name == "qda" and apart < 1e-3:
        assert by_shortcut(LEARNERS[name], data, plain(200)) is None
    else:
        assert_agrees(LEARNERS[name], data, plain(200), "predict_proba", must_try=False)


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize("name", LEARNERS)
def test_agrees_or_declines_far_from_the_origin(name, offset):
    data = problem()
    far = TrainingData(data.X + offset, data.y, None, 3)
    assert_agrees(LEARNERS[name], far, plain(200), "predict_proba", must_try=offset < 1e6)
    lost = TrainingData(data.X + 1e9, data.y, None, 3)
    assert by_shortcut(LEARNERS[name], lost, plain(200), "predict_proba") is None


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", LEARNERS)
def test_data_frames_keep_their_names(kind, name):
    data = problem()
    frame = kind(dict(zip("abcd", data.X.T, strict=True)))
    framed = TrainingData(frame, data.y, None, 3)
    assert_agrees(LEARNERS[name], framed, plain(200), "predict_proba")
    fits = by_shortcut(LEARNERS[name], framed, plain(200))
    assert list(fits[0].model.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    "learner",
    [
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]),
        QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]),
        GaussianNB(priors=[0.2, 0.3, 0.5]),
        make_pipeline(StandardScaler(), GaussianNB()),
    ],
)
def test_unusual_learners_are_left_to_the_general_way(learner):
    assert by_shortcut(learner, problem(), plain(200)) is None


@pytest.mark.parametrize("spoil", [np.nan, np.inf])
def test_missing_numbers_are_left_to_the_general_way(spoil):
    data = problem()
    data.X[7, 2] = spoil
    assert by_shortcut(GaussianNB(), data, plain(200)) is None


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_learned_depends_on_no_class_outside_the_node_to_the_last_bit(name):
    data, tasks = problem(), plain(200)
    before = by_shortcut(LEARNERS[name], data, tasks, "predict_proba")
    for number, task in enumerate(tasks):
        y = data.y.copy()
        y[task.test] = (y[task.test] + 1) % 3
        changed = TrainingData(data.X, y, None, 3)
        after = by_shortcut(LEARNERS[name], changed, tasks, "predict_proba")[number]
        np.testing.assert_array_equal(before[number].predictions, after.predictions)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(30, 80),
    p=st.integers(2, 6),
    n_classes=st.integers(2, 4),
    name=st.sampled_from(["lda", "naive bayes", "smooth naive bayes", "regularised qda"]),
    digits=st.sampled_from([1, 2, 15]),
    seed=st.integers(0, 2**16),
)
def test_agrees_or_declines_for_random_problems(n, p, n_classes, name, digits, seed):
    data = problem(n, p, n_classes, seed=seed)
    rounded = TrainingData(np.round(data.X, digits), data.y, None, n_classes)
    if np.unique(data.y, return_counts=True)[1].min() < 2 * p + 8:
        return
    assert_agrees(LEARNERS[name], rounded, plain(n, 4), "predict_proba", must_try=False)


def scatter(x, w):
    mean = w @ x / w.sum()
    return (x - mean).T @ (w[:, None] * (x - mean))


@pytest.mark.parametrize("kind", ["each", "pooled", "diagonal"])
@pytest.mark.parametrize("deal", LATTICES)
def test_moments_of_a_node_are_those_of_its_rows(deal, kind, monkeypatch):
    monkeypatch.setattr(matrix_module, "BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(150, 3)) + 5, rng.integers(0, 3, 150), rng.exponential(size=150)
    y[:20] = 3
    tasks = LATTICES[deal](150)
    atoms = atoms_of([task.train for task in tasks], 150)
    cells = cell_moments(matrix_of(X), TrainingData(X, y, weight, 4), atoms, kind)
    for task, members in zip(tasks, atoms.members, strict=True):
        ours = class_moments(cells, members, kind)
        x, c, w = X[task.train], y[task.train], weight[task.train]
        np.testing.assert_array_equal(ours.classes, np.unique(c))
        each = np.array([scatter(x[c == k], w[c == k]) for k in ours.classes])
        expected = {
            "each": each,
            "pooled": each.sum(axis=0),
            "diagonal": np.diagonal(each, axis1=1, axis2=2),
        }[kind]
        np.testing.assert_allclose(ours.scatter, expected, rtol=1e-11, atol=1e-11)
        means = [np.average(x[c == k], axis=0, weights=w[c == k]) for k in ours.classes]
        np.testing.assert_allclose(ours.mean, means, rtol=1e-12)
        np.testing.assert_allclose(ours.variance, x.var(axis=0), rtol=1e-11)
        np.testing.assert_array_equal(ours.count, np.unique(c, return_counts=True)[1])


def test_a_class_without_weight_has_no_moments():
    data = TrainingData(np.eye(4), np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 1.0, 1.0]), 2)
    atoms = atoms_of([np.arange(4)], 4)
    cells = cell_moments(matrix_of(data.X), data, atoms, "diagonal")
    assert class_moments(cells, atoms.members[0], "diagonal") is None
