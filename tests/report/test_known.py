import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from foldwise import (
    AveragedCVRegressor,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
    GradientBoostingRegressor,
    ISLERegressor,
    LassoPathClassifier,
    LassoPathRegressor,
)
from foldwise.report.known import frame_table, known_section
from tests.report.conftest import classes, friedman

CASES = [
    (BestSubsetRegressor(), {"Coefficients", "The best of each size"}),
    (AveragedCVRegressor(cv=3), {"Coefficients", "Selection frequency"}),
    (BayesianModelAveragingRegressor(), {"Inclusion probability", "The most probable models"}),
    (LassoPathRegressor(cv=3), {"Coefficients", "Held-out loss"}),
    (GradientBoostingRegressor(n_estimators=5), {"Importance", "Training loss"}),
    (ISLERegressor(n_estimators=10, cv=3), {"Held-out loss"}),
]


def titles(section: object) -> set[str]:
    found = {block.title for block in section.blocks if block.kind == "table"}
    return found | {f.title for b in section.blocks if b.kind == "figures" for f in b.figures}


@pytest.mark.parametrize(("model", "expected"), CASES, ids=lambda v: type(v).__name__)
def test_what_an_estimator_knows_is_shown(model: object, expected: set[str]) -> None:
    assert expected <= titles(known_section(model.fit(*friedman(80))))


def test_a_classifiers_coefficients_are_shown() -> None:
    section = known_section(LassoPathClassifier(cv=3).fit(*classes(2)))
    assert "Coefficients" in titles(section)


def test_coefficients_that_are_all_zero_are_not_drawn() -> None:
    section = known_section(Lasso(1e9).fit(*friedman(50)))
    assert [block.kind for block in section.blocks] == ["facts"]


def test_a_model_that_knows_nothing_has_no_section() -> None:
    assert known_section(object()) is None


def test_a_frame_becomes_a_table_cut_to_size() -> None:
    frame = pd.DataFrame({"a_b": np.arange(99), "columns": [()] + [("x", "y")] * 98})
    table = frame_table(frame, "t")
    assert table.rows[0] == ["0", "none"]
    assert table.rows[3] == ["3", "x, y"]
    assert table.left_out == 84
