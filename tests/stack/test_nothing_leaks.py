"""Promise 1: changing y in fold i changes nothing that is used to predict fold i."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.folds import Block
from foldwise.stack.stackers.named import FOR_CLASSES, FOR_NUMBERS

N = 48
GROUPS = np.arange(N) // 3


def purged(n_folds, width) -> list:
    rows = np.arange(N)
    return [
        (rows[(rows < test[0] - width) | (rows > test[-1] + width)], test)
        for _, test in KFold(n_folds).split(rows)
    ]


SPLITS = {
    "plain": list(KFold(4, shuffle=True, random_state=0).split(np.zeros(N))),
    "groups": list(GroupKFold(4).split(np.zeros(N), groups=GROUPS)),
    "time": list(TimeSeriesSplit(5).split(np.zeros(N))),
    "purged": purged(4, 2),
}
REGRESSORS = [
    ("tree", DecisionTreeRegressor(splitter="random")),
    ("nn", KNeighborsRegressor(1)),
    ("ridge", Ridge()),
]
CLASSIFIERS = [
    ("tree", DecisionTreeClassifier(splitter="random")),
    ("nn", KNeighborsClassifier(1)),
    ("logistic", LogisticRegression()),
]
UPPER = {
    "regression": [("tree2", DecisionTreeRegressor(max_depth=3)), ("ridge2", Ridge())],
    "classification": [
        ("tree2", DecisionTreeClassifier(max_depth=3)),
        ("l2", LogisticRegression()),
    ],
}
TOPS = {
    "regression": ["mean", "best", "nnls", (Ridge(), {"alpha": [0.1, 1000.0]})],
    "classification": ["mean", "best", "nnls", (LogisticRegression(), {"C": [0.01, 1.0]})],
}


def noise(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, rng.normal(size=N) if task == "regression" else rng.permutation(np.arange(N) % 2)


def folds_to_flip(splitter) -> tuple:
    """Return one fold, or where folds differ by what comes after them, one of each kind."""
    return (1, len(SPLITS["time"]) - 1) if splitter == "time" else (1,)


def fitted(task, splits, X, y, n_layers, **arguments):
    lower = REGRESSORS if task == "regression" else CLASSIFIERS
    estimators = lower if n_layers == 1 else [lower, UPPER[task]]
    kind = StackingRegressor if task == "regression" else StackingClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = kind(estimators, TOPS[task], cv=splits, random_state=0, **arguments)
        return stack.fit(X, y)


def changed(task, y, rows):
    other = y.copy()
    other[rows] = 1 - y[rows] if task == "classification" else 5 - 3 * y[rows]
    return other


def what_predicts(stack, fold):
    """Return prints of every object used to predict a fold, by name."""
    (deal,) = stack.deals_
    test = deal.lattice.tests[fold]
    found = {}
    for level, reader in enumerate(deal.layers):
        for (name, node, point), (rows, values) in reader.table.predictions.items():
            if not np.intersect1d(deal.lattice.rows(node), test).size:
                found[f"layer {level}, {name} without {sorted(node)}, {point}"] = (rows, values)
        found[f"layer {level}, tuned"] = {
            name: chosen[fold] for name, chosen in reader.table.choices.items()
        }
    judged = [j.fold for j in deal.reading.judgements]
    found["judged"] = fold in judged
    if fold in judged:
        verdict = deal.verdict
        (own,) = [j for j in verdict.folds if j.fold == fold]
        here = np.isin(verdict.rows, test)
        found["choice"] = (own.option.candidate, own.option.point)
        found["stacker"] = (vars(own.stacker), own.names)
        found["predictions"] = verdict.response.values[here]
        found["expected errors"] = (own.scale, own.expected)
        (judgement,) = [j for j in deal.reading.judgements if j.fold == fold]
        features = stack._with_training_rows(None)[0].top.features
        # What the correction of the score rests on.
        for block in (*judgement.by_pairs, Block(judgement.test.rows, judgement.fresh)):
            found[f"answer by {block.refs}"] = own.respond(features((block,))).values
    return {name: joblib.hash(value) for name, value in found.items()}


# On noise all seeds of a random tree are equally good, so a choice turns on every row it sees.
SEEDS = {"tree": {"random_state": [0, 1, 2, 3, 4]}}
MODES = [
    ("plain", 1, {}),
    ("plain", 1, {"hold_out": "node"}),
    ("plain", 1, {"predict_with": "refit"}),
    ("plain", 1, {"predict_with": "pairs"}),
    ("plain", 1, {"tune": SEEDS}),
    ("plain", 1, {"tune": SEEDS, "predict_with": "refit"}),
    ("plain", 2, {}),
    ("plain", 2, {"predict_with": "pairs"}),
    ("plain", 1, {"passthrough": True}),
    ("groups", 1, {}),
    ("groups", 2, {}),
    ("time", 1, {}),
    ("time", 2, {}),
    ("purged", 1, {}),
    ("purged", 1, {"hold_out": "node"}),
    ("purged", 2, {}),
    ("plain", 1, {"prune": 0.1}),
    ("plain", 1, {"partners": 2}),
    ("plain", 1, {"partners": 2, "tune": SEEDS}),
    ("groups", 1, {"partners": 2, "predict_with": "refit"}),
    ("purged", 1, {"partners": 2, "prune": 0.1}),
]


CASES = [("regression", *mode) for mode in MODES]
CASES += [("classification", *MODES[index]) for index in (0, 3, 4, 6, 9, 11, 12, 13, 16, 18)]


@pytest.mark.parametrize(
    ("task", "splitter", "n_layers", "mode"),
    CASES,
    ids=[f"{task}-{s}-{n}-{'-'.join(m)}" for task, s, n, m in CASES],
)
def test_flipping_y_in_a_fold_changes_nothing_that_predicts_it(
    task, splitter, n_layers, mode
) -> None:
    splits = SPLITS[splitter]
    X, y = noise(task)
    before = fitted(task, splits, X, y, n_layers, **mode)
    anything_changed = False
    for fold in folds_to_flip(splitter):
        after = fitted(task, splits, X, changed(task, y, splits[fold][1]), n_layers, **mode)
        assert what_predicts(before, fold) == what_predicts(after, fold)
        anything_changed |= not before.oof_.equals(after.oof_)
    assert anything_changed, "the flip reached no model, so this test shows nothing"


@pytest.mark.usefixtures("few_bags")
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_flipping_y_in_a_fold_changes_nothing_in_any_named_combiner(task) -> None:
    splits = SPLITS["plain"]
    X, y = noise(task)
    fold = 2
    before = fitted(task, splits, X, y, 1)
    after = fitted(task, splits, X, changed(task, y, splits[fold][1]), 1)
    unchanged = set()
    for name in FOR_NUMBERS if task == "regression" else FOR_CLASSES:
        top = name
        if name == "weighted_mean":
            top = (name, {"weights": [[1, 1, 0], [1, 0, 1], [0, 1, 1]]})
        one, two = before.restack(top), after.restack(top)
        assert what_predicts(one, fold) == what_predicts(two, fold), name
        if joblib.hash(vars(one.stacker_)) == joblib.hash(vars(two.stacker_)):
            unchanged.add(name)
    # What learns nothing, or takes one learner alone, may end up the same with other targets.
    learns_nothing = {"mean", "weighted_mean", "soft_vote", "majority_vote", "median"}
    takes_one = {"best", "pseudo_bma"}
    assert unchanged <= learns_nothing | takes_one | {"trimmed_mean", "geometric_mean"}


def test_a_purged_row_is_as_far_away_as_a_row_of_the_fold() -> None:
    """What lies in the gap of fold i must not reach fold i either."""
    X, y = noise("regression")
    splits = SPLITS["purged"]
    before = fitted("regression", splits, X, y, 1)
    for fold, (train, test) in enumerate(splits):
        gap = np.setdiff1d(np.arange(N), np.concatenate([train, test]))
        assert len(gap)
        after = fitted("regression", splits, X, changed("regression", y, gap), 1)
        deal, other = before.deals_[0], after.deals_[0]
        here = np.isin(deal.verdict.rows, test)
        assert np.array_equal(
            deal.verdict.response.values[here], other.verdict.response.values[here]
        )
        assert deal.verdict.folds[fold].option == other.verdict.folds[fold].option


# The same from outside: learners and stackers that say which rows they were shown. Their
# prediction is the row's own number, so that a layer above knows the rows too.

SEEN: list = []


class Echo(RegressorMixin, BaseEstimator):
    """Predicts the row number it reads in its first column, and writes down what it saw."""

    def __init__(self, who="learner"):
        self.who = who

    def fit(self, X, y, sample_weight=None):
        self.rows_ = frozenset(np.rint(np.asarray(X)[:, 0]).astype(int).tolist())
        return self

    def predict(self, X):
        numbers = np.asarray(X)[:, 0]
        rows = frozenset(np.rint(numbers).astype(int).tolist())
        SEEN.append((self.who, self.rows_, rows))
        return numbers


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("splitter", SPLITS)
@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_no_learner_and_no_stacker_predicts_a_row_it_was_fitted_on(
    splitter, n_layers, predict_with
) -> None:
    if splitter == "time" and predict_with == "pairs":
        pytest.skip("there are no pairs forward in time")
    SEEN.clear()
    X = np.arange(N, dtype=float)[:, None]
    layers = [("a", Echo("a")), ("b", Echo("b"))]
    estimators = layers if n_layers == 1 else [layers, [("c", Echo("c"))]]
    StackingRegressor(
        estimators, Echo("stacker"), cv=SPLITS[splitter], predict_with=predict_with, random_state=0
    ).fit(X, np.arange(N) % 5.0)
    splits = [(set(train.tolist()), set(test.tolist())) for train, test in SPLITS[splitter]]
    assert {who for who, _, _ in SEEN} == {"a", "b", "stacker"} | (
        {"c"} if n_layers == 2 else set()
    )
    for who, fitted_on, predicted in SEEN:
        assert not fitted_on & predicted, who
        for train, test in splits:
            if test & predicted and who != "stacker":
                assert fitted_on <= train, f"{who} saw rows that the split leaves out"
            if test & predicted and who == "stacker" and splitter != "time":
                assert fitted_on <= train
