import numpy as np
import pytest

from foldwise.boost.newton_trees import Rows, objective_words, train, tree_words
from foldwise.losses import Absolute, Huber, Poisson, Quantile, Squared, Tweedie
from foldwise.losses.classes import Exponential, Logistic, Multinomial

WORDS = tree_words(
    learning_rate=0.1,
    max_leaf_nodes=7,
    max_depth=None,
    gamma=0.0,
    reg_lambda=1.0,
    subsample=1.0,
    max_features=1.0,
    min_samples_leaf=5,
    min_hessian=1e-3,
    max_bins=255,
) | {"verbosity": -1, "num_threads": 1}


@pytest.fixture
def rows() -> Rows:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return Rows(X, (X[:, 0] + rng.normal(size=200) > 0).astype(float), np.ones(200), False)


def fit(loss, rows, rounds=10, watch=None, patience=5):
    return train(
        WORDS,
        loss,
        rows,
        rounds,
        categorical=[],
        watch=watch,
        patience=patience,
        report=lambda _: None,
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
    words = {
        "learning_rate": 0.1,
        "max_leaf_nodes": 7,
        "max_depth": 3,
        "reg_lambda": 1.0,
        "subsample": 0.5,
        "max_features": 1.0,
        "min_samples_leaf": 5,
        "min_hessian": 1e-3,
        "max_bins": 255,
    }
    assert tree_words(gamma=1.5, **words)["min_gain_to_split"] == 3.0


def test_our_own_gradients_give_lightgbms_model(rows) -> None:
    class Own(Logistic):
        pass

    np.testing.assert_allclose(
        fit(Own(), rows).raw(rows.X, 1), fit(Logistic(), rows).raw(rows.X, 1), atol=1e-5
    )


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda loss: loss.name)
def test_the_stages_add_up(rows, loss) -> None:
    model = fit(loss, rows)
    stages = list(model.staged_raw(rows.X, 1))
    assert len(stages) == 10
    np.testing.assert_allclose(stages[-1], model.raw(rows.X, 1))
    np.testing.assert_allclose(stages[2], model.first(3).raw(rows.X, 1))


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda loss: loss.name)
def test_the_watched_loss_ends_the_boosting(rows, loss) -> None:
    noise = Rows(rows.X, 1 - rows.y, rows.weight, False)
    model = fit(loss, rows, 100, noise, patience=4)
    assert model.rounds < 20
    assert model.best_round == 1
