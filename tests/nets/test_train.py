"""Many networks as one tensor are as many networks."""

from dataclasses import replace

import numpy as np
import pytest

from foldwise.nets.network import Shape, bent_by, first_weights, numpy_silu, respond
from foldwise.nets.train import NodeRows, Recipe, answers, train

torch = pytest.importorskip("torch")

SHAPE = Shape(
    n_waved=3, n_straight=2, n_outputs=2, n_members=3, width=8, n_layers=2, n_frequencies=4
)
RECIPE = Recipe(SHAPE, False, 4, 5, None, 2e-3, 0.02, 0.2, "float64")


def nodes(lengths, classify=False, n_stop=9):
    rng = np.random.default_rng(0)

    def rows(n):
        x = rng.standard_normal((n, 5))
        y = np.column_stack([np.sin(x[:, 0]), x[:, 3]])
        if classify:
            y = np.eye(2)[(y[:, 0] + y[:, 1] > 0).astype(int)]
        return x, y, rng.uniform(0.5, 2, n)

    return [NodeRows(*rows(n), *rows(n_stop + i), seed=i) for i, n in enumerate(lengths)]


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("residual", [False, True])
def test_twenty_steps_together_are_twenty_steps_alone(classify, residual) -> None:
    recipe = replace(RECIPE, classify=classify, shape=replace(SHAPE, residual=residual))
    several = nodes([64, 90, 79], classify)
    together = train(torch, several, recipe, "cpu")
    for node, one in zip(several, together, strict=True):
        (alone,) = train(torch, [node], recipe, "cpu")
        assert len(alone.losses) == 5  # of four steps each
        assert alone.best_epoch == one.best_epoch
        np.testing.assert_allclose(one.losses, alone.losses, rtol=1e-8)
        for name, values in alone.weights.items():
            np.testing.assert_allclose(one.weights[name], values, rtol=1e-8, atol=1e-10)


def test_no_node_hears_of_the_rows_of_another() -> None:
    several = nodes([64, 64])
    before = train(torch, several, RECIPE, "cpu")
    other = replace(several[1], y=-several[1].y, x_stop=several[1].x_stop + 1)
    after = train(torch, [several[0], other], RECIPE, "cpu")
    for name, values in before[0].weights.items():
        np.testing.assert_array_equal(after[0].weights[name], values)
        assert not np.array_equal(after[1].weights[name], before[1].weights[name])


def test_each_node_keeps_its_own_best_epoch_and_stops_alone() -> None:
    recipe = replace(RECIPE, epochs=40, patience=3, learning_rate=0.05)
    several = nodes([32, 40, 36], n_stop=4)
    together = train(torch, several, recipe, "cpu")
    assert len({one.best_epoch for one in together}) > 1
    for one in together:
        assert one.best_epoch == one.losses.argmin() + 1
        assert len(one.losses) <= one.best_epoch + 3
    shape, node = recipe.shape, several[0]
    mean = answers(None, "cpu", shape, together[0].weights, node.x_stop).mean(axis=0)
    loss = np.average(((mean - node.y_stop) ** 2).mean(axis=1), weights=node.weight_stop)
    assert loss == pytest.approx(together[0].losses.min(), rel=1e-10)


def test_numpy_and_torch_give_one_answer() -> None:
    weights = first_weights(SHAPE, np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal((50, 5))
    ours = answers(None, "cpu", SHAPE, weights, x)
    np.testing.assert_allclose(ours, answers(torch, "cpu", SHAPE, weights, x), rtol=1e-12)


def test_the_answer_is_that_of_the_formula() -> None:
    w = first_weights(SHAPE, np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal((6, 5))
    whole = respond(np, bent_by(numpy_silu), SHAPE, {k: v[None] for k, v in w.items()}, x[None])[0]
    for row in range(6):
        waves = [
            np.cos(x[row, c] * w["frequency"][c] + w["phase"][c]) @ w["wave_mix"][c]
            + w["wave_bias"][c]
            for c in range(3)
        ]
        read = np.concatenate([x[row], *waves])
        for member in range(3):
            hidden = read * w["scale"][member]
            for layer in range(2):
                line = hidden @ w[f"matrix_{layer}"] + w[f"bias_{layer}"]
                bend = w[f"bend_{layer}"]
                hidden = (1 - bend) * line + bend * line / (1 + np.exp(-line))
            said = hidden @ w["head"][member] + w["head_bias"][member]
            np.testing.assert_allclose(whole[member, row], said, rtol=1e-12)


def test_left_out_units_are_as_many_as_asked_for_and_never_the_same() -> None:
    from foldwise.nets.train import _Dropout

    recipe = replace(RECIPE, dropout=0.25)
    dropout = _Dropout(torch, nodes([64, 64]), recipe, np.ones(200), 16, "cpu")
    ones = torch.ones((2, 48, 8), dtype=torch.float64)
    masks = []
    for number in range(200):
        dropout.number = torch.tensor([number])
        masks.append(dropout.drop(ones, 0).numpy())
    masks = np.stack(masks)
    assert set(np.unique(masks)) == {0.0, 4 / 3}
    assert masks.mean() == pytest.approx(1.0, abs=0.02)
    assert not np.array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[:, 0], masks[:, 1])
