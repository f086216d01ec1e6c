import numpy as np
import pytest

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections.coverage import LEVELS, coverage_section, held_shares
from foldwise.report.stack_values import stack_values


def test_held_shares_by_a_loop() -> None:
    rng = np.random.default_rng(0)
    misfits = [rng.exponential(size=n) for n in (30, 40, 50)]
    held, widths = held_shares(misfits, [0.8])
    inside, width = 0, 0.0
    for i, own in enumerate(misfits):
        others = np.sort(np.concatenate([m for j, m in enumerate(misfits) if j != i]))
        reach = others[int(np.ceil(0.8 * (len(others) + 1))) - 1]
        inside += sum(value <= reach for value in own)
        width += len(own) * reach
    assert held[0] == inside / 120
    assert widths[0] == pytest.approx(width / 120)


def test_in_order_a_fold_is_checked_against_earlier_ones_only() -> None:
    small, large = np.linspace(0, 1, 50), np.linspace(5, 6, 50)
    held, _ = held_shares([small, large], [0.9], in_order=True)
    assert held[0] == 0.0


def test_exchangeable_misfits_are_held_as_promised() -> None:
    rng = np.random.default_rng(1)
    held, _ = held_shares([rng.normal(size=2000) ** 2 for _ in range(5)])
    np.testing.assert_allclose(held, LEVELS, atol=0.02)


def test_too_few_rows_for_a_promise_have_endless_intervals() -> None:
    held, widths = held_shares([np.ones(3), np.ones(3)], [0.95])
    assert held[0] == 1.0
    assert np.isinf(widths[0])


def test_intervals_and_sets_are_told_apart(
    regression: StackingRegressor, multiclass: StackingClassifier
) -> None:
    assert coverage_section(stack_values(regression)).title == "Prediction intervals"
    section = coverage_section(stack_values(multiclass))
    assert section.title == "Prediction sets"
    sizes = [float(row[2]) for row in section.blocks[0].figures[1].rows]
    assert sizes == sorted(sizes)
    assert 1 <= sizes[0] <= sizes[-1] <= 4


def test_the_table_and_the_picture_show_the_widths_that_intervals_have(
    regression: StackingRegressor,
) -> None:
    values = stack_values(regression)
    _, table, along = coverage_section(values).blocks[0].figures
    assert along.title == "Width along the prediction"
    assert [column.title for column in table.columns][2:] == [
        "prediction ±", "narrowest tenth ±", "widest tenth ±",
    ]  # fmt: skip
    middle, narrow, wide = (float(cell.replace(",", "")) for cell in table.rows[2][2:])
    assert narrow < middle < wide
    # The same rows asked as new ones: CV+ ends are about the centre plus and minus the width.
    lower, upper = regression.predict_interval(regression._X, 0.9)
    assert middle == pytest.approx(np.median(upper - lower) / 2, rel=0.15)


def test_groups_and_time_have_no_guarantee_and_it_is_said(
    grouped: StackingRegressor, forward: StackingRegressor
) -> None:
    for stack in (grouped, forward):
        assert "there is no guarantee" in coverage_section(stack_values(stack)).lead


def test_nothing_judged_nothing_covered(unscored: StackingRegressor) -> None:
    assert coverage_section(stack_values(unscored)) is None
