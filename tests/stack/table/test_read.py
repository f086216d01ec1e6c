"""What a stacker reads: logits, votes, names, and columns that are passed through."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidParameterError
from foldwise.stack.table.read import (
    Features,
    as_logits,
    as_probabilities,
    clip_amount,
    column_names,
    compact,
)

N = 72


def mixed(kind: str) -> tuple[object, np.ndarray]:
    """A frame of numbers, words and categories, and a target that needs all of them."""
    rng = np.random.default_rng(0)
    size, colour, town = rng.normal(size=N), rng.choice(list("rgb"), N), rng.choice(["x", "y"], N)
    y = size + 2.0 * (colour == "r") + (town == "x") + 0.1 * rng.normal(size=N)
    if kind == "polars":
        frame = pl.DataFrame({"size": size, "colour": colour.tolist(), "town": town.tolist()})
        return frame.with_columns(pl.col("town").cast(pl.Categorical)), y
    frame = pd.DataFrame({"size": size, "colour": colour, "town": pd.Categorical(town)})
    return frame.set_index(np.arange(500, 500 + N)), y


def by_name() -> object:
    encode = make_column_transformer((OneHotEncoder(), ["colour", "town"]), remainder="passthrough")
    return make_pipeline(encode, Ridge(0.1))


def test_the_logit_of_two_classes_is_the_log_of_the_odds() -> None:
    share = np.array([[0.2], [0.9]])
    np.testing.assert_allclose(as_logits(share, 1e-6), np.log(share / (1 - share)))


def test_centred_logs_of_several_classes_give_the_probabilities_back() -> None:
    share = np.random.default_rng(0).dirichlet(np.ones(4), 5)
    logits = as_logits(share, 1e-9)
    np.testing.assert_allclose(logits.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(softmax(logits, axis=1), share, rtol=1e-12)


def test_certainties_are_clipped_the_less_the_more_rows_there_are() -> None:
    few, many = (as_logits(np.array([[0.0], [1.0]]), clip_amount(n)) for n in (10, 1000))
    assert np.isfinite(few).all()
    assert (np.abs(many) > np.abs(few)).all()


@pytest.mark.parametrize(
    ("kind", "values", "n_classes", "expected"),
    [
        ("decision", [[0.0], [100.0]], 2, [[0.5], [1.0]]),
        ("label", [[0.0], [1.0]], 2, [[0.0], [1.0]]),
        ("value", [[-0.3], [1.4]], 2, [[0.0], [1.0]]),
        ("value", [[1.2], [7.0]], 3, [[0, 1, 0], [0, 0, 1]]),
    ],
)
def test_any_response_can_be_read_as_probabilities(
    kind: str, values: list, n_classes: int, expected: list
) -> None:
    found = as_probabilities(np.array(values), kind, n_classes)
    np.testing.assert_allclose(found, expected)


def test_one_column_of_two_probabilities_is_kept() -> None:
    two = np.array([[0.3, 0.7]])
    assert compact(two, "probability").tolist() == [[0.7]]
    assert compact(two, "value").tolist() == [[0.3, 0.7]]


@pytest.mark.parametrize(
    ("width", "labels", "names"),
    [
        (1, ["no", "yes"], ["m"]),
        (3, ["a", "b", "c"], ["m__a", "m__b", "m__c"]),
        (2, None, ["m__0", "m__1"]),
    ],
)
def test_columns_are_named_by_learner_and_class(width: int, labels: object, names: list) -> None:
    assert column_names("m", width, labels) == names


def test_predictions_come_first_and_passed_columns_last() -> None:
    features = Features([np.ones((2, 1))], ("m",), ("value",), None, 2, np.full((2, 2), 7.0))
    assert features.matrix.tolist() == [[1, 7, 7], [1, 7, 7]]


def test_sparse_columns_stay_sparse() -> None:
    extra = sparse.csr_array(np.eye(2))
    matrix = Features([np.ones((2, 1))], ("m",), ("value",), None, 2, extra).matrix
    assert sparse.issparse(matrix)
    assert matrix.toarray().tolist() == [[1, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_mixed_columns_reach_the_top_with_names_and_types(kind: str) -> None:
    X, y = mixed(kind)
    learners = [("tree", DecisionTreeRegressor(max_depth=1), ["size"])]
    stack = StackingRegressor(learners, by_name(), passthrough=True, cv=3, random_state=0)
    stack.fit(X, y)
    assert -stack.score_ < 0.3
    np.testing.assert_allclose(stack.predict(X[:1]), stack.predict(X)[:1], rtol=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_mixed_columns_reach_upper_layers_with_names_and_types(kind: str) -> None:
    X, y = mixed(kind)
    layers = [[("tree", DecisionTreeRegressor(max_depth=1), ["size"])], [("ridge", by_name())]]
    stack = StackingRegressor(layers, "mean", passthrough=True, cv=4, random_state=0).fit(X, y)
    assert -stack.score_ < 0.3
    np.testing.assert_allclose(stack.predict(X[:1]), stack.predict(X)[:1], rtol=1e-12)


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_columns_are_passed_on_in_every_mode(predict_with: str) -> None:
    X, y = mixed("pandas")
    learners = [("tree", DecisionTreeRegressor(max_depth=1), ["size"])]
    stack = StackingRegressor(
        learners, by_name(), passthrough=True, cv=3, predict_with=predict_with, random_state=0
    ).fit(X, y)
    assert -stack.score_ < 0.3


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("passthrough", [True, ["town", "size"]])
def test_set_output_keeps_the_types_of_passed_columns(kind: str, passthrough: object) -> None:
    X, y = mixed(kind)
    stack = StackingRegressor([("ridge", by_name())], "mean", passthrough=passthrough, cv=3)
    found = stack.set_output(transform=kind).fit(X, y).transform(X)
    assert isinstance(found, type(X))
    assert list(found.columns) == list(stack.get_feature_names_out())
    assert found["size"].dtype == X["size"].dtype
    assert found["stackingregressor_ridge"].dtype == X["size"].dtype
    assert found["town"].to_list() == X["town"].to_list()


def test_transform_of_a_frame_names_its_columns() -> None:
    X, y = mixed("pandas")
    stack = StackingRegressor([("ridge", by_name())], "mean", passthrough=["size"], cv=3).fit(X, y)
    found = stack.transform(X)
    if isinstance(found, pd.DataFrame):
        assert list(found.columns) == list(stack.get_feature_names_out())
        assert found.index.equals(X.index)
    np.testing.assert_allclose(np.asarray(found)[:, 1].astype(float), X["size"])


def test_transform_without_passed_columns_is_an_array() -> None:
    X, y = mixed("polars")
    stack = StackingRegressor([("ridge", by_name())], "mean", cv=3, random_state=0).fit(X, y)
    assert isinstance(stack.transform(X), np.ndarray)


def test_columns_with_numbers_for_names_can_be_passed_on() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)))
    y = X[0] + X[1]
    stack = StackingRegressor(
        [("tree", DecisionTreeRegressor(max_depth=1))], LinearRegression(), passthrough=True, cv=3
    ).fit(X, y)
    assert -stack.score_ < 1e-6


def test_a_passed_column_must_not_bear_the_name_of_a_learner() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["tree", "b"])
    learners = [("tree", DecisionTreeRegressor(max_depth=1))]
    with pytest.raises(InvalidParameterError) as caught:
        StackingRegressor(learners, "mean", passthrough=True, cv=3).fit(X, X["b"])
    assert str(caught.value) == (
        "StackingRegressor: passthrough must hold no column named like a learner; got 'tree'. "
        "Rename the learner."
    )


@pytest.mark.parametrize("n_layers", [1, 2])
def test_sparse_rows_go_all_the_way(n_layers: int) -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 5)) * (rng.uniform(size=(60, 5)) < 0.5)
    y = dense @ np.arange(5.0)
    layers = [
        [("a", Ridge(1.0, tol=1e-12)), ("b", Ridge(9.0, tol=1e-12))],
        [("c", Ridge(tol=1e-12))],
    ]
    layers = layers[:n_layers]
    kinds = [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array]
    scores = []
    for kind in kinds:
        stack = StackingRegressor(layers, Ridge(tol=1e-12), passthrough=True, cv=4, random_state=0)
        scores.append(stack.fit(kind(dense), y).score_)
        assert sparse.issparse(stack.transform(kind(dense))) == (kind is not np.asarray)
    np.testing.assert_allclose(scores, scores[0], rtol=1e-4)


def test_votes_for_classes_are_counted_never_averaged_as_numbers() -> None:
    # Models that disagree between the first and the last class must not name the middle one.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), np.array(["a", "b", "c"])[rng.integers(0, 3, 90)]
    learners = [("tree", DecisionTreeClassifier(random_state=0))]
    stack = StackingClassifier(
        learners, LogisticRegression(), stack_method="predict", cv=5, random_state=0
    ).fit(X, y)
    new, trains = rng.normal(size=(50, 4)), stack.deals_[0].lattice.trains
    models = [DecisionTreeClassifier(random_state=0).fit(X[t], y[t]) for t in trains]
    votes = np.stack([model.predict(new) for model in models])
    shares = np.stack([(votes == c).mean(axis=0) for c in "abc"], axis=1)
    features = stack.deals_[0].fresh(new, stack.deals_[0].reading.deployed)
    np.testing.assert_allclose(features.members[:, 0], shares)
    np.testing.assert_allclose(features.matrix, shares)
    np.testing.assert_allclose(stack.transform(new), shares)
    assert list(stack.oof_.columns) == ["tree__a", "tree__b", "tree__c"]


class Asked(StandardScaler):
    """A scaler that counts how often rows are scaled."""

    times = 0

    def transform(self, X, copy=None):
        type(self).times += 1
        return super().transform(X, copy)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_learners_of_a_node_share_its_equal_transformers_when_asked(n_jobs) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    learners = [
        ("small", make_pipeline(Asked(), DecisionTreeRegressor(max_depth=1, random_state=0))),
        ("large", make_pipeline(Asked(), DecisionTreeRegressor(max_depth=3, random_state=0))),
        ("other", make_pipeline(Asked(with_mean=False), DecisionTreeRegressor(random_state=0))),
    ]
    # By learner, as with a time budget: each learner of a node is a job of its own.
    stack = StackingRegressor(
        learners, "mean", cv=3, n_jobs=n_jobs, random_state=0, time_budget=1e4
    ).fit(X, y)
    alone = [[m.predict(X) for m in own.models] for own in stack.estimators_]
    Asked.times = 0
    np.testing.assert_allclose(stack.predict(X), np.mean(alone, axis=(0, 1)), rtol=1e-12)
    assert Asked.times == 2 * 3
    for small, large in zip(stack.estimators_[0].models, stack.estimators_[1].models, strict=True):
        assert small[0] is large[0]
