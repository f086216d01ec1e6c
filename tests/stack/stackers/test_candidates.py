import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.metrics import accuracy_score
from sklearn.model_selection import FixedThresholdClassifier, KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.combine import nnls_weights
from foldwise.errors import FoldsWarning, InvalidParameterError, UnsupportedError
from foldwise.learners import TrainingData
from foldwise.scores.metric import as_metric
from foldwise.stack.problem import StackProblem
from foldwise.stack.stackers.candidates import candidates_from
from foldwise.stack.stackers.means import WeightedMean

X, Y = make_regression(90, 4, noise=20, random_state=0)
X3, Y3 = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
X2, Y2 = make_classification(100, 5, random_state=1)
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
CLASSIFIERS = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


def candidates(final: object, labels: object = None, weighted: bool = False) -> tuple:
    metric = as_metric(None, owner="S", classify=labels is not None, has_probabilities=True)
    weight = np.ones(2) if weighted else None
    problem = StackProblem(TrainingData(np.ones((2, 1)), np.arange(2), weight), labels)
    return candidates_from(final, problem, metric, "S")


def test_nnls_weights_are_those_of_the_out_of_fold_predictions() -> None:
    stack = StackingRegressor(LEARNERS, "nnls", cv=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(stack.stacker_.weights_, nnls_weights(stack.oof_.to_numpy(), Y))


def test_nnls_weights_of_classes_sum_to_one_and_the_probabilities_too() -> None:
    stack = StackingClassifier(CLASSIFIERS, "nnls", cv=3, random_state=0).fit(X3, Y3)
    assert stack.stacker_.weights_.sum() == pytest.approx(1.0)
    given = stack.predict_proba(X3)
    assert (given >= 0).all()
    np.testing.assert_allclose(given.sum(axis=1), 1.0)


def test_several_targets_have_weights_of_their_own() -> None:
    targets = np.column_stack([Y, np.random.default_rng(0).normal(size=90)])
    stack = StackingRegressor(LEARNERS, "nnls", cv=3, random_state=0).fit(X, targets)
    for t in range(2):
        own = stack.oof_[[f"ridge__{t}", f"tree__{t}"]].to_numpy()
        np.testing.assert_allclose(stack.stacker_.weights_[t], nnls_weights(own, targets[:, t]))


@pytest.mark.parametrize("cv", [4, TimeSeriesSplit(4)], ids=["dealt", "forward"])
def test_a_stacker_that_stops_early_is_given_rows_to_stop_on(cv: object) -> None:
    X, y = make_regression(200, 4, noise=20.0, random_state=0)
    top = LGBMRegressor(n_estimators=200, early_stopping_round=3, verbose=-1, n_jobs=1)
    learners = [("ridge", Ridge()), ("near", KNeighborsRegressor())]
    stack = StackingRegressor(learners, top, cv=cv, random_state=0).fit(X, y)
    assert 0 < stack.final_estimator_.best_iteration_ < 200
    assert np.isfinite(stack.score_)


def test_the_mean_is_the_mean() -> None:
    stack = StackingRegressor(LEARNERS, "mean", cv=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(stack.predict(X), stack.transform(X).mean(axis=1))


def test_the_best_is_the_best_out_of_fold() -> None:
    stack = StackingRegressor(LEARNERS, "best", cv=3, random_state=0).fit(X, Y)
    errors = ((stack.oof_.to_numpy() - Y[:, None]) ** 2).mean(axis=0)
    assert stack.stacker_.weights_.argmax() == errors.argmin()


@pytest.mark.parametrize("top", ["ridge", LinearRegression(), Ridge(5.0)])
@pytest.mark.parametrize("n_learners", [1, 2])
def test_the_weight_of_a_learner_is_the_slope_of_the_stacker(top: object, n_learners: int) -> None:
    stack = StackingRegressor(LEARNERS[:n_learners], top, cv=3, random_state=0).fit(X, Y)
    board = stack.leaderboard_.set_index("model")["weight"]
    start = np.zeros((1, n_learners))
    for m, (name, _) in enumerate(LEARNERS[:n_learners]):
        moved = start.copy()
        moved[0, m] = 1.0
        slope = stack.stacker_.predict(moved)[0] - stack.stacker_.predict(start)[0]
        assert board[name] == pytest.approx(slope, rel=1e-9)


def test_weights_of_learners_with_several_columns_or_trees_on_top_are_not_made_up() -> None:
    several = StackingClassifier(CLASSIFIERS, "logistic", cv=3, random_state=0).fit(X3, Y3)
    forest = StackingRegressor(LEARNERS, RandomForestRegressor(5), cv=3, random_state=0).fit(X, Y)
    assert several.leaderboard_["weight"].isna().all()
    assert forest.leaderboard_["weight"].isna().all()


def test_arguments_of_predict_reach_the_stacker() -> None:
    stack = StackingRegressor(LEARNERS, BayesianRidge(), cv=3, random_state=0).fit(X, Y)
    mean, std = stack.predict(X, return_std=True)
    np.testing.assert_allclose(mean, stack.predict(X))
    assert (std > 0).all()


def test_a_stackers_own_threshold_decides() -> None:
    top = FixedThresholdClassifier(LogisticRegression(), threshold=0.05)
    stack = StackingClassifier(CLASSIFIERS, top, cv=3, scoring="accuracy", random_state=0)
    stack.fit(X2, Y2)
    wanted = (stack.predict_proba(X2)[:, 1] >= 0.05).astype(int)
    assert stack.predict(X2).tolist() == wanted.tolist()
    verdict = stack.deals_[0].verdict
    same = stack.restack(LogisticRegression())
    judged = (same.deals_[0].verdict.response.values[:, 1] >= 0.05).astype(int)
    assert stack.score_ == pytest.approx(accuracy_score(verdict.target.y, judged))


def test_a_stacker_without_probabilities_bears_a_class_that_is_not_always_there() -> None:
    first, rest = np.flatnonzero(Y3 == 2), np.flatnonzero(Y3 != 2)
    rows = np.concatenate([first[:30], rest])
    stack = StackingClassifier(CLASSIFIERS, RidgeClassifier(), cv=KFold(3), random_state=0)
    with pytest.warns(FoldsWarning, match="class 2 is absent"):
        stack.fit(X3[rows], Y3[rows])
    assert 0 <= stack.score_ <= 1
    assert stack.decision_function(X3).shape == (120, 3)


def test_a_stacker_without_probabilities_bears_a_single_class_at_the_start() -> None:
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(60), rng.integers(0, 2, 40)].astype(int)
    learners = [("tree", DecisionTreeClassifier(max_depth=2))]
    stack = StackingClassifier(learners, RidgeClassifier(), cv=TimeSeriesSplit(5), random_state=0)
    with pytest.warns(FoldsWarning):
        stack.fit(rng.normal(size=(100, 3)), y)
    assert 0 <= stack.score_ <= 1


def test_a_bake_off_of_different_kinds_over_repeats_still_gives_probabilities_or_none() -> None:
    # Over several deals, a stacker with and one without probabilities may both be chosen.
    seen = set()
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(120)[:70]
        stack = StackingClassifier(
            CLASSIFIERS,
            ["mean", RidgeClassifier()],
            cv=3,
            n_repeats=3,
            scoring="accuracy",
            random_state=seed,
        ).fit(X3[rows], Y3[rows])
        seen.add(len({type(deal.verdict.stacker) for deal in stack.deals_}))
        assert set(stack.predict(X3)) <= {0, 1, 2}
        if hasattr(stack, "predict_proba"):
            given = stack.predict_proba(X3)
            assert (given >= 0).all()
            np.testing.assert_allclose(given.sum(axis=1), 1.0)
        if hasattr(stack, "decision_function"):
            assert stack.decision_function(X3).shape == (120, 3)
    assert seen <= {1, 2}


def test_the_default_is_a_bake_off_with_convex_weights_first() -> None:
    assert [c.name for c in candidates(None)] == ["simplex", "best", "ridge"]
    assert [c.name for c in candidates(None, np.array([0, 1]))] == ["simplex", "best", "pool"]


def test_the_default_reads_what_is_passed_through() -> None:
    metric = as_metric(None, owner="S", classify=True, has_probabilities=True)
    for kind, names in (
        (float, ["simplex", "best", "pool", "logistic"]),
        (str, ["simplex", "best", "pool"]),
    ):
        data = TrainingData(pd.DataFrame({"a": [0, 1]}).astype(kind), np.arange(2), None, 2)
        problem = StackProblem(data, np.array([0, 1]), ["a"])
        assert [c.name for c in candidates_from(None, problem, metric, "S")] == names


def test_a_grid_may_go_with_an_estimator_or_a_name() -> None:
    (own,) = candidates((Ridge(), {"alpha": [1, 2, 3]}))
    assert [point["alpha"] for point in own.grid] == [1, 2, 3]
    (named,) = candidates(("ridge", {"ridge__alpha": [7.0]}))
    assert named.grid == ({"ridge__alpha": 7.0},)


@pytest.mark.parametrize(
    ("final", "text"),
    [
        (
            "nnsl",
            "S: final_estimator must be a known name or an estimator; got 'nnsl'. "
            "Did you mean 'nnls'?",
        ),
        (
            [],
            "S: final_estimator must name at least one stacker; got []. "
            "Use None for the default bake-off.",
        ),
        (
            3,
            "S: final_estimator must be None, a name, an estimator, (estimator, grid) or a list of "
            "these; got 3. Use None for the default bake-off.",
        ),
    ],
)
def test_what_cannot_stand_on_top(final: object, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        candidates(final)
    assert str(caught.value) == text


def test_logistic_is_for_classes_and_ridge_for_numbers() -> None:
    with pytest.raises(InvalidParameterError, match="got 'logistic'"):
        candidates("logistic")
    with pytest.raises(InvalidParameterError, match="got 'ridge'"):
        candidates("ridge", np.array([0, 1]))


def test_weights_that_the_top_cannot_take_are_a_type_error() -> None:
    with pytest.raises(
        UnsupportedError, match="KNeighborsRegressor, which does not support sample"
    ):
        candidates(KNeighborsRegressor(), weighted=True)


def test_weights_reach_the_stacker() -> None:
    weight = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=3, random_state=0)
    stack.fit(X, Y, sample_weight=weight)
    some = weight > 0
    expected = LinearRegression().fit(stack.oof_.to_numpy()[some], Y[some], weight[some])
    np.testing.assert_allclose(stack.stacker_.coef_, expected.coef_, rtol=1e-8)


def test_a_fitted_mean_is_an_estimator() -> None:
    mean = WeightedMean().fit(np.ones((3, 2, 1)), np.zeros(3))
    assert mean.get_params()["rule"] == "mean"
    assert mean.weights_.tolist() == [0.5, 0.5]
