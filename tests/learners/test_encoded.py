"""Rows that are encoded as they are read, against rows that are copied and encoded whole."""

import threading
import tracemalloc
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import NewtonBoostingClassifier, NewtonBoostingRegressor
from foldwise.auto.portfolio import smooth
from foldwise.auto.tables import TableEncoder, cleaning, column_kinds
from foldwise.auto.tables import encoder as encoder_module
from foldwise.learners import NodeTask, TrainingData, encoded, general, prepare
from foldwise.learners.encoded import EncodedRows, numbers_in_rows
from foldwise.learners.general import Assignment, fit_at_node, whole_for
from foldwise.learners.rows import Matrix, matrix_of
from foldwise.learners.watched import fit_watched

N = 700
TEST = np.arange(1, N, 3)
TASK = NodeTask(np.setdiff1d(np.arange(N), TEST), TEST, 7)
WATCHED = NodeTask(TASK.train, TEST, 7, watched=(TEST[::4], TEST[1::4]))
NATIVE = {"numbers": "keep", "categories": "keep"}
SQUASH = {"numbers": "impute", "categories": "onehot", "scale": "squash"}
BOOSTER = NewtonBoostingRegressor(n_estimators=9, n_jobs=1)
STOPPING = NewtonBoostingRegressor(n_estimators=30, n_jobs=1, early_stopping=True)
LINEAR = {"lightgbm_params": {"linear_tree": True, "bin_construct_sample_cnt": 50}}


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    X = random.lognormal(size=(N, 6))
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 1] = random.random(N) < 0.5
    X[5:9, 3], X[7, 4] = np.inf, 1e33
    X[:, 5] = 1.0
    return pd.DataFrame(X, columns=list("abcdef"), copy=False)


FRAME = table()
KINDS = column_kinds(FRAME)
Y = np.nan_to_num(FRAME["a"].to_numpy()) + np.random.default_rng(1).normal(size=N)


def piped(learner: Any, how: dict[str, Any], *between: Any) -> Pipeline:
    return make_pipeline(TableEncoder(KINDS, **how), *between, learner)


@pytest.fixture(autouse=True)
def few_cells_are_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(general, "BLOCK_CELLS", 500)


@pytest.fixture
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (encoded, prepare):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(encoded, "PART_BYTES", 3000)


def fits(
    learner: Any, task: NodeTask = TASK, y: Any = Y, method: str = "predict", frame: Any = FRAME
) -> list[Any]:
    n_classes = 2 if method == "predict_proba" else None
    data = TrainingData(frame, y, np.linspace(1, 2, N), n_classes)
    if task.watched:
        return fit_watched(Assignment(learner, method, 7), data, task)
    return fit_at_node([Assignment(learner, method, 7)], data, task)


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.predictions, expected.predictions)
    assert found.rounds == expected.rounds
    assert joblib.hash(found.model[0]) == joblib.hash(expected.model[0])
    assert_boosters_are_the_same(found.model[-1], expected.model[-1])


def assert_boosters_are_the_same(found: Any, expected: Any) -> None:
    if hasattr(found, "booster_"):
        assert found.booster_.model_to_string() == expected.booster_.model_to_string()
        assert found.n_features_in_ == expected.n_features_in_


