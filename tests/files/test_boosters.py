from pathlib import Path

import numpy as np
import pytest
from lightgbm import LGBMRegressor
from numpy.testing import assert_array_equal
from xgboost import XGBRegressor

from foldwise import StackingRegressor, load, save
from foldwise.errors import InvalidDataError, UnsupportedError
from foldwise.files.boosters import booster_content, booster_from, is_booster
from tests.files.conftest import X, Y
from tests.files.hostile import members_of

LIGHT = LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1, min_child_samples=5).fit(X, Y)
XGB = XGBRegressor(n_estimators=20, max_depth=4).fit(X, Y)


@pytest.mark.parametrize(("model", "ending"), [(LIGHT, "txt"), (XGB, "json")])
def test_boosters_are_text_and_predict_the_same_bits(model, ending, tmp_path: Path) -> None:
    save(model, tmp_path / "model")
    content = members_of(tmp_path / "model")[f"boosters/0.{ending}"]
    assert content.startswith(b"tree\n" if ending == "txt" else b"{")
    rows = np.random.default_rng(1).normal(size=(500, 4))
    assert_array_equal(load(tmp_path / "model").predict(rows), model.predict(rows))


def test_early_stopping_and_its_best_iteration_come_back(tmp_path: Path) -> None:
    stopped = XGBRegressor(n_estimators=200, early_stopping_rounds=2)
    stopped.fit(X[:40], Y[:40], eval_set=[(X[40:], Y[40:])], verbose=False)
    save(stopped, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.best_iteration == stopped.best_iteration
    assert_array_equal(again.predict(X), stopped.predict(X))


def test_trees_with_vectors_in_their_leaves_are_not_saved(tmp_path: Path) -> None:
    model = XGBRegressor(n_estimators=2, multi_strategy="multi_output_tree", tree_method="hist")
    with pytest.raises(UnsupportedError) as error:
        save(model.fit(X, np.column_stack([Y, -Y])), tmp_path / "model")
    assert str(error.value) == (
        "save: model must hold boosters of plain trees or of linear models; got a booster of "
        "another kind from xgboost.core. Use another booster, or another setting of this one."
    )


def test_only_boosters_are_boosters() -> None:
    assert is_booster(LIGHT.booster_)
    assert not is_booster(LIGHT)


@pytest.mark.parametrize("model", [LIGHT, XGB])
def test_what_cannot_be_read_is_refused(model) -> None:
    booster = model.booster_ if model is LIGHT else model.get_booster()
    ending, _, state = booster_content(booster)
    with pytest.raises(InvalidDataError, match="hold boosters that can be read; got 'b/0"):
        booster_from(f"b/0.{ending}", b"{}nothing", state)


def test_catboost_comes_back_and_predicts_the_same(tmp_path) -> None:
    catboost = pytest.importorskip("catboost")
    quiet = {"iterations": 5, "verbose": False, "allow_writing_files": False}
    learners = [("cat", catboost.CatBoostRegressor(**quiet))]
    stack = StackingRegressor(learners, cv=3, random_state=0).fit(X, Y)
    save(stack, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), stack.predict(X))
