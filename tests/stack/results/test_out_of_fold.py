"""The out-of-fold table is what the score and the leaderboard are made from."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.diagnose import ambiguity, diversity, model_values
from foldwise.errors import UnsupportedError

NUMBERS = [
    ("ridge", Ridge()),
    ("tree", DecisionTreeRegressor(max_depth=4)),
    ("line", LinearRegression()),
]
CLASSES = [("nb", GaussianNB()), ("knn", KNeighborsClassifier()), ("lr", LogisticRegression())]
X, Y = make_friedman1(120, random_state=0)
WEIGHT = np.random.default_rng(0).random(120)


def uncorrected(stack) -> float:
    verdict = stack.deals_[0].verdict
    return stack.deals_[0].metric.score(verdict.response, verdict.target)


def board(stack) -> pd.Series:
    return stack.leaderboard_.set_index("model").iloc[:, 0]


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("n_repeats", [1, 2])
def test_the_plain_means_loss_is_the_leaderboards(weight, n_repeats) -> None:
    stack = StackingRegressor(
        NUMBERS,
        "mean",
        scoring="neg_mean_squared_error",
        hold_out="mean",
        random_state=0,
        n_repeats=n_repeats,
    ).fit(X, Y, sample_weight=weight)
    found = ambiguity(stack)
    assert_allclose(found.ensemble_loss, board(stack)["plain mean"])
    assert_allclose(found.losses, [board(stack)[name] for name, _ in NUMBERS])


def test_accuracy_of_each_class_model_is_the_leaderboards() -> None:
    rows, y = load_iris(return_X_y=True)
    stack = StackingClassifier(
        CLASSES, "mean", scoring="accuracy", hold_out="mean", random_state=0
    ).fit(rows, y)
    assert_allclose(diversity(stack).accuracy, [board(stack)[name] for name, _ in CLASSES])


@pytest.mark.parametrize("top", ["mean", "nnls", "ridge", LinearRegression()])
def test_all_learners_together_score_what_one_fixed_stacker_scores(top) -> None:
    stack = StackingRegressor(NUMBERS, (top, {}) if top == "ridge" else top, random_state=0)
    stack.fit(X, Y)
    values = model_values(stack)
    assert_allclose(values.score, stack.score_uncorrected_, rtol=1e-12)
    assert_allclose(values.shapley.sum(), values.score - values.naive_score, atol=1e-12)


@pytest.mark.parametrize("top", [None, ["mean", "nnls", "ridge"], "ridge", "greedy"])
def test_all_learners_together_score_what_the_stack_scores_whatever_was_chosen(top) -> None:
    stack = StackingRegressor(NUMBERS, top, random_state=3).fit(X[:60], Y[:60])
    assert_allclose(model_values(stack).score, uncorrected(stack), rtol=1e-9)


def test_folds_that_chose_otherwise_are_judged_by_their_own_choice() -> None:
    top = (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3, 4]})
    for seed in range(10):
        stack = StackingRegressor(NUMBERS, top, random_state=seed).fit(X[:40], Y[:40])
        verdict = stack.deals_[0].verdict
        if any(fold.option != verdict.option for fold in verdict.folds):
            break
    else:
        pytest.fail("every fold chose what is deployed")
    assert_allclose(model_values(stack).score, uncorrected(stack), rtol=1e-9)


@pytest.mark.parametrize(
    "how",
    [
        {"calibrate": "platt"},
        {"scoring": "f1", "threshold": "f1"},
        {"final_estimator": [RidgeClassifier(), "mean"], "scoring": "accuracy", "prune": 3.0},
    ],
)
def test_values_add_up_whatever_is_done_to_the_stackers_answer(how) -> None:
    rows, y = make_classification(120, 6, random_state=1)
    stack = StackingClassifier(CLASSES, random_state=0, **how).fit(rows, y)
    values = model_values(stack)
    assert_allclose(values.score, stack.score_uncorrected_, rtol=1e-12)
    assert_allclose(values.shapley.sum(), values.score - values.naive_score, atol=1e-12)


def test_a_subset_scores_what_a_stack_of_only_these_scores() -> None:
    stack = StackingRegressor(NUMBERS, "nnls", random_state=0).fit(X, Y, sample_weight=WEIGHT)
    small = StackingRegressor([NUMBERS[0], NUMBERS[1]], "nnls", random_state=0)
    small.fit(X, Y, sample_weight=WEIGHT)
    table = stack.out_of_fold_table()
    assert table.score_of is not None
    assert_allclose(table.score_of((0, 1)), small.score_uncorrected_, rtol=1e-12)


def test_no_learner_scores_what_the_mean_target_of_the_other_folds_scores() -> None:
    stack = StackingRegressor(NUMBERS, "mean", random_state=0).fit(X, Y)
    table = stack.out_of_fold_table()
    naive = [Y[table.fold != fold].mean() for fold in range(5)]
    loss = np.sqrt(np.mean((Y - np.array(naive)[table.fold]) ** 2))
    assert_allclose(model_values(stack).naive_score, -loss)


@pytest.mark.parametrize("classify", [False, True])
def test_the_constant_weighs_rows(classify) -> None:
    y = np.digitize(Y, [10, 15, 18]) if classify else Y
    kind = StackingClassifier if classify else StackingRegressor
    learners = [("nb", GaussianNB())] if classify else NUMBERS
    stack = kind(learners, "mean", random_state=0).fit(X, y, sample_weight=WEIGHT)
    table = stack.out_of_fold_table()
    target = np.eye(4)[y] if classify else Y[:, None]
    naive = np.empty_like(target)
    for fold in range(5):
        rest = table.fold != fold
        naive[~rest] = np.average(target[rest], axis=0, weights=WEIGHT[rest])
    loss = ((target - naive) ** 2).sum(axis=1)
    if classify:
        loss = -np.log(naive[np.arange(120), y])
    mean = np.average(loss, weights=WEIGHT)
    assert_allclose(model_values(stack).naive_score, -mean if classify else -np.sqrt(mean))


def test_two_classes_are_written_out_and_a_bake_off_can_be_valued() -> None:
    rows, y = make_classification(120, random_state=0)
    labels = np.where(y == 1, "yes", "no")
    stack = StackingClassifier(CLASSES, random_state=0).fit(rows, labels)
    table = stack.out_of_fold_table()
    assert table.predictions.shape == (1, 120, 3, 2)
    assert_allclose(table.predictions.sum(axis=3), 1.0)
    assert table.classes.tolist() == ["no", "yes"]
    assert np.isfinite(model_values(stack).shapley).all()


def test_forward_in_time_only_judged_rows_are_in() -> None:
    stack = StackingRegressor(NUMBERS, "mean", cv=TimeSeriesSplit(4)).fit(X, Y)
    table = stack.out_of_fold_table()
    assert table.n_rows == 72
    assert table.y.tolist() == Y[48:].tolist()


def test_columns_passed_through_are_read_again_after_pickling() -> None:
    stack = StackingRegressor(NUMBERS, "ridge", passthrough=True, random_state=0).fit(X, Y)
    before = stack.out_of_fold_table().score_of((0, 1, 2))
    again = pickle.loads(pickle.dumps(stack))
    assert again.out_of_fold_table(X).score_of((0, 1, 2)) == before


def test_a_stack_without_an_honest_score_is_refused() -> None:
    with pytest.warns(UserWarning, match="honest score"):
        stack = StackingRegressor(NUMBERS, cv=2).fit(X, Y)
    with pytest.raises(UnsupportedError) as error:
        stack.out_of_fold_table()
    assert str(error.value) == (
        "StackingRegressor: cv must give an honest score for out_of_fold_table; got 2. "
        "Fit with cv=5."
    )


def test_nothing_of_the_stack_is_changed() -> None:
    stack = StackingRegressor(NUMBERS, random_state=0).fit(X, Y)
    before = stack.predict(X[:5]).tolist()
    model_values(stack)
    assert stack.predict(X[:5]).tolist() == before
    assert all(deal.top.problem.data.X is None for deal in stack.deals_)


def test_a_stacker_of_labels_can_be_valued() -> None:
    rows, y = make_classification(80, random_state=0)
    trees = [("a", DecisionTreeClassifier(max_depth=1)), ("b", GaussianNB())]
    stack = StackingClassifier(trees, ["mean", DecisionTreeClassifier()], scoring="accuracy")
    assert np.isfinite(model_values(stack.fit(rows, y)).shapley).all()


def test_several_targets_can_be_decomposed() -> None:
    two = np.column_stack([Y, Y**2])
    stack = StackingRegressor([("t", DecisionTreeRegressor(max_depth=3)), ("r", Ridge())], "mean")
    found = ambiguity(stack.fit(X, two))
    assert abs(found.mean_loss - found.ambiguity - found.ensemble_loss) < 1e-9