@pytest.mark.parametrize(
    ("learner", "task"),
    [
        (piped(BOOSTER, NATIVE), TASK),
        (piped(NewtonBoostingRegressor(n_estimators=5, n_jobs=1, **LINEAR), SQUASH), TASK),
        (piped(Ridge(), SQUASH), TASK),
        (piped(Ridge(), SQUASH, StandardScaler()), TASK),
        (piped(STOPPING, NATIVE), TASK),
        (piped(STOPPING, SQUASH), WATCHED),
        (piped(STOPPING, SQUASH, StandardScaler()), WATCHED),
    ],
)
def test_rows_encoded_as_they_are_read_make_the_same_models(
    learner: Any, task: NodeTask, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fits(learner, task)
    request.getfixturevalue("few_rows_are_many")
    taken, take = [], general.take_rows

    def watched(X: Any, rows: Any) -> Any:
        taken.append(X is FRAME and rows is not None and len(rows) > 100)
        return take(X, rows)

    monkeypatch.setattr(general, "take_rows", watched)
    for one, other in zip(fits(learner, task), expected, strict=True):
        assert_same(one, other)
    assert not any(taken)


@pytest.mark.usefixtures("few_rows_are_many")
def test_models_that_are_not_kept_answer_the_same_in_parts() -> None:
    kept = fits(piped(STOPPING, NATIVE), WATCHED)
    left = fits(piped(STOPPING, NATIVE), replace(WATCHED, keep_model=False))
    for one, other in zip(left, kept, strict=True):
        assert one.model is None
        np.testing.assert_allclose(one.predictions, other.predictions, rtol=1e-12)


def test_classes_and_xgboost_are_the_same(request: pytest.FixtureRequest) -> None:
    xgboost = pytest.importorskip("xgboost")
    y = (Y > 1).astype(int)
    few = {"n_estimators": 5, "n_jobs": 1}
    classes = piped(NewtonBoostingClassifier(**few), NATIVE), TASK, y, "predict_proba"
    single = piped(xgboost.XGBRegressor(**few), {"categories": "ordinal"}), TASK
    stopping = piped(xgboost.XGBRegressor(**few, early_stopping_rounds=3), NATIVE), WATCHED
    expected = [fits(*each) for each in (classes, single, stopping)]
    request.getfixturevalue("few_rows_are_many")
    for each, before in zip((classes, single, stopping), expected, strict=True):
        for one, other in zip(fits(*each), before, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("penalties", [(0.1, 10.0), (1e-9, 2e-9)])
def test_ridge_reads_encoded_rows_in_blocks(
    penalties: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = piped(smooth.RidgeInBlocks(penalties), SQUASH)
    plain = fits(piped(RidgeCV(penalties), SQUASH))
    monkeypatch.setattr(smooth, "BLOCK_BYTES", 0)
    copied = fits(learner)
    request.getfixturevalue("few_rows_are_many")
    monkeypatch.setattr(EncodedRows, "whole", lambda rows: rows.take(slice(None)))
    made = fits(learner)
    np.testing.assert_array_equal(made[0].model[-1].coef_, copied[0].model[-1].coef_)
    # Some kernels of BLAS add up the last rows of a block in another order than those before.
    np.testing.assert_allclose(made[0].predictions, copied[0].predictions, rtol=1e-14)
    assert joblib.hash(made[0].model[0]) == joblib.hash(copied[0].model[0])
    assert made[0].model[-1].n_features_in_ == plain[0].model[-1].n_features_in_
    assert made[0].model[-1].alpha_ == plain[0].model[-1].alpha_
    np.testing.assert_allclose(made[0].predictions, plain[0].predictions, rtol=1e-8)


@pytest.mark.usefixtures("few_rows_are_many")
def test_ridge_makes_no_copy_of_encoded_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made, whole = [], EncodedRows.whole

    def noted(self: EncodedRows, *how: Any) -> Any:
        made.append(len(self.rows))
        return whole(self, *how)

    monkeypatch.setattr(EncodedRows, "whole", noted)
    fits(piped(smooth.RidgeInBlocks((0.1, 10.0)), SQUASH))
    assert made
    assert max(made) < len(TASK.train) / 2


@pytest.mark.parametrize("cells", [0, 10**9])
def test_after_catboost_a_process_is_worn_by_many_cells(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = general.NodeInput(TrainingData(FRAME, Y), TASK, alone=True)
    monkeypatch.setattr(general, "MANY_CELLS", cells)
    monkeypatch.setattr(general, "worn", worn := threading.Event())
    with node.taken_over(Ridge()):
        assert not worn.is_set()
    with node.taken_over(type("Booster", (), {"__module__": "catboost.core"})()):
        pass
    assert worn.is_set() == (cells == 0)


@pytest.mark.parametrize("stops", [False, True])
def test_catboost_is_the_same_of_columns_in_single_precision(
    stops: bool, request: pytest.FixtureRequest
) -> None:
    catboost = pytest.importorskip("catboost")
    few = {"iterations": 5, "thread_count": 1, "allow_writing_files": False}
    stopping = {"early_stopping_rounds": 3} if stops else {}
    learner = piped(catboost.CatBoostRegressor(**few, **stopping), {"categories": "ordinal"})
    task = WATCHED if stops else TASK
    expected = fits(learner, task)
    request.getfixturevalue("few_rows_are_many")
    for one, other in zip(fits(learner, task), expected, strict=True):
        assert_same(one, other)


def test_encoded_rows_are_laid_out_as_boosters_read_them() -> None:
    rows = EncodedRows(matrix_of(FRAME), TASK.train, lambda block: block)
    package = {"catboost": ("float32", False), "xgboost": ("float32", True), "x": ("float64", True)}
    for name, (dtype, by_row) in package.items():
        made = whole_for(type("Booster", (), {"__module__": f"{name}.core"})(), rows)
        assert (made.dtype, made.flags.c_contiguous) == (dtype, by_row)
        np.testing.assert_allclose(made, FRAME.to_numpy()[TASK.train], rtol=1e-6)


@pytest.mark.usefixtures("few_rows_are_many")
@pytest.mark.parametrize("stops", [False, True])
def test_xgboost_frees_the_rows_it_has_read(stops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    xgboost = pytest.importorskip("xgboost")
    made, held, whole = [], [], EncodedRows.whole

    def noted(self: EncodedRows, *dtype: Any) -> Any:
        made.append(whole(self, *dtype))
        return made[-1]

    class Look(xgboost.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            held.append(sum(rows.nbytes for rows in made))
            return False

    monkeypatch.setattr(EncodedRows, "whole", noted)
    few = {"n_estimators": 3, "n_jobs": 1, "early_stopping_rounds": 2 if stops else None}
    learner = piped(xgboost.XGBRegressor(**few, callbacks=[Look()]), NATIVE)
    fitted = fits(learner, WATCHED if stops else TASK)
    assert held == [0, 0, 0]
    assert len(made) > len(fitted)
    assert [type(each) for each in fitted[0].model[-1].callbacks] == [Look]


def mixed(frame: pd.DataFrame) -> pd.DataFrame:
    whole = pd.Series(np.arange(N) % 11, name="g")
    return pd.concat([frame, whole, whole > 4], axis=1).set_axis(list("abcdefgh"), axis=1)


@pytest.mark.parametrize("kind", ["by column", "mixed", "array", "one column"])
def test_tables_of_every_layout_are_read_in_parts(
    kind: str, request: pytest.FixtureRequest
) -> None:
    frame: Any = FRAME if kind != "mixed" else mixed(FRAME)
    frame = FRAME[["a"]] if kind == "one column" else frame
    kinds = column_kinds(frame)
    if kind == "by column":
        frame = pd.DataFrame({name: FRAME[name].to_numpy() for name in FRAME}).copy()
        assert not frame.to_numpy().flags.c_contiguous
    if kind == "array":
        frame = np.asfortranarray(FRAME.to_numpy())
        kinds = column_kinds(FRAME.set_axis([f"x{j}" for j in range(6)], axis=1))
    learners = [
        make_pipeline(TableEncoder(kinds, **NATIVE), STOPPING),
        make_pipeline(TableEncoder(kinds, **SQUASH), Ridge()),
    ]
    tasks = [WATCHED, TASK]
    expected = [
        fits(learner, task, frame=frame) for learner, task in zip(learners, tasks, strict=True)
    ]
    request.getfixturevalue("few_rows_are_many")
    assert numbers_in_rows(frame, TASK.train) is not None
    for learner, task, before in zip(learners, tasks, expected, strict=True):
        for one, other in zip(fits(learner, task, frame=frame), before, strict=True):
            assert_same(one, other)


@pytest.mark.usefixtures("few_rows_are_many")
def test_what_is_not_numbers_or_looks_at_all_rows_is_given_whole() -> None:
    values = numbers_in_rows(FRAME, TASK.train)
    assert values is not None
    assert np.shares_memory(values.table, FRAME.to_numpy())
    assert numbers_in_rows(FRAME.astype("float32"), TASK.train) is None
    assert numbers_in_rows(FRAME.assign(a="x"), TASK.train) is None
    assert numbers_in_rows(csr_array(values.table), TASK.train) is None
    assert numbers_in_rows(values.table, TASK.train[:3]) is None
    words = column_kinds(FRAME.assign(a=["x", "y"] * (N // 2)))
    named = TableEncoder(KINDS).set_output(transform="pandas")
    for encoder in (TableEncoder(words), TableEncoder(KINDS, scale="standard"), named):
        assert encoder._fit_in_parts(FRAME, values, TASK.train) is None
    assert TableEncoder()._fit_in_parts(FRAME, values, TASK.train) is None
    assert TableEncoder(KINDS)._fit_in_parts(FRAME, values, TASK.train) is not None


class OwnBooster(NewtonBoostingRegressor):
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        assert isinstance(X, np.ndarray)
        return super().fit(X, y, sample_weight, groups)


@pytest.mark.usefixtures("few_rows_are_many")
def test_boosters_of_the_users_and_categories_by_number_are_given_an_array() -> None:
    assert fits(piped(OwnBooster(n_estimators=3, n_jobs=1), NATIVE))[0].predictions.size
    told = NewtonBoostingRegressor(n_estimators=3, n_jobs=1, categorical_features=[1])
    (found,) = fits(piped(told, NATIVE))
    assert list(found.model[-1].categories_) == [1]


def test_encoded_rows_are_the_only_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cleaning, encoder_module):
        monkeypatch.setattr(module, "BLOCK_CELLS", 400_000)
    X = np.random.default_rng(0).normal(size=(150_000, 40))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(40)], copy=False)
    data, rows = TrainingData(frame, X[:, 0]), np.arange(120_000)
    encoder = TableEncoder(column_kinds(frame.iloc[:2000]), **SQUASH)
    learner = make_pipeline(encoder, Ridge())
    node = general.NodeInput(data, NodeTask(rows, rows[:1]), alone=True)
    tracemalloc.start()
    try:
        node.begin(Assignment(learner, "predict"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * X[rows].nbytes


def test_rows_are_encoded_alone() -> None:
    X = np.arange(12.0).reshape(6, 2)
    rows = EncodedRows(Matrix(X, X.shape), np.array([4, 1]), lambda taken: taken[:, 1:] + 1)
    assert rows.shape == (2, 1)
    assert rows.whole().tolist() == [[10.0], [4.0]]
    assert rows.of(np.array([0])).whole(np.float32).dtype == np.float32
    assert X[4].tolist() == [8.0, 9.0]
