from concurrent.futures import ThreadPoolExecutor

import lightgbm
import numpy as np
import pandas as pd
import pytest

from foldwise.boost import NewtonBoostingClassifier, NewtonBoostingRegressor
from foldwise.boost.newton_trees import (
    BLOCK,
    categorical_columns,
    encode,
    learn_categories,
    objective_words,
    train,
    tree_words,
)
from foldwise.errors import InvalidParameterError
from foldwise.learners.one_learner import LearnerInput, WeightedRows
from foldwise.losses import Absolute, Huber, Poisson, Quantile, Squared, Tweedie
from foldwise.losses.classes import Exponential, Logistic, Multinomial

PARAMETERS = {
    "learning_rate": 0.1,
    "max_leaf_nodes": 7,
    "max_depth": None,
    "gamma": 0.0,
    "reg_lambda": 1.0,
    "subsample": 1.0,
    "max_features": 1.0,
    "min_samples_leaf": 5,
    "min_hessian": 1e-3,
    "max_bins": 255,
}
WORDS = tree_words(PARAMETERS) | {"verbosity": -1, "num_threads": 1}


@pytest.fixture
def rows() -> WeightedRows:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(float)
    return WeightedRows(LearnerInput(X, trusted=False), y, np.ones(200), False)


def fit(loss, rows, rounds=10, watch=None, patience=5):
    return train(
        WORDS,
        loss,
        rows,
        watch,
        rounds,
        lambda _: None,
        categorical=[],
        patience=patience,
    )


@pytest.mark.parametrize(
    ("loss", "objective"),
    [
        (Squared(), "regression"),
        (Absolute(), "regression_l1"),
        (Quantile(0.3), "quantile"),
        (Poisson(), "poisson"),
        (Tweedie(1.2), "tweedie"),
        (Logistic(), "binary"),
        (Multinomial(3), "multiclass"),
    ],
)
def test_lightgbm_knows_these_losses_by_name(loss, objective) -> None:
    assert objective_words(loss, np.ones(2), np.ones(2))["objective"] == objective


def test_lightgbm_does_not_know_the_exponential_loss() -> None:
    assert objective_words(Exponential(), np.ones(2), np.ones(2)) is None


def test_hubers_threshold_comes_from_the_targets() -> None:
    y = np.arange(101.0)
    assert objective_words(Huber(0.9), y, np.ones(101))["alpha"] == pytest.approx(45, abs=1)


def test_the_smallest_gain_is_twice_gamma() -> None:
    assert WORDS["min_gain_to_split"] == 0
    assert tree_words(PARAMETERS | {"gamma": 1.5})["min_gain_to_split"] == 3.0


def test_our_own_gradients_give_lightgbms_model(rows) -> None:
    class Own(Logistic):
        pass

    np.testing.assert_allclose(
        fit(Own(), rows).raw(rows.table), fit(Logistic(), rows).raw(rows.table), atol=1e-5
    )


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda loss: loss.name)
def test_the_stages_add_up(rows, loss) -> None:
    model = fit(loss, rows)
    stages = list(model.staged_raw(rows.table))
    assert len(stages) == 10
    np.testing.assert_allclose(stages[-1], model.raw(rows.table))
    np.testing.assert_allclose(stages[2], model.first(3).raw(rows.table))


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda loss: loss.name)
def test_the_watched_loss_ends_the_boosting(rows, loss) -> None:
    noise = WeightedRows(rows.table, 1 - rows.y, rows.weight, False)
    model = fit(loss, rows, 100, noise, patience=4)
    assert model.rounds < 20
    assert model.best_round == 1


def test_what_is_found_on_one_part_does_not_depend_on_another(rows) -> None:
    parts = [rows.part(np.arange(start, start + 50)) for start in (100, 150)]
    rows = rows.part(np.arange(100))
    alone = [fit(Logistic(), rows, 200, part, patience=4).best_round for part in parts]
    both = fit(Logistic(), rows, 200, parts, patience=4)
    assert both.best_rounds == tuple(alone)
    assert alone[0] != alone[1]
    assert both.rounds == max(alone) + 4


