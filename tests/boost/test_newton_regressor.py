import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import NewtonBoostingRegressor
from foldwise.boost import CustomLoss, newton_trees
from foldwise.errors import FoldwiseWarning, InvalidParameterError

EXACT = {
    "learning_rate": 1.0,
    "min_samples_leaf": 1,
    "min_hessian": 0.0,
    "lightgbm_params": {"min_data_in_bin": 1},
}
WEIGHTS_DIFFER = {
    "check_sample_weight_equivalence_on_dense_data": "features are binned",
    "check_sample_weight_equivalence_on_sparse_data": "features are binned",
}


@parametrize_with_checks(
    [NewtonBoostingRegressor(n_estimators=20, min_samples_leaf=5)],
    expected_failed_checks=lambda _: WEIGHTS_DIFFER,
)
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


def column_gains(X, g, h, lam):
    """Return for each column the best (gain without γ, left rows), by trying all splits."""

    def score(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + lam)

    best = []
    for column in range(X.shape[1]):
        whole = score(np.full(len(g), True))
        found = (-np.inf, None)
        for cut in np.unique(X[:, column])[:-1]:
            left = X[:, column] <= cut
            gain = 0.5 * (score(left) + score(~left) - whole)
            found = max(found, (gain, left), key=lambda split: split[0])
        best.append(found)
    return best


def brute_force_tree(X, g, h, lam, gamma, leaves):
    """Grow a tree best split first; return −G/(H+λ) of each row's leaf.

    As LightGBM does, a column that gains no more than γ at a node is not looked at below it.
    """
    parts = [(np.arange(len(g)), set(range(X.shape[1])))]
    while len(parts) < leaves:
        splits = []
        for part, columns in parts:
            found = column_gains(X[part], g[part], h[part], lam)
            alive = {c for c in columns if found[c][0] > gamma}
            gain, left = max((found[c] for c in alive), default=(0, None), key=lambda s: s[0])
            splits.append((gain, left, alive))
        best = int(np.argmax([gain for gain, *_ in splits]))
        gain, left, alive = splits[best]
        if not alive:
            break
        part, _ = parts.pop(best)
        parts += [(part[left], alive), (part[~left], alive)]
    value = np.empty(len(g))
    for part, _ in parts:
        value[part] = -g[part].sum() / (h[part].sum() + lam)
    return value


@pytest.mark.parametrize("lam", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0, 1e9])
@pytest.mark.parametrize("leaves", [2, 5])
def test_the_first_tree_is_the_one_of_brute_force(lam, gamma, leaves) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=50)
    model = NewtonBoostingRegressor(
        n_estimators=1, max_leaf_nodes=leaves, reg_lambda=lam, gamma=gamma, **EXACT
    ).fit(X, y)
    expected = brute_force_tree(X, y.mean() - y, np.ones(50), lam, gamma, leaves)
    np.testing.assert_allclose(model.predict(X) - y.mean(), expected, rtol=1e-6, atol=1e-6)


def test_targets_far_from_zero_keep_their_digits() -> None:
    X, y = make_friedman1(300, random_state=0)
    near = NewtonBoostingRegressor(n_estimators=20).fit(X, y)
    far = NewtonBoostingRegressor(n_estimators=20).fit(X, y + 1e8)
    np.testing.assert_allclose(far.predict(X) - 1e8, near.predict(X), atol=1e-3)


def test_missing_values_may_carry_the_signal() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[::2, 0] = np.nan
    y = np.isnan(X[:, 0]).astype(float)
    model = NewtonBoostingRegressor(learning_rate=0.5, reg_lambda=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)


def frames():
    kinds = np.array(["red", "green", "blue", "black"] * 50)
    size = np.arange(200.0)
    y = np.isin(kinds, ["red", "black"]) * 10.0
    return [
        (pd.DataFrame({"kind": pd.Categorical(kinds), "size": size}), y),
        (pd.DataFrame({"kind": kinds, "size": size}), y),
        (pl.DataFrame({"kind": kinds, "size": size}), y),
        (pl.DataFrame({"kind": kinds, "size": size}).cast({"kind": pl.Categorical}), y),
    ]


@pytest.mark.parametrize("table_and_target", frames(), ids=["category", "text", "polars", "cat"])
def test_categories_are_found_in_any_frame(table_and_target) -> None:
    table, y = table_and_target
    model = NewtonBoostingRegressor(max_leaf_nodes=2, reg_lambda=0.0, learning_rate=0.5)
    model.fit(table, y)
    assert list(model.categories_) == [0]
    assert model.predict(table).shape == (200,)
    assert model.score(table, y) > 0.9
    assert model.feature_names_in_.tolist() == ["kind", "size"]


def test_an_unseen_category_counts_as_missing() -> None:
    table, y = frames()[1]
    model = NewtonBoostingRegressor().fit(table, y)
    new = pd.DataFrame({"kind": ["mauve", None], "size": [1.0, 1.0]})
    unseen, missing = model.predict(new)
    assert unseen == missing


