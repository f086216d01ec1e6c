import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from foldwise.errors import InvalidDataError
from foldwise.learners.one_learner import (
    LearnerInput,
    ask,
    fit_learner,
    input_for,
    is_frame,
    seeded,
    weight_keyword,
)


def test_trees_get_single_precision_columns_and_skip_their_checks() -> None:
    table = input_for(np.arange(6.0).reshape(3, 2), [DecisionTreeRegressor()])
    assert table.trusted
    assert table.X.dtype == np.float32
    assert table.X.flags.f_contiguous


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_what_single_precision_cannot_hold_is_left_to_the_learner(bad) -> None:
    with np.errstate(over="ignore"):
        table = input_for(np.array([[1.0], [bad]]), [DecisionTreeRegressor()])
    assert not table.trusted


def test_other_learners_get_what_was_given() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    table = input_for(frame, [Ridge()])
    assert table.X is frame
    assert is_frame(frame)
    assert not is_frame(np.zeros((2, 2)))


def test_rows_and_columns_of_a_frame_stay_a_frame() -> None:
    table = LearnerInput(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), trusted=False)
    part = table.rows(np.array([0, 2])).columns(np.array([1]))
    assert part.X["b"].tolist() == [4, 6]
    assert table.columns(None) is table


class WithOwnFit(Pipeline):
    """A pipeline that knows what to do with weights itself."""

    def fit(self, X, y, sample_weight=None):
        return self


def test_weights_find_their_way() -> None:
    assert weight_keyword(Ridge()) == "sample_weight"
    assert weight_keyword(KNeighborsRegressor()) is None
    nested = make_pipeline(StandardScaler(), make_pipeline(Ridge()))
    assert weight_keyword(nested) == "pipeline__ridge__sample_weight"
    assert weight_keyword(make_pipeline(StandardScaler(), "passthrough")) is None
    assert weight_keyword(GridSearchCV(Ridge(), {"alpha": [1.0]})) == "sample_weight"
    assert weight_keyword(WithOwnFit([("ridge", Ridge())])) == "sample_weight"


def test_weighting_a_learner_without_weights_is_an_error() -> None:
    table = LearnerInput(np.zeros((2, 1)), trusted=False)
    with pytest.raises(TypeError, match="KNeighborsRegressor takes no sample_weight"):
        fit_learner(KNeighborsRegressor(), table, np.zeros(2), np.ones(2))


def test_unset_seeds_are_filled_and_set_ones_stay() -> None:
    assert (
        seeded(RandomForestRegressor(), 1).random_state
        == seeded(RandomForestRegressor(), 1).random_state
    )
    assert seeded(RandomForestRegressor(), 1).random_state is not None
    assert seeded(RandomForestRegressor(random_state=7), 1).random_state == 7
    pair = seeded(make_pipeline(RandomForestRegressor()), 1)
    assert pair[-1].random_state is not None
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=KFold(3, shuffle=True))
    assert seeded(search, 1).cv.random_state == 1
    assert search.cv.random_state is None


def test_trusted_answers_are_the_learners_answers() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)).astype(np.float32), rng.normal(size=30)
    table = input_for(X, [DecisionTreeRegressor()])
    tree = fit_learner(DecisionTreeRegressor(random_state=0), table, y, None)
    plain = DecisionTreeRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(ask(tree, table), plain.predict(X))


@pytest.mark.parametrize("forged", [False, True])
@pytest.mark.parametrize("method", ["predict", "apply"])
def test_a_tree_of_more_columns_never_reads_unchecked_rows(forged, method) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    tree = DecisionTreeRegressor(random_state=0).fit(X, X[:, 2])
    if forged:
        del tree.n_features_in_
    narrow = input_for(X[:, :1], [tree])
    assert narrow.trusted
    with pytest.raises(InvalidDataError, match=r"columns that it was fitted on, .*; got 1\."):
        ask(tree, narrow, method)


def test_with_metadata_routing_a_pipeline_finds_the_way_itself() -> None:
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), Ridge().set_fit_request(sample_weight=True))
        pipeline[0].set_fit_request(sample_weight=False)
        assert weight_keyword(pipeline) == "sample_weight"
        table = LearnerInput(np.arange(6.0).reshape(3, 2), trusted=False)
        assert fit_learner(pipeline, table, np.arange(3.0), np.ones(3)) is pipeline
