from typing import Any

import lightgbm
import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.linear_model import Ridge

from foldwise import NewtonBoostingRegressor
from foldwise.learners import NodeTask, TrainingData, fit_at_node, general, in_parts
from foldwise.learners.general import Assignment
from foldwise.learners.in_parts import RowsInParts, stand_in

FEW = {"n_estimators": 5, "verbosity": -1, "n_jobs": 1}


@pytest.fixture
def data() -> TrainingData:
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 5))
    X[:, 1] = np.round(X[:, 1])
    X[X[:, 2] > 1, 2] = np.nan
    X[X[:, 3] > 0, 3] = 0.0
    y = np.nan_to_num(X[:, 2]) + X[:, 1] * X[:, 3] + random.normal(size=900)
    return TrainingData(X, y, random.integers(1, 4, 900).astype(float))


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_parts, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(RowsInParts, "batch_size", 64)


TASK = NodeTask(np.arange(0, 900, 3), np.arange(1, 900, 3), 7)


def fitted(learner: Any, data: TrainingData) -> Any:
    (fit,) = fit_at_node([Assignment(learner, "predict", 7)], data, TASK)
    return fit


@pytest.mark.parametrize(
    "learner",
    [
        LGBMRegressor(**FEW),
        LGBMRegressor(**FEW, linear_tree=True, subsample=0.5, subsample_freq=1),
        LGBMClassifier(**FEW, class_weight="balanced"),
    ],
)
def test_rows_in_parts_make_the_trees_that_a_copy_makes(
    learner: Any, data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(learner, LGBMClassifier):
        data = TrainingData(data.X, (data.y > 0).astype(int), data.sample_weight, 2)
    by_copy, whole, take = fitted(learner, data), [], general.take_rows

    def taken(X: Any, rows: Any) -> Any:
        whole.append(X.ndim > 1 and rows is TASK.train)
        return take(X, rows)

    samples: list[Any] = []
    make = lightgbm.Dataset._init_from_sample

    def made(self: Any, values: list[Any], places: list[Any], *numbers: int) -> Any:
        samples.append((values, places))
        # The first column has no zero, the fourth has some.
        assert len(places[0]) == 300
        assert np.shares_memory(places[0], places[4])
        assert len(places[3]) == len(values[3]) < 300
        return make(self, values, places, *numbers)

    monkeypatch.setattr(lightgbm.Dataset, "_init_from_sample", made)
    monkeypatch.setattr(general, "MAPPED", {1})
    monkeypatch.setattr(general, "take_rows", taken)
    found = fitted(learner, data)
    assert not any(whole)
    assert samples == [([], [])]
    np.testing.assert_array_equal(found.predictions, by_copy.predictions)
    text = found.model.booster_.model_to_string()
    assert text == by_copy.model.booster_.model_to_string()


def test_rows_in_parts_are_binned_by_the_rows_that_the_seed_draws(
    data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.X[:, 4] = np.arange(900) % 90 == 0
    learner = LGBMRegressor(**FEW, subsample_for_bin=50, min_child_samples=1)
    by_copy = fitted(learner, data).model.booster_.model_to_string()
    monkeypatch.setattr(general, "MAPPED", {1})
    assert fitted(learner, data).model.booster_.model_to_string() == by_copy


def test_only_what_would_be_a_large_copy_is_read_in_parts(data: TrainingData) -> None:
    rows = TASK.train
    assert stand_in(LGBMRegressor(), data.X, rows).strides == (0, 0)
    assert stand_in(LGBMRegressor(early_stopping_round=3), data.X, rows) is None
    assert stand_in(LGBMRegressor(), data.X.astype("float32"), rows) is None
    assert stand_in(LGBMRegressor(), np.asfortranarray(data.X), rows) is None
    assert stand_in(LGBMRegressor(), data.X, rows[:3]) is None
    assert stand_in(Ridge(), data.X, rows) is None
    assert not in_parts._parts


def test_learners_that_stop_early_are_silent_after_rows_were_read_in_parts(
    data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = LGBMRegressor(**FEW, early_stopping_round=3)
    with monkeypatch.context() as patched:
        patched.setattr(lightgbm.sklearn, "Dataset", lightgbm.Dataset)
        before = fitted(learner, data).model.booster_.model_to_string()
    assert stand_in(LGBMRegressor(), data.X, TASK.train) is not None
    assert fitted(learner, data).model.booster_.model_to_string() == before


@pytest.mark.parametrize("sampled", [50, 10**5])
def test_rounds_are_found_on_rows_in_parts_as_on_a_copy(
    sampled: int, data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"lightgbm_params": {"bin_construct_sample_cnt": sampled}, "random_state": 3}
    model = NewtonBoostingRegressor(n_estimators=9, early_stopping=True, refit=None, **how)
    text = model.fit(data.X, data.y).booster_.model_to_string()
    monkeypatch.setattr(in_parts, "BLOCK_BYTES", 10**9)
    assert model.fit(data.X, data.y).booster_.model_to_string() == text
