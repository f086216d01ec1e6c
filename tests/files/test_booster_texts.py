import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lightgbm import LGBMClassifier, LGBMRegressor
from xgboost import XGBClassifier, XGBRegressor

from foldwise.errors import InvalidDataError
from foldwise.files.boosters import booster_content, understood
from foldwise.files.lightgbm_text import is_walkable
from tests.files.conftest import X, Y

CODES = np.digitize(Y, [-0.5, 0.5])
SMALL = {"verbose": -1, "min_child_samples": 2, "n_estimators": 10}
FRAME = pd.DataFrame(X[:, :2]).assign(kind=pd.Categorical(np.arange(60) % 5))


def light() -> bytes:
    return booster_content(LGBMRegressor(**SMALL).fit(X, Y).booster_)[1]


def xgboost() -> dict:
    return json.loads(booster_content(XGBRegressor(n_estimators=3).fit(X, Y).get_booster())[1])


@pytest.mark.parametrize(
    ("model", "rows", "y"),
    [
        (LGBMRegressor(**SMALL), X, Y),
        (LGBMRegressor(**SMALL, linear_tree=True), X, Y),
        (LGBMRegressor(**SMALL, boosting_type="dart"), X, Y),
        (LGBMRegressor(**SMALL, num_leaves=2), X, np.zeros(60)),
        (LGBMClassifier(**SMALL), X, CODES),
        (LGBMRegressor(**SMALL, min_data_per_group=1, cat_smooth=0.1), FRAME, Y),
        (XGBRegressor(n_estimators=5, max_depth=8, gamma=0.5), X, Y),
        (XGBRegressor(n_estimators=5, booster="dart"), X, Y),
        (XGBRegressor(n_estimators=5, booster="gblinear"), X, Y),
        (XGBRegressor(n_estimators=5, enable_categorical=True), FRAME, Y),
        (XGBRegressor(n_estimators=3, num_parallel_tree=3, subsample=0.5), X, Y),
        (XGBClassifier(n_estimators=5), X, CODES),
        (XGBRegressor(n_estimators=5), X, np.column_stack([Y, -Y])),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_boosters_as_they_are_made_are_good(model, rows, y) -> None:
    model.fit(rows, y)
    booster = model.booster_ if "LGBM" in type(model).__name__ else model.get_booster()
    ending, content, _ = booster_content(booster)
    understood(content, ending)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("left_child=", "left_child=0 "),
        ("left_child=1 ", "left_child=0 "),
        ("right_child=", "right_child=9"),
        ("split_feature=", "split_feature=9"),
        ("num_leaves=", "num_leaves=9"),
        ("leaf_value=", "leaf_value=1 "),
        ("max_feature_idx=3", "max_feature_idx=0"),
        ("decision_type=2", "decision_type=3"),
        ("end of trees", "no end of trees"),
        ("num_cat=0", "num_cat=7"),
        ("num_cat=0", "nux_cat=0"),
        ("leaf_weight=", "leaf_weight=1 "),
        ("internal_count=", "internal_count=x "),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=5"),
    ],
)
def test_a_text_of_lightgbm_that_misleads_is_refused(old: str, new: str) -> None:
    text = light().decode()
    assert old in text
    changed = text.replace(old, new, 1)
    if not old.startswith(("tree_sizes", "max_feature", "num_tree", "end")):
        # An enemy keeps the sizes right.
        first = text.split("tree_sizes=")[1].split()[0]
        size = int(first) + len(new) - len(old)
        changed = changed.replace(f"tree_sizes={first}", f"tree_sizes={size}", 1)
    with pytest.raises(InvalidDataError, match="load: file must hold boosters"):
        understood(changed.encode(), "txt")


@pytest.mark.parametrize(
    ("field", "value"),
    [("left_children", 0), ("right_children", 10**6), ("split_indices", 4), ("left_children", -1),
     ("split_type", 1)],
)  # fmt: skip
def test_a_text_of_xgboost_that_misleads_is_refused(field: str, value: int) -> None:
    model = xgboost()
    model["learner"]["gradient_booster"]["model"]["trees"][1][field][0] = value
    with pytest.raises(InvalidDataError) as error:
        understood(json.dumps(model).encode(), "json")
    assert str(error.value).startswith(
        "load: file must hold boosters that can be read; got 'json' (ValueError: "
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model["trees"][0]["tree_param"].update(size_leaf_vector="9"),
        lambda model: model["trees"][0]["base_weights"].pop(),
        lambda model: model["trees"].pop(),
        lambda model: model.update(tree_info=[0, 0, 7]),
        lambda model: model.update(iteration_indptr=[0, 9]),
        lambda model: model["trees"][0].update(categories_nodes=[0]),
    ],
)
def test_a_model_of_xgboost_that_does_not_add_up_is_refused(change) -> None:
    model = xgboost()
    change(model["learner"]["gradient_booster"]["model"])
    with pytest.raises(InvalidDataError, match="load: file must hold boosters"):
        understood(json.dumps(model).encode(), "json")


def test_a_tree_id_of_xgboost_that_was_changed_is_refused() -> None:
    model = xgboost()
    model["learner"]["gradient_booster"]["model"]["trees"][1]["id"] = 10**6
    with pytest.raises(InvalidDataError, match="a tree out of order"):
        understood(json.dumps(model).encode(), "json")


def test_a_lone_leaf_that_says_it_is_linear_is_refused() -> None:
    lone = LGBMRegressor(n_estimators=1, verbose=-1).fit(X, np.zeros(60)).booster_
    text = booster_content(lone)[1].decode()
    assert "num_leaves=1\n" in text
    with pytest.raises(InvalidDataError, match="hold boosters that can be read"):
        understood(text.replace("is_linear=0", "is_linear=1").encode(), "txt")


def test_an_objective_for_more_classes_than_trees_is_refused() -> None:
    text = booster_content(LGBMClassifier(**SMALL).fit(X, CODES).booster_)[1].decode()
    assert "num_class:3" in text
    with pytest.raises(InvalidDataError, match="an objective for other classes"):
        understood(text.replace("num_class:3", "num_class:1000000").encode(), "txt")


def test_fields_nobody_needs_do_not_reach_the_library() -> None:
    text = light().decode()
    extra = text + "parameters:\n[num_class: 1000000]\nend of parameters\n"
    assert understood(extra.encode(), "txt").decode() == text
    model = xgboost()
    model["learner"]["evil"] = model["evil"] = 10**9
    assert b"evil" not in understood(json.dumps(model).encode(), "json")


@pytest.mark.parametrize(("content", "ending"), [(b"\xff", "txt"), (b"{}", "json"), (b"", "json")])
def test_what_is_no_booster_is_refused(content: bytes, ending: str) -> None:
    with pytest.raises(InvalidDataError, match="hold boosters that can be read"):
        understood(content, ending)


@pytest.mark.parametrize("left", [[1, 1], [1, 0], [2, -1], [1, 5]])
def test_loops_and_children_that_are_not_there_are_not_walkable(left: list[int]) -> None:
    assert not is_walkable(np.array(left), np.array([-1, -1]), 2)


@given(st.data())
def test_what_is_called_walkable_ends(data) -> None:
    n = data.draw(st.integers(1, 6))
    child = st.lists(st.integers(-1, n), min_size=n, max_size=n)
    left, right = np.array(data.draw(child)), np.array(data.draw(child))
    if is_walkable(left, right, n):
        node, steps = 0, 0
        while node >= 0:
            node = int((left if data.draw(st.booleans()) else right)[node])
            steps += 1
            assert steps <= n
