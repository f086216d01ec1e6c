"""The library against the seed's equations, written literally: every matrix and every choice.

Tolerance 1e-10 for learners that are fitted node by node, 1e-8 relative where a learner has a
shortcut (ridge, Gaussian naive Bayes).
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from tests.stack.oracle import Oracle, forward_in_time

EXACT, SHORTCUT = 1e-10, 1e-8
GRID = {"alpha": [0.1, 30.0, 1000.0]}
MODES = [(p, h) for p in ("folds", "refit", "pairs") for h in ("node", "mean")]

TREE = DecisionTreeRegressor(max_depth=3, random_state=0)
LASSO = Lasso(0.05)
CLASS_TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def regression_data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] - X[:, 1] ** 2 + rng.normal(size=n), rng.normal(size=(7, 4))


def class_data(n_classes, n=60, seed=0):
    X, y, X_new = regression_data(n, seed)
    cuts = np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.digitize(y, cuts), X_new


def folds_of(n_folds, X, y=None):
    if y is None:
        return list(KFold(n_folds, shuffle=True, random_state=1).split(X))
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=1).split(X, y))


def named(layer, prefix="m"):
    return [(f"{prefix}{index}", learner) for index, learner in enumerate(layer)]


def fit_ours(oracle, predict_with, hold_out):
    """Return our stack of what the oracle stacks."""
    layers = [named(layer, f"layer{depth}m") for depth, layer in enumerate(oracle.layers)]
    kind = StackingClassifier if oracle.classify else StackingRegressor
    tune = None
    if oracle.tune:
        tune = {
            name: grid
            for (name, _), grid in zip(layers[0], oracle.tune, strict=True)
            if grid is not None
        }
    stack = kind(
        layers if len(layers) > 1 else layers[0],
        (oracle.stacker, oracle.grid),
        cv=oracle.splits,
        predict_with=predict_with,
        hold_out=hold_out,
        tune=tune,
        passthrough=oracle.passthrough,
        random_state=0,
    )
    return stack.fit(oracle.X, oracle.y, sample_weight=oracle.weight)


def check(oracle, X_new, predict_with="folds", hold_out="node", tolerance=EXACT) -> None:
    """Compare everything that the equations name."""
    expected = oracle.answer(X_new, predict_with, hold_out)
    stack = fit_ours(oracle, predict_with, hold_out)
    deal = stack.deals_[0].with_rows(oracle.X)

    def same(ours, theirs):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)

    for i, judgement in enumerate(deal.reading.judgements):
        same(deal.top.features(judgement.train).matrix, expected.oos_without[i])
        same(deal.top.features((judgement.test,)).matrix, expected.held_out[i])
        assert oracle.points[deal.verdict.folds[i].option.point] == expected.chosen_for[i]
    same(deal.top.features(deal.reading.final).matrix, expected.oos)
    assert oracle.points[deal.verdict.option.point] == expected.chosen
    same(deal.verdict.response.values, np.vstack(expected.judged))
    same(stack.score_, expected.score)
    if oracle.classify:
        same(stack.predict_proba(X_new), expected.predictions)
        assert np.array_equal(stack.predict(X_new), expected.predictions.argmax(axis=1))
    else:
        same(stack.predict(X_new), expected.predictions[:, 0])


@pytest.mark.parametrize(
    ("n_folds", "predict_with", "hold_out"),
    [*((3, *mode) for mode in MODES), (5, *MODES[0]), (5, *MODES[5]), (10, *MODES[5])],
)
def test_regression(n_folds, predict_with, hold_out) -> None:
    X, y, X_new = regression_data()
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, folds_of(n_folds, X))
    check(oracle, X_new, predict_with, hold_out)


@pytest.mark.parametrize("seed", range(3))
def test_the_seeds_own_procedure_with_its_own_learner_on_random_data(seed) -> None:
    X, y, X_new = regression_data(seed=seed)
    scaled = make_pipeline(StandardScaler(), Ridge(3.0))
    oracle = Oracle([[Ridge(), scaled, TREE]], Ridge(), GRID, X, y, folds_of(5, X))
    check(oracle, X_new, "folds", "node", SHORTCUT)


@pytest.mark.parametrize(
    ("n_classes", "predict_with", "hold_out"),
    [*((3, *mode) for mode in MODES), (2, *MODES[0]), (2, *MODES[5])],
)
def test_classification(n_classes, predict_with, hold_out) -> None:
    X, y, X_new = class_data(n_classes)
    oracle = Oracle(
        [[CLASS_TREE, LogisticRegression()]],
        LogisticRegression(),
        {"C": [0.01, 1.0]},
        X,
        y,
        folds_of(3, X, y),
        classify=True,
    )
    check(oracle, X_new, predict_with, hold_out)


@pytest.mark.parametrize(("n_classes", "n_folds"), [(3, 5), (2, 10)])
def test_classification_with_more_folds_and_a_shortcut(n_classes, n_folds) -> None:
    X, y, X_new = class_data(n_classes)
    oracle = Oracle(
        [[CLASS_TREE, GaussianNB()]],
        LogisticRegression(),
        {"C": [0.1]},
        X,
        y,
        folds_of(n_folds, X, y),
        classify=True,
    )
    check(oracle, X_new, "folds", "mean", SHORTCUT)


@pytest.mark.parametrize(("predict_with", "hold_out"), MODES[:3] + MODES[5:])
def test_tuned_learners(predict_with, hold_out) -> None:
    X, y, X_new = regression_data(30)
    random_tree = DecisionTreeRegressor(max_depth=2, splitter="random", random_state=0)
    oracle = Oracle([[random_tree, LASSO]], Ridge(), {"alpha": [0.1, 100.0]}, X, y, folds_of(4, X))
    oracle.tune = [{"random_state": [0, 1, 2, 3, 4]}, None]
    chosen = [oracle.tuned(0, owner)["random_state"] for owner in (None, 0, 1, 2, 3)]
    assert len(set(chosen[1:])) > 1, "all folds choose the same, so this test shows little"
    assert chosen[0] != chosen[1]
    check(oracle, X_new, predict_with, hold_out)


def test_several_tuned_learners_that_share_a_transformer() -> None:
    X, y, X_new = regression_data(30)
    pipes = [make_pipeline(StandardScaler(), model) for model in (LASSO, TREE)]
    oracle = Oracle([pipes], Ridge(), {"alpha": [0.1]}, X, y, folds_of(4, X))
    oracle.tune = [{"lasso__alpha": [0.01, 0.3]}, {"decisiontreeregressor__max_depth": [1, 3]}]
    check(oracle, X_new, "folds", "node")


def test_a_tuned_ridge_by_its_shortcut() -> None:
    X, y, X_new = regression_data(30)
    oracle = Oracle([[Ridge(), TREE]], Ridge(), {"alpha": [0.1]}, X, y, folds_of(4, X))
    oracle.tune = [{"alpha": [0.1, 10.0, 100.0]}, None]
    check(oracle, X_new, "refit", "node", SHORTCUT)


@pytest.mark.parametrize("predict_with", ["folds", "refit"])
def test_tuned_classifiers(predict_with) -> None:
    X, y, X_new = class_data(3)
    oracle = Oracle(
        [[CLASS_TREE]], LogisticRegression(), {"C": [1.0]}, X, y, folds_of(3, X, y), classify=True
    )
    oracle.tune = [{"max_depth": [1, 2]}]
    check(oracle, X_new, predict_with, "node")


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_two_layers(predict_with) -> None:
    X, y, X_new = regression_data(30)
    layers = [[TREE, LASSO], [Lasso(0.01), DecisionTreeRegressor(max_depth=2, random_state=1)]]
    oracle = Oracle(layers, Ridge(), {"alpha": [0.1, 10.0]}, X, y, folds_of(4, X))
    check(oracle, X_new, predict_with, "mean" if predict_with != "refit" else "node")


def test_two_layers_of_classifiers() -> None:
    X, y, X_new = class_data(3)
    layers = [[CLASS_TREE, GaussianNB()], [LogisticRegression()]]
    oracle = Oracle(
        layers, LogisticRegression(), {"C": [1.0]}, X, y, folds_of(4, X, y), classify=True
    )
    check(oracle, X_new, "folds", "mean", SHORTCUT)


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_columns_passed_through(predict_with) -> None:
    X, y, X_new = regression_data()
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, folds_of(3, X), passthrough=True)
    check(oracle, X_new, predict_with, "node")


def test_columns_passed_through_two_layers() -> None:
    X, y, X_new = regression_data(30)
    layers = [[TREE, LASSO], [Lasso(0.01)]]
    oracle = Oracle(layers, Ridge(), {"alpha": [1.0]}, X, y, folds_of(4, X), passthrough=True)
    check(oracle, X_new, "folds", "mean")


@pytest.mark.parametrize("predict_with", ["folds", "pairs"])
def test_weights(predict_with) -> None:
    X, y, X_new = regression_data()
    weight = np.random.default_rng(5).uniform(0.2, 3.0, len(y))
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, folds_of(4, X), weight=weight)
    check(oracle, X_new, predict_with, "mean")
    oracle.tune = [{"max_depth": [1, 3]}, None]
    check(oracle, X_new, predict_with, "mean")


def test_weights_of_two_layers_and_of_classes() -> None:
    X, y, X_new = class_data(2)
    weight = np.random.default_rng(5).uniform(0.2, 3.0, len(y))
    oracle = Oracle(
        [[CLASS_TREE, GaussianNB()], [LogisticRegression()]],
        LogisticRegression(),
        {"C": [0.1, 10.0]},
        X,
        y,
        folds_of(4, X, y),
        classify=True,
        weight=weight,
    )
    check(oracle, X_new, "folds", "node", SHORTCUT)


def purged(n_rows, n_folds, width):
    rows = np.arange(n_rows)
    return [
        (rows[(rows < test[0] - width) | (rows > test[-1] + width)], test)
        for _, test in KFold(n_folds).split(rows)
    ]


SPLITS = {
    "groups": list(GroupKFold(4).split(np.zeros(40), groups=np.arange(40) // 3)),
    "uncovered": list(PredefinedSplit(np.arange(40) % 5 - 1).split()),
    "purged": purged(40, 4, 2),
}


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize(("predict_with", "hold_out"), [MODES[0], MODES[3], MODES[5]])
def test_other_splits(splits, predict_with, hold_out) -> None:
    X, y, X_new = regression_data()
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, SPLITS[splits])
    check(oracle, X_new, predict_with, hold_out)


@pytest.mark.parametrize("predict_with", ["folds", "refit"])
@pytest.mark.parametrize("arguments", [{}, {"gap": 2}, {"max_train_size": 12}])
def test_forward_in_time(predict_with, arguments) -> None:
    X, y, X_new = regression_data(50)
    splits = list(TimeSeriesSplit(5, **arguments).split(X))
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, splits)
    expected = forward_in_time(oracle, X_new, predict_with)
    stack = fit_ours(oracle, predict_with, "auto")
    (deal,) = stack.deals_
    np.testing.assert_allclose(
        deal.top.features(deal.reading.final).matrix, expected.oos, rtol=EXACT, atol=EXACT
    )
    assert [oracle.points[f.option.point] for f in deal.verdict.folds] == expected.chosen_for
    assert oracle.points[deal.verdict.option.point] == expected.chosen
    np.testing.assert_allclose(
        deal.verdict.response.values, np.vstack(expected.judged), rtol=EXACT, atol=EXACT
    )
    np.testing.assert_allclose(stack.score_, expected.score, rtol=EXACT)
    np.testing.assert_allclose(stack.predict(X_new), expected.predictions[:, 0], rtol=EXACT)


def test_the_standard_error_is_that_of_a_mean_over_rows() -> None:
    X, y, _ = regression_data()
    stack = StackingRegressor(
        named([TREE, LASSO]), "mean", cv=4, hold_out="mean", random_state=0
    ).fit(X, y)
    verdict = stack.deals_[0].verdict
    squares = (y[verdict.rows] - verdict.response.values[:, 0]) ** 2
    expected = squares.std(ddof=1) / np.sqrt(len(y)) / (2 * np.sqrt(squares.mean()))
    np.testing.assert_allclose(verdict.evaluation.standard_error, expected, rtol=1e-10)
    # Errors of folds are correlated, for which it is widened.
    assert expected <= stack.score_se_ <= 2 * expected * (1 + 1e-10)


def test_fold_scores_are_those_of_the_folds() -> None:
    X, y, X_new = regression_data()
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, folds_of(4, X))
    expected = oracle.answer(X_new, "folds", "node")
    stack = fit_ours(oracle, "folds", "node")
    by_fold = [
        -oracle.loss(y[rows], values, None)
        for rows, values in zip(expected.rows, expected.judged, strict=True)
    ]
    np.testing.assert_allclose(np.ravel(stack.fold_scores_), by_fold, rtol=EXACT)


def test_the_leaderboard_scores_learners_on_the_same_hold_out_predictions() -> None:
    X, y, X_new = regression_data()
    oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, folds_of(4, X))
    expected = oracle.answer(X_new, "folds", "mean")
    stack = fit_ours(oracle, "folds", "mean")
    board = stack.leaderboard_.set_index("model")["root_mean_squared_error"]
    held, rows = np.vstack(expected.held_out), np.concatenate(expected.rows)
    for m in (0, 1):
        own = oracle.loss(y[rows], held[:, [m]], None)
        np.testing.assert_allclose(board[f"layer0m{m}"], own, rtol=EXACT)
    mean = oracle.loss(y[rows], held.mean(axis=1, keepdims=True), None)
    np.testing.assert_allclose(board["plain mean"], mean, rtol=EXACT)
    np.testing.assert_allclose(board["stack"], -expected.score, rtol=EXACT)


def test_out_of_fold_predictions_are_the_oos_matrix_in_the_order_of_the_rows() -> None:
    X, y, X_new = class_data(2)
    splits = [(train, test[2:]) for train, test in folds_of(3, X, y)]
    oracle = Oracle([[CLASS_TREE]], LogisticRegression(), {"C": [1.0]}, X, y, splits, classify=True)
    expected = oracle.answer(X_new, "folds", "node")
    stack = fit_ours(oracle, "folds", "node")
    covered = np.concatenate(oracle.tests)
    out = np.ravel(stack.oof_.to_numpy())
    assert np.isnan(np.delete(out, covered)).all()
    clip = 0.5 / (len(y) + 1)
    own = np.clip(out[covered], clip, 1 - clip)
    np.testing.assert_allclose(np.log(own / (1 - own)), expected.oos[:, 0], rtol=EXACT)


def test_repeats_average_predictions_and_scores_of_whole_stacks() -> None:
    X, y, X_new = regression_data()
    stack = StackingRegressor(
        named([TREE, LASSO]), (Ridge(), GRID), cv=3, n_repeats=3, hold_out="node", random_state=0
    ).fit(X, y)
    answers = []
    for deal in stack.deals_:
        splits = list(zip(deal.lattice.trains, deal.lattice.tests, strict=True))
        oracle = Oracle([[TREE, LASSO]], Ridge(), GRID, X, y, splits)
        answers.append(oracle.answer(X_new, "folds", "node"))
    assert len({answer.score for answer in answers}) == 3
    np.testing.assert_allclose(stack.score_, np.mean([a.score for a in answers]), rtol=EXACT)
    expected = np.mean([a.predictions[:, 0] for a in answers], axis=0)
    np.testing.assert_allclose(stack.predict(X_new), expected, rtol=EXACT)


@pytest.mark.parametrize("predict_with", ["folds", "refit"])
@pytest.mark.parametrize("ordered", [False, True])
def test_blending(predict_with, ordered) -> None:
    """The base models learn from one part, the stacker from the other, judged inside it."""
    X, y, X_new = regression_data(60)
    rows = np.arange(60) if ordered else np.random.default_rng(3).permutation(60)
    base, rest = np.sort(rows[:30]), np.sort(rows[30:])
    stack = StackingRegressor(
        named([TREE, LASSO]),
        Ridge(2.0),
        cv=[(base, rest)],
        predict_with=predict_with,
        random_state=0,
    ).fit(X, y)
    models = [clone(model).fit(X[base], y[base]) for model in (TREE, LASSO)]
    columns = np.column_stack([model.predict(X) for model in models])
    (deal,) = stack.deals_
    judged, values = [], []
    for judgement in deal.reading.judgements:
        test = judgement.test.rows
        train = rest[rest < test[0]] if ordered else np.setdiff1d(rest, test)
        top = Ridge(2.0).fit(columns[train], y[train])
        judged.append(test)
        values.append(top.predict(columns[test]))
    covered = np.concatenate(judged)
    assert set(covered) <= set(rest)
    assert len(covered) == len(set(covered)) >= (25 if ordered else 30)
    expected = -np.sqrt(np.mean((y[covered] - np.concatenate(values)) ** 2))
    np.testing.assert_allclose(stack.score_, expected, rtol=EXACT)
    if predict_with == "refit":
        models = [clone(model).fit(X, y) for model in (TREE, LASSO)]
    new = np.column_stack([model.predict(X_new) for model in models])
    top = Ridge(2.0).fit(columns[rest], y[rest])
    np.testing.assert_allclose(stack.predict(X_new), top.predict(new), rtol=EXACT)


def test_several_targets_are_stacked_side_by_side() -> None:
    X, y, X_new = regression_data()
    both = np.column_stack([y, X[:, 2] - y])
    learners = [("lasso", LASSO), ("ridge", Ridge())]
    arguments = {"cv": folds_of(4, X), "random_state": 0}
    together = StackingRegressor(learners, "mean", **arguments).fit(X, both)
    alone = [StackingRegressor(learners, "mean", **arguments).fit(X, t) for t in both.T]
    expected = np.column_stack([stack.predict(X_new) for stack in alone])
    np.testing.assert_allclose(together.predict(X_new), expected, rtol=1e-8)


def test_the_area_under_the_curve_is_averaged_over_folds() -> None:
    X, y, _ = class_data(2)
    stack = StackingClassifier(
        named([CLASS_TREE, GaussianNB()]), "mean", cv=4, scoring="roc_auc", random_state=0
    ).fit(X, y)
    verdict, lattice = stack.deals_[0].verdict, stack.deals_[0].lattice
    scores = [
        roc_auc_score(y[test], verdict.response.values[np.isin(verdict.rows, test), 1])
        for test in lattice.tests
    ]
    assert np.array_equal(verdict.rows, np.concatenate(lattice.tests))
    np.testing.assert_allclose(stack.score_uncorrected_, np.mean(scores), rtol=EXACT)
