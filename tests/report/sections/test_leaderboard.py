from dataclasses import replace

import numpy as np
import pytest

from foldwise import StackingRegressor
from foldwise.report.sections.leaderboard import MOST_ROWS, leaderboard_section
from foldwise.report.stack_values import Standing, stack_values


def test_the_table_has_the_leaderboard_in_its_order(regression: StackingRegressor) -> None:
    (table,) = leaderboard_section(stack_values(regression)).blocks
    names = [row[0] for row in table.rows]
    known = [name for name in names if name != "naive guess"]
    assert known == regression.leaderboard_["model"].tolist()
    assert names[table.strong] == "stack"


def test_scores_have_the_decimals_of_the_stacks_error(regression: StackingRegressor) -> None:
    (table,) = leaderboard_section(stack_values(regression)).blocks
    ends = {len(cell.split(".")[1]) for row in table.rows for cell in row[1].split(" ± ")}
    assert ends == {2}


def test_a_hopeless_model_does_not_squeeze_the_others(regression: StackingRegressor) -> None:
    board = [Standing("stack", 1.0, 0.1, 0.0, 0.0), Standing("a", 1.1, 0.1, 0.1, 0.1)]
    board.append(Standing("hopeless", 1e9, 1e8, 1e9, 1e8))
    (table,) = leaderboard_section(replace(stack_values(regression), standings=board)).blocks
    assert "1G" not in str(table.columns[2].title)


def test_a_long_board_is_cut_and_says_so(regression: StackingRegressor) -> None:
    board = [Standing("stack", 1.0, 0.1, 0.0, 0.0)]
    board += [Standing(f"m{i}", 2.0 + i, 0.1, 1.0, 0.1) for i in range(80)]
    (table,) = leaderboard_section(replace(stack_values(regression), standings=board)).blocks
    assert len(table.rows) == MOST_ROWS
    assert table.left_out == 81 - MOST_ROWS


def test_a_board_without_scores_can_be_shown(unscored: StackingRegressor) -> None:
    section = leaderboard_section(stack_values(unscored))
    assert section.lead == "Nothing was judged."
    (table,) = section.blocks
    assert len(table.columns) == len(table.rows[0])


@pytest.mark.parametrize("error", [0.0, np.nan])
def test_scores_without_errors_can_be_shown(error: float, regression: StackingRegressor) -> None:
    board = [Standing("stack", 0.5, error, 0.0, error), Standing("a", 0.5, error, 0.0, error)]
    (table,) = leaderboard_section(replace(stack_values(regression), standings=board)).blocks
    assert table.rows[1][1].startswith("0.500")
