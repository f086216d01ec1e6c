from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections.answer import stack_answer_section
from foldwise.report.stack_values import stack_values
from foldwise.wording import who_may_be_best
from tests.report.conftest import CLASSIFIERS, classes, friedman


def answer(stack: object) -> object:
    return stack_answer_section(stack_values(stack))


def test_the_score_comes_first_with_its_interval(regression: StackingRegressor) -> None:
    tiles = answer(regression).blocks[0].tiles
    score, error = -regression.score_, regression.score_se_
    assert tiles[0].label == "Honest RMSE of the stack"
    assert tiles[0].value == f"{score:.2f} ± {error:.2f}"
    low, high = sorted(-end for end in regression.score_interval_)
    assert tiles[0].meaning.startswith(f"95 % interval {low:.2f} to {high:.2f}, over rows.")


def test_it_is_compared_with_the_closest_learner_and_a_naive_guess(
    regression: StackingRegressor,
) -> None:
    labels = [tile.label for tile in answer(regression).blocks[0].tiles]
    assert labels[1:3] == ["Against the closest learner", "Against a naive guess"]
    assert "clearly better than a naive guess" in answer(regression).lead


def test_a_typical_miss_is_the_median_of_the_judged_errors(regression: StackingRegressor) -> None:
    judged = stack_values(regression).judged
    off = np.abs(judged.response.values[:, 0] - judged.target.y)
    assert answer(regression).blocks[0].tiles[-1].value == f"{np.median(off):.2f}"


def test_classes_are_answered_by_how_often_they_are_right(binary: StackingClassifier) -> None:
    judged = stack_values(binary).judged
    right = np.mean(judged.response.labels == judged.target.y)
    assert answer(binary).blocks[0].tiles[-1].value == f"{100 * right:.1f} %"


def test_a_score_that_grows_with_quality_is_compared_by_its_difference() -> None:
    stack = StackingClassifier(CLASSIFIERS, cv=3, scoring="roc_auc", random_state=0)
    tile = answer(stack.fit(*classes(2))).blocks[0].tiles[2]
    assert tile.value.startswith("+0.")
    assert tile.tone == "good"


def test_groups_are_what_the_error_is_over(grouped: StackingRegressor) -> None:
    assert (
        answer(grouped)
        .blocks[0]
        .tiles[0]
        .meaning.split(". ")[0]
        .rstrip(".")
        .endswith("over groups")
    )


def test_no_score_is_said_with_its_reason(unscored: StackingRegressor) -> None:
    (block,) = answer(unscored).blocks
    assert block.warning
    assert block.text == (
        "There is no honest score: its learners were fitted elsewhere and may have seen these "
        "rows (cv='prefit'). Fit with cv=5 to get one."
    )


def test_one_learner_alone_is_the_same_as_the_stack() -> None:
    stack = StackingRegressor([("ridge", Ridge())], "best", cv=3, random_state=0).fit(*friedman())
    assert answer(stack).blocks[0].tiles[1].value == "the same"


def test_a_difference_within_its_error_is_about_the_same(regression: StackingRegressor) -> None:
    values, board = stack_values(regression), regression.leaderboard_.set_index("model")
    # The learner whose p-value is the one that is shown, in tile and sentence alike.
    closest = board["p_stack_better"].drop(["stack", "best single", "plain mean"]).idxmax()
    board = [
        replace(s, gain=0.1, gain_error=0.2) if s.model == closest else s for s in values.standings
    ]
    tile = stack_answer_section(replace(values, standings=board)).blocks[0].tiles[1]
    assert (tile.value, tile.tone) == ("about the same", "")
    assert tile.meaning.startswith(f"{closest} has ")
    assert f"cannot be told from {closest} (p" in answer(regression).lead
    assert tile.meaning.endswith(f"; p = {regression.p_stack_better_:.2g}.")


@pytest.mark.parametrize(
    ("gain", "p", "tone"),
    [(2.5, 0.01, "good"), (1.5, 0.01, "good"), (2.5, 0.19, ""), (-1.5, 0.9, ""), (-2, 0.9, "bad")],
)
def test_a_difference_that_chance_may_have_made_is_not_coloured(
    gain: float, p: float, tone: str, regression: StackingRegressor
) -> None:
    fitted, values = copy(regression), stack_values(regression)
    fitted.p_stack_better_ = p
    board = [replace(s, gain=gain, gain_error=1.0) for s in values.standings]
    changed = replace(values, fitted=fitted, standings=board)
    _, best, naive, *_ = stack_answer_section(changed).blocks[0].tiles
    assert best.tone == tone
    # The p-value is the closest learner's; the naive guess is told apart by its own error.
    assert naive.tone == ("" if abs(gain) < 2 else "good" if gain > 0 else "bad")


def test_who_may_be_best_and_few_rows_that_matter_are_said(regression: StackingRegressor) -> None:
    values = stack_values(regression)
    board = regression.leaderboard_
    told = who_may_be_best(
        list(board["model"]), list(board["may_be_best"]), list(board["p_stack_better"])
    )
    assert stack_answer_section(values).lead.endswith(told)
    noted = copy(regression)
    noted.score_note_ = "more than half of the uncertainty is in row 7"
    tile = stack_answer_section(replace(values, fitted=noted)).blocks[0].tiles[0]
    assert tile.meaning.endswith("over rows. More than half of the uncertainty is in row 7.")
