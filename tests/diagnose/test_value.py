import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable, exact_shapley, model_values
from foldwise.errors import InvalidParameterError


def numbers(n_models: int = 4, **kwargs) -> OutOfFoldTable:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    noise = rng.normal(size=(60, n_models)) * np.linspace(0.2, 1.0, n_models)
    return OutOfFoldTable.from_arrays(y[:, None] + noise, y, **kwargs)


def test_a_table_of_numbers_is_judged_by_its_plain_mean() -> None:
    table = numbers(3)
    found = model_values(table)
    p, y = table.predictions[0, :, :, 0], table.y

    def worth(subset):
        centre = p[:, list(subset)].mean(axis=1) if subset else y.mean()
        return -float(((centre - y) ** 2).mean())

    assert_allclose(found.shapley, exact_shapley(worth, 3), rtol=1e-10)
    assert_allclose(found.leave_one_out[1], worth((0, 1, 2)) - worth((0, 2)), rtol=1e-10)
    assert_allclose(found.alone[2], worth((2,)) - worth(()), rtol=1e-10)
    assert found.metric == "squared_error"


def test_the_constant_does_not_see_its_own_fold() -> None:
    fold = np.arange(60) % 3
    found = model_values(numbers(1, fold=fold))
    y = numbers(1).y
    losses = [(y[fold == f] - y[fold != f].mean()) ** 2 for f in range(3)]
    assert_allclose(found.naive_score, -np.concatenate(losses).mean())


def test_classes_are_judged_by_log_loss_and_a_missing_class_is_no_infinity() -> None:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=(20, 2))
    y = np.r_[np.zeros(10, int), np.ones(10, int)]
    table = OutOfFoldTable.from_arrays(probabilities, y, classes=range(3), fold=y)
    found = model_values(table)
    assert found.metric == "log_loss"
    assert np.isfinite(found.shapley).all()
    assert np.isfinite(found.naive_score)


def test_weights_repeat_rows() -> None:
    weight = np.random.default_rng(1).integers(0, 3, 60)
    table, rows = numbers(), np.repeat(np.arange(60), weight)
    again = OutOfFoldTable.from_arrays(table.predictions[0, rows], table.y[rows])
    assert_allclose(
        model_values(numbers(sample_weight=weight)).shapley, model_values(again).shapley
    )


def test_twins_share_and_neither_is_missed() -> None:
    table = numbers(2)
    twins = OutOfFoldTable.from_arrays(table.predictions[0][:, [0, 0]], table.y)
    found = model_values(twins)
    assert_allclose(found.shapley[0], found.shapley[1], atol=1e-14)
    assert_allclose(found.leave_one_out, 0.0, atol=1e-14)


def test_thirteen_models_are_sampled_and_twelve_are_exact() -> None:
    assert model_values(numbers(12)).method == "exact"
    found = model_values(numbers(13), n_orders=6, random_state=0)
    assert found.method == "sampled"
    assert (found.shapley_se > 0).all()
    assert_allclose(found.shapley.sum(), found.score - found.naive_score, atol=1e-12)


def test_sampled_agrees_with_exact_within_its_errors() -> None:
    exact = model_values(numbers(6))
    sampled = model_values(numbers(6), method="sampled", n_orders=300, random_state=0)
    assert (np.abs(sampled.shapley - exact.shapley) < 4 * sampled.shapley_se + 1e-12).all()


def test_the_most_valuable_comes_first() -> None:
    found = model_values(numbers(names=list("abcd")))
    frame = found.to_frame()
    assert frame["shapley"].is_monotonic_decreasing
    assert frame["model"][0] == "a"
    assert "Shapley exact" in str(found)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            {"method": "exakt"},
            "model_values: method must be one of 'auto', 'exact', 'sampled'; got 'exakt'. "
            "Did you mean 'exact'?",
        ),
        (
            {"n_orders": 3},
            "model_values: n_orders must be a whole number of at least 4; got 3. Try 200.",
        ),
    ],
)
def test_wrong_parameters(wrong, words) -> None:
    with pytest.raises(InvalidParameterError) as error:
        model_values(numbers(), **wrong)
    assert str(error.value) == words
