import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor as Reference
from sklearn.inspection import partial_dependence
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import GradientBoostingRegressor
from foldwise.boost import CustomLoss, Huber
from foldwise.errors import InvalidDataError, InvalidParameterError, UnsupportedError


@parametrize_with_checks([GradientBoostingRegressor(n_estimators=5)])
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def friedman() -> tuple[np.ndarray, np.ndarray]:
    return make_friedman1(400, noise=1.0, random_state=0)


def test_trees_and_squared_loss_are_scikit_learns_stage_by_stage(friedman) -> None:
    X, y = friedman
    weight = np.random.default_rng(0).random(len(y))
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    ours = GradientBoostingRegressor(tree, n_estimators=50).fit(X, y, sample_weight=weight)
    theirs = Reference(n_estimators=50, random_state=0).fit(X, y, sample_weight=weight)
    for mine, yours in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-3)


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile", "poisson", "tweedie", "squared"])
@pytest.mark.parametrize("learner", [None, Ridge()], ids=["tree", "ridge"])
def test_no_round_raises_the_training_loss(friedman, loss, learner) -> None:
    X, y = friedman
    y = np.abs(y)
    model = GradientBoostingRegressor(learner, loss, n_estimators=30, random_state=0).fit(X, y)
    if loss == "huber":  # its threshold, and with it the loss, changes from round to round
        assert model.train_loss_[-1] < model.train_loss_[0]
    else:
        losses = model.staged_loss(X, y)
        assert (np.diff(losses) <= 1e-12).all()
        np.testing.assert_allclose(losses, model.train_loss_, rtol=1e-9)


def test_quantiles_cover_their_share(friedman) -> None:
    X, y = friedman
    for level in [0.1, 0.5, 0.9]:
        model = GradientBoostingRegressor(loss="quantile", quantile=level, random_state=0)
        assert np.mean(y <= model.fit(X, y).predict(X)) == pytest.approx(level, abs=0.05)


def test_the_mean_of_counts_is_kept(friedman) -> None:
    X, y = friedman
    counts = np.random.default_rng(0).poisson(y)
    model = GradientBoostingRegressor(loss="poisson", random_state=0).fit(X, counts)
    assert model.predict(X).min() > 0
    assert model.predict(X).mean() == pytest.approx(counts.mean(), rel=0.02)


def test_a_line_search_over_a_linear_learner_finds_least_squares_at_once(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(LinearRegression(), n_estimators=1, learning_rate=1.0)
    expected = LinearRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, y).predict(X), expected, rtol=1e-8)
    assert model.steps_ == pytest.approx([1.0])


def test_boosting_stops_when_no_learner_lowers_the_loss(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(LinearRegression(), n_estimators=50, learning_rate=1.0)
    assert model.fit(X, y).n_estimators_ < 5


@pytest.mark.parametrize("step", ["line", "fixed", "leaf", "auto"])
def test_every_kind_of_step_learns(friedman, step) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(loss="absolute", step=step, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.3
    if step == "fixed":
        assert (model.steps_ == 1).all()


def test_each_round_keeps_the_best_of_the_set(friedman) -> None:
    X, y = friedman
    learners = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2, random_state=0))]
    both = GradientBoostingRegressor(learners, n_estimators=20).fit(X, y)
    assert set(both.members_) == {0, 1}
    single = [
        GradientBoostingRegressor(learner, n_estimators=1).fit(X, y) for _, learner in learners
    ]
    best = int(np.argmin([np.mean((y - m.predict(X)) ** 2) for m in single]))
    assert both.members_[0] == best


@pytest.mark.parametrize("learner", [KNeighborsRegressor(20), KernelRidge(alpha=0.1)])
def test_any_regressor_can_be_boosted(friedman, learner) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(learner, n_estimators=10, learning_rate=0.5).fit(X, y)
    assert model.score(X, y) > 0.5


def test_weights_are_refused_for_learners_that_take_none(friedman) -> None:
    X, y = friedman
    message = (
        "GradientBoostingRegressor: estimator must take sample_weight in fit when weights are "
        "given; got KNeighborsRegressor. Fit without them or change the learner."
    )
    with pytest.raises(UnsupportedError) as caught:
        GradientBoostingRegressor(KNeighborsRegressor()).fit(X, y, sample_weight=np.ones(400))
    assert str(caught.value) == message


