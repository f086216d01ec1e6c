import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable, ambiguity, bias_variance_diversity
from foldwise.errors import UnsupportedError


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
def test_the_terms_add_up(kind: str, loss: str) -> None:
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
