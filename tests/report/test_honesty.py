from dataclasses import replace

import numpy as np

from foldwise import StackingRegressor
from foldwise.folds import Block, Ref
from foldwise.report.honesty import audit_rows, honesty_section
from foldwise.stack.fit import FittedStack


def test_every_stack_passes_the_audit(stack: object) -> None:
    audit = audit_rows(stack.deals_[0])
    assert audit.clean
    assert (audit.n_reads > 0) == bool(stack.deals_[0].reading.judgements)


def tampered(deal: FittedStack, **changes: object) -> FittedStack:
    first, *others = deal.reading.judgements
    judgement = replace(first, **changes)
    reading = replace(deal.reading, judgements=(judgement, *others))
    return replace(deal, judge=replace(deal.judge, reading=reading))


def test_a_model_that_saw_the_judged_fold_is_found(regression: StackingRegressor) -> None:
    deal = regression.deals_[0]
    seen = Block(deal.reading.judgements[0].test.rows, (Ref(frozenset()),))
    assert audit_rows(tampered(deal, test=seen)).n_seen == len(seen.rows)


def test_a_feature_whose_model_saw_its_row_is_found(regression: StackingRegressor) -> None:
    deal = regression.deals_[0]
    first, *others = deal.reading.judgements[0].train
    # The node without the judged fold alone has seen the rows of all others.
    block = replace(first, refs=(Ref(frozenset({deal.reading.judgements[0].fold})),))
    assert audit_rows(tampered(deal, train=(block, *others))).n_seen == len(block.rows)


def test_a_feature_whose_model_saw_the_judged_fold_is_found(
    regression: StackingRegressor,
) -> None:
    deal = regression.deals_[0]
    first, *others = deal.reading.judgements[0].train
    # The usual leak: out-of-fold features of the other folds, from models that saw this one.
    block = replace(first, refs=(Ref(frozenset({first.fold})),))
    assert audit_rows(tampered(deal, train=(block, *others))).n_seen == len(block.rows)


def test_a_stacker_trained_on_the_judged_fold_is_found(regression: StackingRegressor) -> None:
    deal = regression.deals_[0]
    judgement = deal.reading.judgements[0]
    assert not audit_rows(tampered(deal, train=(*judgement.train, judgement.test))).clean


def test_a_group_on_both_sides_is_found(regression: StackingRegressor) -> None:
    deal = regression.deals_[0]
    groups = np.zeros(deal.lattice.n_rows, dtype=np.intp)
    problem = replace(deal.problem, data=replace(deal.problem.data, groups=groups))
    layer = replace(deal.top, problem=problem)
    assert audit_rows(replace(deal, layers=(layer,))).n_shared_groups == 4


def test_the_audit_is_told_in_words(regression: StackingRegressor) -> None:
    section = honesty_section(regression, regression.out_of_fold_table())
    facts, audit, gaps = section.blocks
    # Each fold is read through 3 pairs as the judged one, and each other fold through one pair.
    assert audit.text.startswith(
        "Leak audit: for each learner, the 900 predictions that judging rests on were traced"
    )
    assert not audit.warning
    assert dict(facts.pairs)["Folds"] == "4, each row is tested once"
    assert gaps.rows[0][0].startswith("honest")


def test_a_leak_is_a_warning(regression: StackingRegressor) -> None:
    from copy import copy

    deal = regression.deals_[0]
    seen = Block(deal.reading.judgements[0].test.rows, (Ref(frozenset()),))
    broken = copy(regression)
    broken.deals_ = [tampered(deal, test=seen)]
    assert honesty_section(broken, None).blocks[1].warning


def test_facts_follow_the_way_rows_were_dealt(
    forward: StackingRegressor, grouped: StackingRegressor
) -> None:
    said = dict(honesty_section(forward, None).blocks[0].pairs)
    assert said["Folds"].startswith("4, forward in time")
    assert "Not judged" in said
    said = dict(honesty_section(grouped, None).blocks[0].pairs)
    assert said["Groups"] == "30, each in one fold; standard errors are over groups"