def test_rows_and_columns_can_be_drawn(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(subsample=0.5, max_features=0.4, random_state=0).fit(X, y)
    assert {len(stage.columns) for stage in model.model_.stages} == {4}
    assert model.score(X, y) > 0.8
    again = GradientBoostingRegressor(subsample=0.5, max_features=0.4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_early_stopping_beats_overfitting_and_refits_on_all_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 5)), rng.normal(size=150)
    full = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)
    stopped = GradientBoostingRegressor(
        n_estimators=100, early_stopping=True, validation=5, random_state=0
    ).fit(X, y)
    assert stopped.n_estimators_ < full.n_estimators_
    X_new, y_new = rng.normal(size=(500, 5)), rng.normal(size=500)
    assert stopped.score(X_new, y_new) > full.score(X_new, y_new)


def test_a_loss_of_ones_own_gives_what_the_built_in_gives(friedman) -> None:
    X, y = friedman
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    own = CustomLoss(
        lambda y, raw: 0.5 * (y - raw) ** 2, lambda y, raw: raw - y, lambda y, _: np.ones(len(y))
    )
    ours = GradientBoostingRegressor(tree, own, n_estimators=10).fit(X, y).predict(X)
    built_in = GradientBoostingRegressor(tree, n_estimators=10).fit(X, y).predict(X)
    np.testing.assert_allclose(ours, built_in, rtol=1e-6)
    searched = CustomLoss(own.value, own.gradient)
    found = GradientBoostingRegressor(tree, searched, n_estimators=10).fit(X, y).predict(X)
    np.testing.assert_allclose(found, built_in, rtol=1e-6)


def test_a_constant_target_is_predicted_and_needs_no_round() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    for loss in ["squared", "absolute", "huber", "quantile", "poisson"]:
        model = GradientBoostingRegressor(loss=loss).fit(X, np.full(20, 3.0))
        np.testing.assert_allclose(model.predict(X), 3.0)
        assert model.n_estimators_ <= 1


def test_one_row_is_predicted_as_it_is() -> None:
    model = GradientBoostingRegressor().fit([[1.0, 2.0]], [5.0])
    assert model.predict([[0.0, 0.0]]).tolist() == [5.0]


def test_a_classifier_cannot_be_boosted() -> None:
    message = (
        "GradientBoostingRegressor: estimator must be a regressor: it is fitted to gradients; "
        "got LogisticRegression. Use the regressor of the same kind."
    )
    with pytest.raises(UnsupportedError) as caught:
        GradientBoostingRegressor(LogisticRegression()).fit([[0.0], [1.0]], [0.0, 1.0])
    assert str(caught.value) == message


def test_leaf_steps_need_a_tree() -> None:
    with pytest.raises(UnsupportedError, match="must be a scikit-learn tree for step='leaf'"):
        GradientBoostingRegressor(Ridge(), step="leaf").fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize(
    ("parameter", "bad", "rule"),
    [
        ("subsample", 0.0, "be a number above 0 and at most 1"),
        ("max_features", 2, "be a number above 0 and at most 1"),
        ("quantile", 1.0, "be a number above 0 and below 1"),
        ("power", 2.0, "be a number at least 1 and below 2"),
        ("step", "leef", "be one of 'auto', 'leaf', 'line', 'fixed'"),
        ("loss", "l2", "be a known name or a Loss"),
        ("estimator", [], "be a regressor or a list of them"),
        ("n_iter_no_change", 0, "be a whole number of at least 1"),
    ],
)
def test_bad_parameters_are_named(parameter, bad, rule) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        GradientBoostingRegressor(**{parameter: bad}).fit([[0.0], [1.0]], [0.0, 1.0])
    assert f"GradientBoostingRegressor: {parameter} must {rule}; got" in str(caught.value)


