import numpy as np

from foldwise.checks import row_shares
from foldwise.combine.shapes import one_column_a_model, truth_probabilities

RNG = np.random.default_rng(0)


def test_shares_sum_to_one() -> None:
    np.testing.assert_allclose(row_shares(3, np.array([1.0, 0.0, 3.0])), [0.25, 0.0, 0.75])


def test_class_codes_and_their_ones_and_zeros_are_the_same_target() -> None:
    probabilities = RNG.dirichlet(np.ones(3), size=(5, 2))
    codes = np.array([0, 2, 1, 1, 0])
    weight = np.arange(1.0, 6.0)
    by_code = one_column_a_model(probabilities, codes, weight)
    by_row = one_column_a_model(probabilities, np.eye(3)[codes], weight)
    for a, b in zip(by_code, by_row, strict=True):
        np.testing.assert_array_equal(a, b)
    columns, target, shares = by_code
    assert columns.shape == (15, 2)
    assert shares.sum() == 1.0
    loss = sum(
        weight[i] / 15 * ((probabilities[i, 0] - np.eye(3)[codes[i]]) ** 2).mean() for i in range(5)
    )
    np.testing.assert_allclose(shares @ (columns[:, 0] - target) ** 2, loss)


def test_the_probability_of_the_truth_is_the_same_for_one_and_two_columns() -> None:
    second = RNG.uniform(size=(6, 3))
    codes = np.array([0, 1, 1, 0, 1, 0])
    both = np.stack([1 - second, second], axis=2)
    for given in (second, second[:, :, None], both):
        np.testing.assert_allclose(
            truth_probabilities(given, codes), both[np.arange(6), :, codes], rtol=1e-15
        )


def test_an_impossible_truth_keeps_a_small_probability() -> None:
    assert truth_probabilities(np.array([[0.0]]), np.array([1]))[0, 0] > 0
