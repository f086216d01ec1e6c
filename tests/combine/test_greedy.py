import numpy as np
import pytest

from foldwise.combine import (
    bagged_selection,
    greedy_selection,
    greedy_weights,
    running_sums,
    simplex_weights,
)
from foldwise.errors import InvalidParameterError

# Seed 002, "The Multistep-Approach": three models, two negatives and one positive.
SLIDE_Y = np.array([0, 0, 1])
SLIDE = np.array([[0.53, 0.17, 0.07], [0.62, 0.61, 0.95], [0.76, 0.41, 0.31]])
RNG = np.random.default_rng(0)
Y = RNG.normal(size=100)
MODELS = Y[:, None] + RNG.normal(size=(100, 6)) + RNG.normal(size=6) / 2


def brute_force(predictions, y, loss, n_steps):
    """Return the order of picks by forming every mean; ties to known models, then the first."""
    order, losses = [], []
    for _ in range(n_steps):
        each = [
            loss(predictions[:, [*order, m]].mean(axis=1), y) for m in range(predictions.shape[1])
        ]
        order.append(int(np.argmin(each)))
        losses.append(min(each))
    return order, losses


def squared(mean, y):
    return float(np.mean((mean - y) ** 2))


def logarithmic(mean, y):
    return float(-np.mean(np.log(np.where(y == 1, mean, 1 - mean))))


def test_the_slides_table_comes_out_digit_by_digit() -> None:
    sums = running_sums(SLIDE, SLIDE_Y)
    allowed = np.ones(3, dtype=bool)
    # The slide prints .280 in the last cell, which is a slip: it is .284.
    for model, row in [(0, "0.24 0.25 0.46"), (1, "0.24 0.22 0.31"), (0, "0.225 0.228 0.284")]:
        digits = 2 if model == 1 or row.startswith("0.24 0.25") else 3
        printed = " ".join(f"{loss:.{digits}f}" for loss in sums.additions(allowed))
        assert printed == row
        sums.add(model)


def test_selection_on_the_slide_stops_with_models_one_and_two() -> None:
    path = greedy_selection(SLIDE, SLIDE_Y, patience=1)
    assert path.order.tolist() == [0, 1, 0]
    assert path.n_best() == 2
    assert path.weights().tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("loss", ["squared", "log", "function"])
def test_the_order_is_that_of_forming_every_mean(loss: str) -> None:
    y = (Y > 0).astype(int) if loss == "log" else Y
    given = 1 / (1 + np.exp(-MODELS)) if loss == "log" else MODELS
    value = logarithmic if loss == "log" else squared
    order, losses = brute_force(given, y, value, 30)
    how = (lambda mean: squared(mean, y)) if loss == "function" else loss
    path = greedy_selection(given, y, loss=how, n_steps=30)
    assert path.order.tolist() == order
    np.testing.assert_allclose(path.losses, losses, rtol=1e-10)


def test_the_best_prefix_is_kept_and_the_shortest_of_equals() -> None:
    path = greedy_selection(MODELS, Y, n_steps=40)
    assert path.losses[path.n_best() - 1] == path.losses.min()
    assert greedy_selection(MODELS[:, [0, 0]], Y, n_steps=10).n_best() == 1


def test_without_repetition_every_model_is_picked_at_most_once() -> None:
    path = greedy_selection(MODELS, Y, n_steps=50, replace=False)
    assert sorted(path.order.tolist()) == list(range(6))
    weights = path.weights()
    assert set(weights[weights > 0].round(12)) == {round(1 / path.n_best(), 12)}


def test_ties_go_to_models_that_are_in() -> None:
    # The second column is the first again; it must never come in beside it.
    given = np.column_stack([MODELS[:, 1], MODELS[:, 1], MODELS[:, 2]])
    for loss in ("squared", lambda mean: round(squared(mean, Y), 1)):
        weights = greedy_weights(given, Y, loss=loss, n_steps=20)
        assert weights[1] == 0.0


def test_among_equals_a_known_model_comes_before_an_earlier_one() -> None:
    given = np.array([[2.0, 1.0]] * 3)
    path = greedy_selection(
        given, np.zeros(3), loss=lambda mean: float(mean.max() > 1.5), n_steps=4
    )
    assert path.order.tolist() == [1, 1, 1, 1]


def test_many_steps_come_near_the_convex_optimum() -> None:
    weights = greedy_weights(MODELS, Y, n_steps=2000)
    best = squared(MODELS @ simplex_weights(MODELS, Y), Y)
    assert squared(MODELS @ weights, Y) <= best * (1 + 1e-4)


def test_shrinkage_leads_to_the_plain_mean() -> None:
    path = greedy_selection(MODELS, Y)
    np.testing.assert_allclose(path.weights(shrinkage=1.0), np.full(6, 1 / 6))
    np.testing.assert_allclose(path.weights(shrinkage=0.5), (path.weights() + 1 / 6) / 2)


def test_fewer_steps_are_a_part_of_the_same_path() -> None:
    path = greedy_selection(MODELS, Y, n_steps=30)
    for n_steps in (1, 5, 20):
        np.testing.assert_allclose(
            path.weights(n_steps), greedy_weights(MODELS, Y, n_steps=n_steps), rtol=1e-12
        )


def test_patience_stops_after_so_many_steps_without_gain() -> None:
    path = greedy_selection(MODELS, Y, n_steps=500, patience=7)
    assert len(path.order) < 500
    assert len(path.order) - 1 - int(np.argmin(path.losses)) == 7


def test_bags_are_selections_from_parts_of_the_models() -> None:
    sums = running_sums(MODELS, Y)
    bagged = bagged_selection(sums, n_bags=7, fraction=0.5, random_state=3, n_steps=10)
    assert [len(part) for part in bagged.models] == [3] * 7
    total = np.zeros(6)
    for part in bagged.models:
        total[part] += greedy_weights(MODELS[:, part], Y, n_steps=10)
    np.testing.assert_allclose(bagged.weights(), total / 7)
    np.testing.assert_allclose(bagged.weights(shrinkage=0.2), 0.8 * total / 7 + 0.2 / 6)
    again = bagged_selection(sums, n_bags=7, fraction=0.5, random_state=3, n_steps=10)
    assert again.weights().tolist() == bagged.weights().tolist()


def test_rows_of_weight_two_are_two_rows() -> None:
    weight = RNG.integers(0, 3, 100)
    found = greedy_weights(MODELS, Y, weight.astype(float))
    twice = greedy_weights(np.repeat(MODELS, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(found, twice)


def test_an_unknown_loss_is_named() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        greedy_selection(MODELS, Y, loss="logs")
    assert str(caught.value) == (
        "greedy_selection: loss must be one of 'squared', 'log' or a function; got 'logs'. "
        "Did you mean 'log'?"
    )