def test_folds_need_a_refit() -> None:
    message = (
        "GradientBoostingRegressor: refit must be 'scaled' or 'same' unless validation is a "
        "share; got None with validation=5. Use refit='scaled'."
    )
    with pytest.raises(InvalidParameterError) as caught:
        GradientBoostingRegressor(early_stopping=True, validation=5, refit=None).fit(
            [[0.0], [1.0]], [0.0, 1.0]
        )
    assert str(caught.value) == message


def test_negative_counts_are_refused() -> None:
    with pytest.raises(InvalidDataError, match="y must be at least 0"):
        GradientBoostingRegressor(loss="poisson").fit([[0.0], [1.0]], [1.0, -1.0])


def test_partial_dependence_works_on_it(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    found = partial_dependence(model, X, [3], grid_resolution=5)
    assert (np.diff(found["average"][0]) > 0).all()  # friedman1 rises in its fourth feature


def test_a_pipeline_learner_gets_the_data_frame() -> None:
    table = pd.DataFrame({"kind": ["a", "b"] * 20, "size": np.arange(40.0)})
    y = np.where(table["kind"] == "a", 0.0, 10.0) + table["size"].to_numpy()
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["size"])),
        Ridge(1e-6),
    )
    model = GradientBoostingRegressor(learner, n_estimators=3, learning_rate=1.0).fit(table, y)
    np.testing.assert_allclose(model.predict(table), y, atol=1e-3)


def test_importances_need_trees(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(Ridge(), n_estimators=2).fit(X, y)
    assert not hasattr(model, "feature_importances_")


def test_hubers_threshold_stays_where_the_user_put_it(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(loss=Huber(threshold=0.5), n_estimators=1, step="fixed")
    model.set_params(estimator=KNeighborsRegressor(1), learning_rate=1.0).fit(X, y)
    moved = model.predict(X) - np.median(y)
    assert np.abs(moved).max() <= 0.5 + 1e-12  # it was fitted to residuals clipped there
    assert model.loss_.threshold == 0.5


def test_one_threshold_judges_all_rounds_of_hubers_loss(friedman) -> None:
    X, y = friedman
    model = GradientBoostingRegressor(loss="huber", n_estimators=40, random_state=0).fit(X, y)
    threshold = Huber(0.9).adapted(y, np.full(400, np.median(y)), np.ones(400)).threshold
    assert model.loss_.threshold == threshold
    np.testing.assert_allclose(model.staged_loss(X, y), model.train_loss_)


def test_early_stopping_is_not_deceived_by_a_shrinking_threshold() -> None:
    # On pure noise more rounds only get worse, while ever smaller residuals of the training rows
    # shrink the threshold, and with it any loss under that threshold.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 5)), rng.standard_t(3, size=120)
    model = GradientBoostingRegressor(
        loss="huber", n_estimators=150, early_stopping=True, refit=None, random_state=0
    )
    curve = model.fit(X, y).model_.validation_loss
    assert len(curve) < 50
    assert model.n_estimators_ == curve.argmin() + 1


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
def test_monotone_trees_stay_monotone(loss, friedman) -> None:
    X, y = friedman
    signs = [0, 0, -1, 1, -1, 0, 0, 0, 0, 0]
    tree = DecisionTreeRegressor(max_depth=4, monotonic_cst=signs)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    model = GradientBoostingRegressor(tree, loss, n_estimators=20, random_state=0)
    model.fit(X, y, weight)
    assert (np.diff(model.train_loss_) < 1e-12).all()
    for column in 2, 3, 4:
        lines = np.repeat(X[:40], 30, axis=0)
        lines[:, column] = np.tile(np.linspace(0, 1, 30), 40)
        steps = np.diff(model.predict(lines).reshape(40, 30), axis=1) * signs[column]
        assert steps.min() >= -1e-12
        assert steps.max() > 0 or column != 3


def test_monotone_leaves_are_those_that_the_tree_had(friedman) -> None:
    X, y = friedman
    tree = DecisionTreeRegressor(max_depth=5, monotonic_cst=[1, 0, 0, -1, 0, 0, 0, 0, 0, 0])
    plain = tree.set_params(random_state=0).fit(X, y - y.mean())
    model = GradientBoostingRegressor(tree, n_estimators=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X) + y.mean(), atol=1e-6)
