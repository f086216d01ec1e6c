import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor

X, Y = make_regression(80, 4, noise=20, random_state=0)
XC, YC = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
LEARNERS = [
    ("ridge", Ridge()),
    ("tree", DecisionTreeRegressor(max_depth=3)),
    ("dummy", DummyRegressor()),
]


def board(stack: StackingRegressor) -> pd.DataFrame:
    return stack.leaderboard_.set_index("model")


@pytest.fixture(scope="module")
def stack() -> StackingRegressor:
    return StackingRegressor(LEARNERS, "nnls", cv=4, hold_out="node", random_state=0).fit(X, Y)


def test_it_lists_the_stack_each_learner_the_best_and_the_mean(stack: StackingRegressor) -> None:
    models = set(stack.leaderboard_["model"])
    assert models == {"stack", "ridge", "tree", "dummy", "best single", "plain mean"}
    assert list(stack.leaderboard_.columns) == [
        "model", "root_mean_squared_error", "se", "difference", "difference_se",
        "fit_seconds", "predict_seconds", "weight", "may_be_best", "p_stack_better",
    ]  # fmt: skip


def test_losses_are_positive_and_the_smallest_comes_first(stack: StackingRegressor) -> None:
    errors = stack.leaderboard_["root_mean_squared_error"]
    assert (errors > 0).all()
    assert errors.is_monotonic_increasing
    assert board(stack).loc["stack", "root_mean_squared_error"] == -stack.score_
    assert board(stack).loc["stack", "se"] == stack.score_se_


def test_scores_that_grow_with_quality_come_largest_first(stack: StackingRegressor) -> None:
    assert stack.restack(scoring="r2").leaderboard_["r2"].is_monotonic_decreasing


@pytest.mark.parametrize("name", ["ridge", "tree", "dummy"])
def test_a_learner_has_its_plain_out_of_fold_error(stack: StackingRegressor, name: str) -> None:
    # With hold_out="node" a learner's hold-out prediction is its out-of-fold prediction.
    expected = root_mean_squared_error(Y, stack.oof_[name])
    assert board(stack).loc[name, "root_mean_squared_error"] == pytest.approx(expected)


def test_the_plain_mean_has_the_error_of_the_mean(stack: StackingRegressor) -> None:
    expected = root_mean_squared_error(Y, stack.oof_.mean(axis=1))
    found = board(stack).loc["plain mean", "root_mean_squared_error"]
    assert found == pytest.approx(expected)


def test_the_best_single_is_chosen_without_the_fold_it_is_judged_on() -> None:
    # On noise the naive best of many is below each honest choice.
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    many = [(f"t{i}", DecisionTreeRegressor(random_state=i, max_features=1)) for i in range(8)]
    stack = StackingRegressor(many, "mean", cv=4, random_state=0).fit(rng.normal(size=(60, 4)), y)
    each = board(stack)
    lucky = each.loc[[name for name, _ in many], "root_mean_squared_error"].min()
    assert each.loc["best single", "root_mean_squared_error"] >= lucky


def test_differences_are_to_the_stack_in_the_natural_sign(stack: StackingRegressor) -> None:
    each = board(stack)
    errors = each["root_mean_squared_error"]
    np.testing.assert_allclose(each["difference"], errors - errors["stack"], atol=1e-12)
    assert each.loc["stack", "difference_se"] == 0
    assert (each.drop("stack")["difference_se"] > 0).all()


def test_who_may_be_best_is_said_of_every_judged_row(stack: StackingRegressor) -> None:
    each = board(stack)
    assert each["may_be_best"].iloc[0]
    assert not each.loc["dummy", "may_be_best"]
    leads = each["difference"] / each["difference_se"]
    rest = ["ridge", "tree", "dummy", "plain mean"]
    # Paired and one-sided; inside folds the errors are a little smaller.
    np.testing.assert_allclose(
        each.loc[rest, "p_stack_better"], norm.sf(leads[rest].astype(float)), atol=0.05
    )
    learners = each.loc[["ridge", "tree", "dummy"], "p_stack_better"]
    assert each.loc["best single", "p_stack_better"] == learners.max()
    assert np.isnan(each.loc["stack", "p_stack_better"])
    assert stack.p_stack_better_ == learners.max()


def test_weights_and_times_are_the_learners(stack: StackingRegressor) -> None:
    each = board(stack)
    found = each.loc[["ridge", "tree", "dummy"], "weight"]
    np.testing.assert_allclose(found, stack.stacker_.weights_)
    own = each.loc[["ridge", "tree", "dummy"], "fit_seconds"]
    assert (own > 0).all()
    assert each.loc["stack", "fit_seconds"] == pytest.approx(own.sum())


def test_classes_are_scored_in_probabilities() -> None:
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    stack = StackingClassifier(learners, "mean", cv=3, hold_out="node", random_state=0).fit(XC, YC)
    expected = log_loss(YC, stack.oof_[["nb__0", "nb__1", "nb__2"]])
    assert board(stack).loc["nb", "log_loss"] == pytest.approx(expected)


def test_lower_layers_are_listed_with_their_times_only() -> None:
    layers = [[("low", Ridge())], [("high", LinearRegression())]]
    each = board(StackingRegressor(layers, "mean", cv=4, random_state=0).fit(X, Y))
    assert np.isnan(each.loc["low", "root_mean_squared_error"])
    assert each.loc["low", "fit_seconds"] > 0


@pytest.mark.parametrize("name", ["stack", "best single", "plain mean"])
def test_no_learner_can_take_the_name_of_another_row(name: str) -> None:
    learners = [(name, DummyRegressor()), ("ridge", Ridge())]
    with pytest.raises(ValueError, match=name):
        StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(X, Y)


def test_repeats_average_scores_and_do_not_shrink_the_error() -> None:
    one = StackingRegressor(LEARNERS, "mean", cv=3, random_state=0).fit(X, Y)
    many = StackingRegressor(LEARNERS, "mean", cv=3, n_repeats=4, random_state=0).fit(X, Y)
    assert len(many.fold_scores_) == 12
    assert many.score_se_ == pytest.approx(one.score_se_, rel=0.3)
    each = [d.verdict for d in many.deals_]
    scores = [-root_mean_squared_error(v.target.y, v.response.values[:, 0]) for v in each]
    assert many.score_ == pytest.approx(np.mean(scores))


def test_out_of_fold_predictions_of_uncovered_rows_are_missing() -> None:
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(80)]).rename(columns=str)
    stack = StackingRegressor(LEARNERS[:1], "mean", cv=TimeSeriesSplit(3)).fit(frame, Y)
    assert stack.oof_["ridge"].isna().tolist() == [True] * 20 + [False] * 60
    assert stack.oof_.index.equals(frame.index)


def test_out_of_fold_predictions_are_from_models_that_did_not_see_the_row() -> None:
    stack = StackingRegressor([("ridge", Ridge())], "mean", cv=4, random_state=0).fit(X, Y)
    lattice = stack.deals_[0].lattice
    for train, test in zip(lattice.trains, lattice.tests, strict=True):
        expected = Ridge().fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_allclose(stack.oof_["ridge"].to_numpy()[test], expected)


def test_a_stack_without_a_score_still_has_a_board() -> None:
    with pytest.warns(UserWarning, match="no honest score"):
        stack = StackingClassifier([("nb", GaussianNB())], LogisticRegression(), cv=2).fit(XC, YC)
    assert np.isnan(stack.score_)
    assert np.isnan(stack.score_se_)
    assert stack.fold_scores_.size == 0
    assert stack.leaderboard_["log_loss"].isna().all()