def test_models_of_the_first_rounds_answer_as_if_they_were_alone(rows) -> None:
    model = fit(Logistic(), rows, 300)
    found = model.firsts([10, 150, 256, 300, 10], rows.table)
    assert list(found) == [10, 150, 256, 300]
    assert np.array_equal(found[300].raw(rows.table), model.raw(rows.table))
    at_once = model.booster.predict(rows.table.X, raw_score=True) + model.offset
    assert np.allclose(model.raw(rows.table), at_once, atol=1e-12)
    for rounds, cut in found.items():
        assert np.array_equal(cut.raw(rows.table), model.first(rounds).raw(rows.table))
        alone = model.firsts([rounds], rows.table)[rounds]
        assert np.array_equal(cut.raw(rows.table), alone.raw(rows.table))


def test_few_trees_are_asked_about_at_once(rows, monkeypatch) -> None:
    """So that they stay in a cache; a round of several classes has as many trees."""
    calls: list[int] = []
    ask = lightgbm.Booster.predict

    def noted(self, *given, **how):
        calls.append(how["num_iteration"] * self.num_model_per_iteration())
        return ask(self, *given, **how)

    monkeypatch.setattr(lightgbm.Booster, "predict", noted)
    two = NewtonBoostingClassifier(n_estimators=600).fit(rows.table.X, rows.y)
    two.predict_proba(rows.table.X)
    assert calls == [256, 256, 88]
    calls.clear()
    ten = NewtonBoostingClassifier(n_estimators=30, min_samples_leaf=1)
    ten.fit(rows.table.X, np.arange(len(rows.y)) % 10).predict_proba(rows.table.X)
    assert calls == [250, 50]


TABLE = pd.DataFrame({"a": ["x", "y", None], "b": [1.0, 2.0, np.nan], "c": [True, False, True]})


def test_threads_that_ask_one_model_at_once_get_its_answers() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(300, 3)), rng.normal(size=(8000, 3))
    y = X[:, 0] + rng.normal(size=300)
    model = NewtonBoostingRegressor(n_estimators=2 * BLOCK + 9, max_leaf_nodes=8).fit(X, y)
    want = model.predict(new)
    with ThreadPoolExecutor(3) as pool:
        for told in pool.map(model.predict, [new] * 9):
            np.testing.assert_array_equal(told, want)


def test_text_columns_are_categories_and_numbers_are_not() -> None:
    assert categorical_columns("Owner", TABLE, "from_dtype") == [0]
    assert categorical_columns("Owner", np.zeros((2, 2)), "from_dtype") == []
    assert categorical_columns("Owner", TABLE, None) == []


@pytest.mark.parametrize("wanted", [["b"], [1], [False, True, False]])
def test_columns_can_be_named_numbered_or_masked(wanted) -> None:
    assert categorical_columns("Owner", TABLE, wanted) == [1]


def test_unknown_columns_are_refused() -> None:
    message = (
        "Owner: categorical_features must name columns of X; got 'z'. "
        "Use names, positions, a mask or 'from_dtype'."
    )
    with pytest.raises(InvalidParameterError) as caught:
        categorical_columns("Owner", TABLE, ["z"])
    assert str(caught.value) == message


def test_codes_count_the_sorted_values_and_missing_stays_missing() -> None:
    categories = learn_categories(TABLE, [0])
    assert categories[0].tolist() == ["x", "y"]
    codes = encode("Owner", TABLE, categories)
    np.testing.assert_array_equal(codes[:, 0], [0, 1, np.nan])
    np.testing.assert_array_equal(codes[:, 1], [1, 2, np.nan])
    np.testing.assert_array_equal(codes[:, 2], [1, 0, 1])


def test_values_of_mixed_kinds_can_be_categories() -> None:
    table = pd.DataFrame({"a": pd.Series([1, "x", 1], dtype=object)})
    assert learn_categories(table, [0])[0].tolist() == [1, "x"]


def test_text_left_out_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="column 'a' of object left out"):
        encode("Owner", TABLE.astype({"a": object}), {1: np.array([1.0])})
