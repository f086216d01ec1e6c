import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable, ambiguity, bias_variance_diversity
from foldwise.diagnose.decomposition import LOG, SQUARED, loss_and_values
from foldwise.errors import InvalidParameterError, UnsupportedError


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(2, 4))
def test_the_centres_loss_is_the_mean_loss_less_the_mean_distance(seed, n_models, width) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_models))
    target = np.eye(width)[rng.integers(width)]
    for kind, values in (
        (SQUARED, rng.normal(size=(n_models, width))),
        (LOG, rng.dirichlet(np.ones(width), size=n_models).clip(1e-9)),
    ):
        values = values / values.sum(axis=1, keepdims=True) if kind is LOG else values
        centre = kind.centre(values, weights, 0)
        gain = weights @ kind.distance(centre, values)
        assert_allclose(
            kind.loss(target, centre), weights @ kind.loss(target, values) - gain, atol=1e-11
        )
        assert gain >= -1e-12


def test_the_centre_has_the_least_mean_distance() -> None:
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), size=4)
    best = LOG.distance(LOG.centre(values, np.ones(4), 0), values).mean()
    for other in rng.dirichlet(np.ones(3), size=200):
        assert LOG.distance(other, values).mean() >= best


def test_auto_is_log_for_classes_and_probabilities_keep_off_zero() -> None:
    table = OutOfFoldTable.from_arrays([[[1.0, 0.0]]], [1], classes=[0, 1])
    kind, values, _ = loss_and_values(table, "auto", "x")
    assert kind is LOG
    assert_allclose(values[0, 0, 0], [0.8, 0.2])


def test_several_targets_give_the_mean_over_them() -> None:
    table = OutOfFoldTable.from_arrays([[[1.0, 3.0]]], [[0.0, 0.0]])
    kind, values, target = loss_and_values(table, "auto", "x")
    assert_allclose(kind.loss(target, values[0, :, 0]), [5.0])


def test_log_of_numbers_and_unknown_losses_are_refused() -> None:
    table = OutOfFoldTable.from_arrays([[1.0]], [1.0])
    with pytest.raises(UnsupportedError) as error:
        loss_and_values(table, "log", "ambiguity")
    assert str(error.value) == (
        "ambiguity(loss='log'): source must predict classes; got numbers. Use loss='squared'."
    )
    with pytest.raises(InvalidParameterError) as error:
        loss_and_values(table, "logg", "ambiguity")
    assert str(error.value) == (
        "ambiguity: loss must be one of 'auto', 'squared', 'log'; got 'logg'. Did you mean 'log'?"
    )


def numbers(**kwargs) -> OutOfFoldTable:
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    return OutOfFoldTable.from_arrays(y[:, None] + rng.normal(size=(40, 3)), y, **kwargs)


def classes(n_classes: int = 3) -> OutOfFoldTable:
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, 40)
    probabilities = rng.dirichlet(np.ones(n_classes), size=(40, 4))
    return OutOfFoldTable.from_arrays(probabilities, y, classes=range(n_classes))


