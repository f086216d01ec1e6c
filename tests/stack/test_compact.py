"""Smaller stacks: chosen without the judged fold, cheaper, and honest about what they lose."""

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidParameterError, UnsupportedError
from foldwise.stack.judge.thrift import PredictionCosts, Thrift, seconds_of

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:200], Y[:200]


class Slow(KNeighborsRegressor):
    """A learner that counts how often it is asked."""

    times = 0

    def predict(self, X):
        type(self).times += 1
        return super().predict(X)


LEARNERS = [
    ("ridge", Ridge(0.1)),
    ("noise", Slow(1)),
    ("near", make_pipeline(StandardScaler(), KNeighborsRegressor(10))),
    ("tree", make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=3, random_state=0))),
]


@pytest.fixture(scope="module")
def whole():
    return StackingRegressor(LEARNERS, "simplex", cv=4, random_state=0).fit(X, Y)


def test_learners_are_left_out_by_the_training_rows_of_each_stacker_alone(whole):
    small = whole.compact(prune=0.1)
    (deal,) = small.deals_
    thrift = Thrift(0.1)
    read = [(deal.reading.final, deal.verdict.names)]
    pairs = zip(deal.reading.judgements, deal.verdict.folds, strict=True)
    read += [(judgement.train, judged.names) for judgement, judged in pairs]
    for blocks, names in read:
        features = deal.top.features(blocks)
        target = deal.judge.target(blocks)
        assert thrift.keep(features, target, partial(deal.judge.worth, blocks)) == names
    # They do not agree: what one of them keeps was not decided for another.
    assert len({names for _, names in read}) > 1
    assert small.used_ == list(deal.verdict.names)


def test_pruning_stops_where_a_smaller_combination_would_cost_more_than_allowed(whole):
    (deal,) = whole.deals_
    features, target = (
        deal.top.features(deal.reading.final),
        deal.judge.target(deal.reading.final),
    )
    nested = Thrift().nested(features, target)
    assert [len(names) for names in nested] == [4, 3, 2, 1]
    assert all(set(few) < set(more) for more, few in pairwise(nested))
    worth = partial(deal.judge.worth, deal.reading.final)
    kept = [Thrift(prune).keep(features, target, worth) for prune in (0.0, 0.1, 1.0, 1e9)]
    assert kept[0] == nested[0]
    assert kept[-1] == nested[-1]
    assert [len(names) for names in kept] == sorted((len(n) for n in kept), reverse=True)


def test_what_a_stacker_needs_is_kept_though_a_convex_mean_would_not_need_it():
    # The second is right but timid: it spoils a mean of probabilities, and adds to one of logits.
    rng = np.random.default_rng(0)
    z, noise = rng.normal(size=600), rng.normal(size=(600, 2))
    y = (z + 0.3 * rng.normal(size=600) > 0).astype(int)
    learners = [
        ("bold", LogisticRegression(C=100.0), [0]),
        ("timid", LogisticRegression(C=1e-3), [1]),
    ]
    stack = StackingClassifier(learners, "pool", random_state=0).fit(z[:, None] + 0.5 * noise, y)
    assert stack.compact(prune=0.1).used_ == ["bold", "timid"]
    assert stack.restack("simplex").compact(prune=0.1).used_ == ["bold"]


def test_a_greedy_stacker_is_pruned_by_a_scorer_that_looks_at_the_rows():
    def scorer(model, rows, y):
        return -np.mean((rows[:, 2] > 0) * (model.predict(rows) - y) ** 2)

    learners = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))]
    stack = StackingRegressor(learners, "greedy", scoring=scorer, prune=0.1, random_state=0)
    assert set(stack.fit(X, Y).used_) <= {"ridge", "tree"}


