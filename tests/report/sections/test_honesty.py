from dataclasses import replace
from types import SimpleNamespace

import pytest
from sklearn.linear_model import Lasso

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections.honesty import folds_section, honesty_section, stacker_name
from foldwise.report.stack_values import RowAudit, stack_values


def test_the_audit_is_told_in_words(regression: StackingRegressor) -> None:
    section = honesty_section(stack_values(regression))
    facts, audit, gaps = section.blocks
    # Each fold is read through 3 pairs as the judged one, and each other fold through one pair.
    assert audit.text.startswith(
        "Leak audit: for each learner, the 900 predictions that judging rests on were traced"
    )
    assert not audit.warning
    assert dict(facts.pairs)["Folds"] == "4, each row is tested once"
    assert gaps.rows[0][0].startswith("honest")


def test_a_leak_is_a_warning(regression: StackingRegressor) -> None:
    for audit in (RowAudit(900, 3, 0), RowAudit(900, 0, 1)):
        section = honesty_section(replace(stack_values(regression), audit=audit))
        assert section.blocks[1].warning
        assert "The score may be too good" in section.blocks[1].text


def test_facts_follow_the_way_rows_were_dealt(
    forward: StackingRegressor, grouped: StackingRegressor
) -> None:
    said = dict(honesty_section(stack_values(forward)).blocks[0].pairs)
    assert said["Folds"].startswith("4, forward in time")
    assert "Not judged" in said
    said = dict(honesty_section(stack_values(grouped)).blocks[0].pairs)
    assert said["Groups"] == "30, each in one fold; standard errors are over groups"


def test_every_judged_fold_has_its_row_and_score(stack: object) -> None:
    section = folds_section(stack_values(stack))
    if not len(stack.fold_scores_):
        assert section is None
        return
    table = section.blocks[1]
    assert len(table.rows) == len(stack.fold_scores_)
    first = stack_values(stack).metric.natural(stack.fold_scores_[0])
    assert float(table.rows[0][2].replace(",", "")) == pytest.approx(first, rel=0.01)


def test_repeats_are_numbered(weighted: StackingClassifier) -> None:
    assert folds_section(stack_values(weighted)).blocks[1].rows[-1][0] == "3 of repeat 2"


def test_a_stacker_of_the_users_has_its_own_name() -> None:
    assert stacker_name(Lasso()) == "Lasso"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("best", "the best single learner"),
        ("weighted_mean", "a mean of the learners with given weights"),
        ("pseudo_bma", "pseudo bma"),
    ],
)
def test_a_weighted_mean_is_named_by_its_rule(rule: str, said: str) -> None:
    assert stacker_name(SimpleNamespace(rule=rule)) == said
