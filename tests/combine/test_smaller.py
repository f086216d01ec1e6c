import numpy as np
from numpy.testing import assert_array_equal

from foldwise.combine import elimination_order, simplex_weights


def slow_order(predictions, y, weight, cost):
    """Backward elimination with the weights of every smaller combination fitted anew."""

    def loss(models):
        some = predictions[:, models]
        combined = some @ simplex_weights(some, y, weight)
        return np.average((combined - y) ** 2, weights=weight)

    left, order = list(range(predictions.shape[1])), []
    while len(left) > 1:
        smaller = {m: [k for k in left if k != m] for m in left}
        price = {m: loss(s) - loss(left) for m, s in smaller.items()}
        price = {m: p / (cost(left) - cost(smaller[m])) for m, p in price.items()}
        order.append(min(left, key=price.get))
        left.remove(order[-1])
    return order + left


def test_the_order_is_that_of_refitting_every_smaller_combination():
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=80), rng.uniform(0.5, 2.0, 80)
    # All of them have weight, so that no two of them are missed equally little.
    models = y[:, None] + rng.normal(size=(80, 5)) * [1.0, 1.1, 1.2, 1.3, 1.4]
    for cost in (len, lambda places: sum([1.0, 50.0, 1.0, 1.0, 1.0][m] for m in places)):
        found = elimination_order(models[:, :, None], y, weight, cost=cost)
        assert_array_equal(found, slow_order(models, y, weight, cost))
    assert found[0] == 1


def test_a_copy_goes_before_anything_else_and_of_equals_the_dearer_one():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 60)
    good = rng.dirichlet(np.ones(3), 60) + 2 * np.eye(3)[y]
    other = rng.dirichlet(np.ones(3), 60) + np.eye(3)[y]
    models = np.stack([good / 3, other / 2, good / 3], axis=1)
    assert elimination_order(models, y, classes=True)[0] == 2
    dear = elimination_order(models, y, classes=True, cost=lambda m: sum([9, 1, 1][k] for k in m))
    assert dear[0] == 0