def test_a_compact_stack_predicts_by_what_it_keeps_and_is_smaller(whole):
    small = whole.compact(prune=1.0)
    Slow.times = 0
    predictions = small.predict(X)
    assert Slow.times == 0
    members = whole.oof_.columns.get_indexer(small.used_)
    asked = whole.transform(X)[:, members]
    np.testing.assert_allclose(predictions, asked @ small.stacker_.weights_, rtol=1e-12)
    board = small.leaderboard_.set_index("model")["weight"]
    assert board["noise"] == 0.0
    assert board[small.used_].sum() == pytest.approx(1.0)
    assert len(pickle.dumps(small)) < 0.8 * len(pickle.dumps(whole))
    lower, upper = small.predict_interval(X[:5])
    assert (lower < upper).all()
    with pytest.raises(UnsupportedError) as error:
        small.transform(X)
    assert str(error.value) == (
        "compact: learner must be kept to predict new rows with it; got 'noise', left out. Ask "
        "the stack that compact() was called on."
    )


def test_the_frontier_is_what_compact_would_score(whole, monkeypatch):
    parts = {"ridge": {1: 1.0}, "noise": {2: 8.0}, "near": {0: 2.0, 3: 4.0}, "tree": {0: 2.0, 4: 1}}
    # Measured times differ from call to call.
    for module in ("results.frontier", "fit"):
        monkeypatch.setattr(
            f"foldwise.stack.{module}.seconds_of", lambda *_: PredictionCosts(parts)
        )
    table = whole.frontier()
    assert list(table["learners"]) == [4, 3, 2, 1]
    assert table["predict_seconds"].iloc[0] == 1 + 8 + 2 + 4 + 1
    assert (table["megabytes"].diff().dropna() < 0).all()
    assert table["difference"].iloc[0] == table["difference_se"].iloc[0] == 0.0
    for row in table.itertuples():
        small = whole.compact(prune=0.0, predict_seconds=row.predict_seconds)
        assert tuple(small.used_) == row.names
        assert -small.score_ == pytest.approx(row.root_mean_squared_error, rel=1e-12)
    cheapest = whole.compact(predict_seconds=0.5)
    assert cheapest.used_ == ["ridge"]


def test_transformers_that_learners_share_cost_once(whole):
    (deal,) = whole.deals_
    stack = deal.with_rows(X)
    costs = seconds_of(stack.top, stack.reading.deployed)
    shared = set(costs.parts["near"]) & set(costs.parts["tree"])
    assert len(shared) == 4
    both = costs.of(["near", "tree"])
    alone = costs.of(["near"]) + costs.of(["tree"])
    assert both == pytest.approx(alone - sum(costs.parts["near"][part] for part in shared))


def test_classes_are_pruned_under_any_metric_with_calibration():
    y = (np.median(Y) < Y).astype(int)
    learners = [
        ("logistic", LogisticRegression()),
        ("tree", DecisionTreeClassifier(random_state=0)),
    ]
    stack = StackingClassifier(
        learners, "pool", cv=4, prune=0.5, calibrate="auto", scoring="roc_auc", random_state=0
    ).fit(X, y)
    assert stack.used_ == ["logistic"]
    assert stack.score_ > 0.75
    assert stack.predict_proba(X).shape == (len(X), 2)
    assert stack.predict_set(X[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (
            {"prune": -1},
            InvalidParameterError,
            "prune must be a number at least 0; got -1. Try 0.1.",
        ),
        (
            {"predict_seconds": 0},
            InvalidParameterError,
            "predict_seconds must be a number above 0; got 0. Try 0.1.",
        ),
        (
            {"predict_seconds": 1.0, "estimators": [LEARNERS[:1], [("top", Ridge())]]},
            UnsupportedError,
            "predict_seconds must be None with several layers; got 1.0. Use prune.",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_said(parameters, error, words):
    with pytest.raises(error) as said:
        StackingRegressor(**{"estimators": LEARNERS, **parameters}).fit(X, Y)
    assert str(said.value) == f"StackingRegressor: {words}"