def test_monotone_constraints_hold() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = np.sin(8 * X[:, 0]) + X[:, 1]
    grid = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    for constraint in [[1, 0], {"a": 1}]:
        table = pd.DataFrame(X, columns=["a", "b"]) if isinstance(constraint, dict) else X
        asked = pd.DataFrame(grid, columns=["a", "b"]) if isinstance(constraint, dict) else grid
        model = NewtonBoostingRegressor(monotonic_cst=constraint).fit(table, y)
        assert (np.diff(model.predict(asked)) >= -1e-12).all()


def test_a_bad_constraint_is_refused() -> None:
    message = (
        "NewtonBoostingRegressor: monotonic_cst must give -1, 0 or 1 for the 2 columns, or a "
        "dict of their names; got [1]. Use 0 for columns without a constraint."
    )
    with pytest.raises(InvalidParameterError) as caught:
        NewtonBoostingRegressor(monotonic_cst=[1]).fit(np.zeros((3, 2)), np.arange(3.0))
    assert str(caught.value) == message


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_quantiles_cover_their_share(level) -> None:
    X, y = make_friedman1(600, random_state=0)
    model = NewtonBoostingRegressor("quantile", quantile=level, max_leaf_nodes=7).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(level, abs=0.06)


@pytest.mark.parametrize("loss", ["absolute", "huber", "poisson", "tweedie"])
def test_every_loss_learns(loss) -> None:
    X, y = make_friedman1(300, random_state=0)
    y = np.abs(y)
    model = NewtonBoostingRegressor(loss).fit(X, y)
    assert model.score(X, y) > 0.7
    staged = list(model.staged_predict(X))
    np.testing.assert_allclose(staged[-1], model.predict(X))
    assert model.staged_loss(X, y)[-1] < model.staged_loss(X, y)[0]


def test_a_loss_of_ones_own_gives_what_the_built_in_gives() -> None:
    X, y = make_friedman1(300, random_state=0)
    own = CustomLoss(lambda y, raw: 0.5 * (y - raw) ** 2, lambda y, raw: raw - y)
    ours = NewtonBoostingRegressor(own, n_estimators=20).fit(X, y).predict(X)
    np.testing.assert_allclose(
        ours, NewtonBoostingRegressor(n_estimators=20).fit(X, y).predict(X), rtol=1e-4
    )


def test_early_stopping_refits_for_scaled_rounds() -> None:
    X, y = make_friedman1(300, noise=3.0, random_state=0)
    model = NewtonBoostingRegressor(
        n_estimators=200, early_stopping=True, validation=0.25, random_state=0
    )
    kept = model.set_params(refit=None).fit(X, y).n_estimators_
    assert kept < 100
    assert len(model.validation_loss_) == kept + 10
    scaled = model.set_params(refit="scaled").fit(X, y).n_estimators_
    assert scaled == round(kept * 300 / 225)
    assert model.set_params(refit="same").fit(X, y).n_estimators_ == kept


def test_rounds_are_averaged_over_folds() -> None:
    X, y = make_friedman1(200, noise=3.0, random_state=0)
    model = NewtonBoostingRegressor(early_stopping=True, validation=4, random_state=0)
    assert model.fit(X, y).n_estimators_ < 100


def test_constant_targets_and_single_rows_are_predicted_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    for loss in ["squared", "absolute", "quantile", "poisson"]:
        model = NewtonBoostingRegressor(loss, n_estimators=3).fit(X, np.full(20, 3.0))
        np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-6)
    single = NewtonBoostingRegressor().fit([[1.0, 2.0]], [5.0])
    np.testing.assert_allclose(single.predict([[0.0, 0.0]]), [5.0])


def test_sparse_rows_give_the_same_as_dense_ones() -> None:
    X, y = make_friedman1(200, random_state=0)
    X[X < 0.3] = 0
    model = NewtonBoostingRegressor(n_estimators=10)
    dense = model.fit(X, y).predict(X)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(model.fit(rows, y).predict(rows), dense)


def test_weights_count_like_repetition_on_average() -> None:
    # The bins of repeated rows differ, so the models only agree in law: their errors do.
    errors = []
    for seed in range(5):
        X, y = make_friedman1(1400, noise=1.0, random_state=seed)
        X, y, X_new, y_new = X[:400], y[:400], X[400:], y[400:]
        weight = np.random.default_rng(seed).integers(0, 3, size=400)
        model = NewtonBoostingRegressor(min_samples_leaf=1, min_hessian=5.0, n_estimators=50)
        weighted = model.fit(X, y, sample_weight=weight).predict(X_new)
        repeated = model.fit(X.repeat(weight, axis=0), y.repeat(weight)).predict(X_new)
        errors.append([np.mean((y_new - p) ** 2) for p in (weighted, repeated)])
    weighted, repeated = np.mean(errors, axis=0)
    assert weighted == pytest.approx(repeated, rel=0.03)