@pytest.mark.parametrize("weights", [None, [0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
def test_squared_loss_is_krogh_and_vedelsbys_by_loops(weights) -> None:
    table = numbers()
    found = ambiguity(table, weights=weights)
    w = np.full(3, 1 / 3) if weights is None else np.array(weights)
    ensemble = mean = spread = 0.0
    for n in range(40):
        f = [table.predictions[0, n, m, 0] for m in range(3)]
        centre = sum(w[m] * f[m] for m in range(3))
        ensemble += (centre - table.y[n]) ** 2 / 40
        mean += sum(w[m] * (f[m] - table.y[n]) ** 2 for m in range(3)) / 40
        spread += sum(w[m] * (f[m] - centre) ** 2 for m in range(3)) / 40
    assert_allclose([found.ensemble_loss, found.mean_loss, found.ambiguity],
                    [ensemble, mean, spread], rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("table", [numbers(), classes(2), classes(5)])
@pytest.mark.parametrize("loss", ["auto", "squared"])
def test_the_terms_add_up(table, loss) -> None:
    found = ambiguity(table, loss=loss)
    assert abs(found.mean_loss - found.ambiguity - found.ensemble_loss) < 1e-12


def test_log_loss_is_of_the_normalised_geometric_mean() -> None:
    table = classes(3)
    found = ambiguity(table)
    p = np.maximum(table.predictions[0], 0.5 / 41)
    p = p / p.sum(axis=2, keepdims=True)
    g = np.prod(p, axis=1) ** 0.25
    g = g / g.sum(axis=1, keepdims=True)
    assert_allclose(found.ensemble_loss, -np.log(g[np.arange(40), table.y]).mean())


def test_weights_of_rows_repeat_them() -> None:
    weight = np.random.default_rng(0).integers(0, 3, 40)
    found = ambiguity(numbers(sample_weight=weight))
    table = numbers()
    rows = np.repeat(np.arange(40), weight)
    again = ambiguity(OutOfFoldTable.from_arrays(table.predictions[0, rows], table.y[rows]))
    assert_allclose([found.ensemble_loss, found.ambiguity], [again.ensemble_loss, again.ambiguity])


def test_one_model_and_twins_have_no_ambiguity() -> None:
    table = numbers()
    for picked in ([0], [1, 1]):
        twin = OutOfFoldTable.from_arrays(table.predictions[0][:, picked], table.y)
        assert abs(ambiguity(twin).ambiguity) < 1e-15


def test_the_frame_and_text_hold_every_model() -> None:
    found = ambiguity(numbers(names=list("abc")))
    assert found.to_frame()["model"].tolist() == ["a", "b", "c"]
    assert str(found).splitlines()[1].startswith("ensemble ")


def test_weights_that_are_no_weights_are_refused() -> None:
    with pytest.raises(InvalidParameterError) as error:
        ambiguity(numbers(), weights=[0.5, 0.6, -0.1])
    assert str(error.value) == (
        "ambiguity: weights must be 3 numbers, none negative, of sum one; "
        "got [0.5, 0.6, -0.1]. Use None for the plain mean."
    )


def table_for(kind: str, n_repeats: int = 4) -> OutOfFoldTable:
    rng = np.random.default_rng(5)
    weight = rng.random(30)
    if kind == "numbers":
        y = rng.normal(size=30)
        values = y[None, :, None, None] + rng.normal(size=(n_repeats, 30, 3, 1))
        return OutOfFoldTable.from_arrays(values, y, sample_weight=weight)
    y = rng.integers(0, 3, 30)
    values = rng.dirichlet(np.ones(3), size=(n_repeats, 30, 3))
    return OutOfFoldTable.from_arrays(values, y, classes=range(3), sample_weight=weight)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("loss", ["auto", "squared"])
def test_bias_variance_and_diversity_add_up(kind: str, loss: str) -> None:
    found = bias_variance_diversity(table_for(kind), loss=loss)
    total = found.bias + found.variance - found.diversity
    assert abs(total - found.expected_loss) < 1e-12
    assert min(found.bias, found.variance, found.diversity) > 0


def test_squared_terms_are_the_textbooks_by_loops() -> None:
    table = table_for("numbers")
    p, share = table.predictions[..., 0], table.share
    bias = variance = diversity = 0.0
    for n in range(30):
        for m in range(3):
            centre = np.mean([p[r, n, m] for r in range(4)])
            bias += share[n] * (centre - table.y[n]) ** 2 / 3
            for r in range(4):
                variance += share[n] * (p[r, n, m] - centre) ** 2 / 12
                diversity += share[n] * (p[r, n, m] - p[r, n].mean()) ** 2 / 12
    found = bias_variance_diversity(table)
    assert_allclose([found.bias, found.variance, found.diversity], [bias, variance, diversity])


def test_the_diversity_is_the_ambiguity() -> None:
    for kind in ("numbers", "classes"):
        table = table_for(kind)
        assert_allclose(bias_variance_diversity(table).diversity, ambiguity(table).ambiguity)


def test_no_variance_without_change() -> None:
    table = table_for("numbers")
    same = OutOfFoldTable.from_arrays(np.repeat(table.predictions[:1], 3, axis=0), table.y)
    assert abs(bias_variance_diversity(same).variance) < 1e-15


def test_the_text_says_approximate() -> None:
    text = str(bias_variance_diversity(table_for("classes")))
    assert text.startswith("Bias, variance, diversity (log loss; approximate: 4 repeats")
    assert bias_variance_diversity(table_for("classes")).to_frame()["term"].tolist() == [
        "bias", "variance", "diversity", "expected_loss",
    ]  # fmt: skip


def test_one_prediction_a_row_is_not_enough() -> None:
    with pytest.raises(UnsupportedError) as error:
        bias_variance_diversity(table_for("numbers", 1))
    assert str(error.value) == (
        "bias_variance_diversity: source must hold at least 2 predictions of each row; got 1. "
        "Fit the stack with n_repeats=5."
    )
