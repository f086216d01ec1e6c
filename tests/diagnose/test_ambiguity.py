import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable, ambiguity
from foldwise.errors import InvalidParameterError


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
