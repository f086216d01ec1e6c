import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidParameterError, NoScoreWarning

X, Y = make_regression(60, 8, n_informative=3, noise=30, random_state=0)
GRID = {"alpha": [0.01, 1.0, 20.0, 400.0]}
LEARNERS = [("lasso", Lasso()), ("ridge", Ridge())]


def choices(stack: StackingRegressor, name: str = "lasso") -> dict:
    return stack.deals_[0].top.table.choices[name]


def test_the_parameters_for_a_fold_are_found_by_pairs_that_leave_it_out() -> None:
    """Brute force: for fold i, (K-1)-fold cross-validation over the other folds."""
    stack = StackingRegressor(LEARNERS, "mean", cv=4, tune={"lasso": GRID}, random_state=0)
    stack.fit(X, Y)
    fold = stack.deals_[0].lattice.fold_of
    for i in range(4):
        losses = []
        for alpha in GRID["alpha"]:
            squares = []
            for j in set(range(4)) - {i}:
                train, test = (fold != i) & (fold != j), fold == j
                model = Lasso(alpha).fit(X[train], Y[train])
                squares.append((model.predict(X[test]) - Y[test]) ** 2)
            losses.append(np.concatenate(squares).mean())
        assert choices(stack)[i] == int(np.argmin(losses))


def test_a_fold_is_predicted_at_its_own_parameters() -> None:
    stack = StackingRegressor(
        [("lasso", Lasso())], "mean", cv=4, tune={"lasso": GRID}, hold_out="node", random_state=0
    ).fit(X, Y)
    fold = stack.deals_[0].lattice.fold_of
    for i in range(4):
        model = Lasso(GRID["alpha"][choices(stack)[i]]).fit(X[fold != i], Y[fold != i])
        np.testing.assert_allclose(stack.oof_["lasso"][fold == i], model.predict(X[fold == i]))


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_every_mode_can_be_tuned(predict_with: str) -> None:
    options = {"cv": 3, "predict_with": predict_with, "random_state": 0}
    stack = StackingRegressor(LEARNERS, "nnls", tune={"lasso": GRID}, **options).fit(X, Y)
    np.testing.assert_allclose(stack.predict(X[:1]), stack.predict(X)[:1])
    lower, upper = stack.predict_interval(X)
    assert (lower < upper).all()


def test_a_grid_of_one_point_is_no_tuning() -> None:
    options = {"cv": 3, "random_state": 0}
    tuned = StackingRegressor(LEARNERS, "nnls", tune={"lasso": {"alpha": [1.0]}}, **options)
    plain = StackingRegressor(LEARNERS, "nnls", **options)
    assert tuned.fit(X, Y).score_ == plain.fit(X, Y).score_
    np.testing.assert_array_equal(tuned.predict(X), plain.predict(X))


@pytest.mark.parametrize("predict_with", ["folds", "refit"])
def test_folds_that_share_their_training_rows_can_be_tuned(predict_with: str) -> None:
    tests = [np.arange(i, 60, 6) for i in range(6)]
    twos = [np.concatenate(tests[i // 2 * 2 : i // 2 * 2 + 2]) for i in range(6)]
    cv = [(np.setdiff1d(np.arange(60), two), test) for two, test in zip(twos, tests, strict=True)]
    how = {"cv": cv, "predict_with": predict_with, "random_state": 0}
    one = {"lasso": {"alpha": [1.0]}}
    tuned = StackingRegressor(LEARNERS, "mean", tune=one, **how).fit(X, Y)
    assert tuned.score_ == StackingRegressor(LEARNERS, "mean", **how).fit(X, Y).score_


def test_where_no_fold_may_train_for_another_the_first_point_is_taken() -> None:
    cv = [(np.arange(30, 60), np.arange(i, i + 10)) for i in (0, 10, 20)]
    stack = StackingRegressor(LEARNERS, "mean", cv=cv, tune={"lasso": GRID}, random_state=0)
    with pytest.warns(NoScoreWarning):
        stack.fit(X, Y)
    assert set(choices(stack).values()) == {0}
    assert stack.unjudged_folds_ == (0, 1, 2)


def test_only_models_that_prediction_needs_are_kept() -> None:
    stack = StackingRegressor(LEARNERS, "mean", cv=4, tune={"lasso": GRID}, random_state=0)
    models = stack.fit(X, Y).deals_[0].top.table.models
    assert len([cell for cell in models if cell[0] == "lasso"]) == 4


def test_classes_are_tuned_by_the_stacks_scoring() -> None:
    Xc, yc = make_classification(80, 5, random_state=0)
    stack = StackingClassifier(
        [("tree", DecisionTreeClassifier(random_state=0)), ("nb", GaussianNB())],
        "mean",
        cv=3,
        tune={"tree": {"max_depth": [1, 8]}},
        random_state=0,
    ).fit(Xc, yc)
    # Fully grown trees are certain, and now and then wrong: log-loss wants the stump.
    assert set(choices(stack, "tree").values()) == {0}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"tune": {"laso": GRID}},
            "StackingRegressor: tune must name learners of the stack; got 'laso'. "
            "Did you mean 'lasso'?",
        ),
        (
            {"tune": {"lasso": {"alhpa": [1]}}},
            "StackingRegressor: tune must hold parameters of 'lasso'; got 'alhpa'. "
            "Did you mean 'alpha'?",
        ),
        (
            {"tune": [1]},
            "StackingRegressor: tune must be a dict from learner names to grids; got [1]. "
            "Use e.g. {'ridge': {'alpha': [0.1, 1, 10]}}.",
        ),
    ],
)
def test_grids_are_checked(options: dict, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        StackingRegressor(LEARNERS, "mean", cv=3, **options).fit(X, Y)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "cv", [TimeSeriesSplit(3), ShuffleSplit(1, random_state=0)], ids=["time", "single"]
)
def test_what_cannot_be_tuned_says_to_wrap_the_learner(cv: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"Wrap the learner in GridSearchCV"):
        StackingRegressor(LEARNERS, "mean", cv=cv, tune={"lasso": GRID}).fit(X, Y)


def test_layers_cannot_be_tuned() -> None:
    layers = [LEARNERS, [("top", Ridge())]]
    with pytest.raises(InvalidParameterError, match="tune must be None with several layers"):
        StackingRegressor(layers, "mean", cv=4, tune={"lasso": GRID}).fit(X, Y)