def test_strange_feature_names_do_not_matter() -> None:
    X, y = make_friedman1(100, random_state=0)
    table = pd.DataFrame(X, columns=[f'a"[{i}],:{{}}' for i in range(10)])
    assert NewtonBoostingRegressor(n_estimators=3).fit(table, y).predict(table).shape == (100,)


def test_the_same_seed_gives_the_same_trees() -> None:
    X, y = make_friedman1(300, random_state=0)
    model = NewtonBoostingRegressor(n_estimators=5, subsample=0.5, max_features=0.5, random_state=3)
    one = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(one, model.set_params(n_jobs=2).fit(X, y).predict(X))


def test_importances_sum_to_one() -> None:
    X, y = make_friedman1(300, random_state=0)
    importances = NewtonBoostingRegressor(n_estimators=10).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:5].sum() > 0.8


@pytest.mark.parametrize(
    ("parameter", "bad"),
    [("gamma", -1), ("max_leaf_nodes", 1), ("subsample", 0), ("max_depth", 0), ("max_bins", 1)],
)
def test_bad_parameters_are_named(parameter, bad) -> None:
    with pytest.raises(InvalidParameterError, match=f"NewtonBoostingRegressor: {parameter} must"):
        NewtonBoostingRegressor(**{parameter: bad}).fit(np.zeros((3, 2)), np.arange(3.0))


def test_small_tables_are_learned_from() -> None:
    X = np.random.default_rng(0).normal(size=(38, 2))
    y = 3 * X[:, 0]
    assert NewtonBoostingRegressor().fit(X, y).score(X, y) > 0.8


def test_leaves_too_large_for_the_table_are_said() -> None:
    X = np.arange(38.0)[:, None]
    with pytest.warns(FoldwiseWarning, match="min_samples_leaf=20 allows no split of 38 rows"):
        model = NewtonBoostingRegressor(min_samples_leaf=20).fit(X, X[:, 0])
    assert np.ptp(model.predict(X)) == 0


def test_two_hundred_rows_have_the_leaves_of_large_tables() -> None:
    X, y = make_friedman1(200, random_state=0)
    auto, twenty = (
        NewtonBoostingRegressor(n_estimators=5, min_samples_leaf=least).fit(X, y).predict(X)
        for least in ("auto", 20)
    )
    assert np.array_equal(auto, twenty)


def test_a_misspelt_word_for_lightgbm_is_refused() -> None:
    model = NewtonBoostingRegressor(lightgbm_params={"num_leavs": 3})
    with pytest.raises(InvalidParameterError, match=r"got 'num_leavs'\. Did you mean 'num_leaves'"):
        model.fit([[0.0], [1.0]], [0.0, 1.0])


def test_aliases_of_lightgbms_words_are_known() -> None:
    X, y = make_friedman1(100, random_state=0)
    NewtonBoostingRegressor(lightgbm_params={"extra_tree": True, "reg_alpha": 1.0}).fit(X, y)


def test_a_constraint_on_categories_is_refused(capfd) -> None:
    X, y = np.arange(60.0)[:, None] % 3, np.arange(60.0)
    for more in {"monotonic_cst": [1]}, {"lightgbm_params": {"mc": "1"}}:
        model = NewtonBoostingRegressor(categorical_features=[0], **more)
        with pytest.raises(InvalidParameterError, match="0 for columns of categories"):
            model.fit(X, y)
    assert not any(capfd.readouterr())


def test_more_leaves_than_lightgbm_takes_are_refused_without_its_own_words(capfd) -> None:
    with pytest.raises(InvalidParameterError, match=r"max_leaf_nodes must be .* at most 131072"):
        NewtonBoostingRegressor(max_leaf_nodes=200_000).fit([[0.0], [1.0]], [0.0, 1.0])
    assert not any(capfd.readouterr())


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"num_leaves": 1}, r"\(num_leaves\) > \(1\)"),
        ({"boosting": "foo"}, "Unknown boosting type"),
    ],
)
def test_what_lightgbm_refuses_is_an_error_of_ours_and_only_ours(bad, said, capfd) -> None:
    model = NewtonBoostingRegressor(lightgbm_params=bad)
    wanted = f"be what LightGBM can train with; got .*LightGBM says: .*{said}"
    with pytest.raises(InvalidParameterError, match=wanted):
        model.fit([[0.0], [1.0]], [0.0, 1.0])
    assert not any(capfd.readouterr())


@pytest.mark.parametrize("early_stopping", [False, True])
def test_boosting_ends_when_its_time_is_up(early_stopping, monkeypatch) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(newton_trees.time, "monotonic", lambda: float(next(now)))
    X, y = make_friedman1(200, random_state=0)
    model = NewtonBoostingRegressor(
        n_estimators=40, max_seconds=9.5, early_stopping=early_stopping, refit=None, random_state=0
    ).fit(X, y)
    assert model.n_estimators_ == 10
    # The clock is read once at the start and once a round.
    same = model.set_params(n_estimators=10, max_seconds=None)
    before = model.predict(X)
    np.testing.assert_array_equal(same.fit(X, y).predict(X), before)
