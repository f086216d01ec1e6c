import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import cross_val_predict

from foldwise import StackingClassifier, StackingRegressor
from foldwise.folds import Block, Ref
from foldwise.report.stack_values import BEST, NAIVE, STACK, audit_rows, stack_values
from foldwise.stack.fit import FittedStack
from tests.report.conftest import CLASSIFIERS, REGRESSORS, classes, friedman


def test_the_naive_guess_is_the_mean_of_the_other_folds(regression: StackingRegressor) -> None:
    X, y = friedman()
    lattice = regression.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyRegressor(), X, y, cv=splits)
    naive = {s.model: s for s in stack_values(regression).standings}[NAIVE]
    assert naive.value == pytest.approx(root_mean_squared_error(y, expected), rel=1e-12)


def test_the_naive_guess_of_classes_is_their_shares(multiclass: StackingClassifier) -> None:
    X, y = classes(4)
    lattice = multiclass.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyClassifier(), X, y, cv=splits, method="predict_proba")
    naive = {s.model: s for s in stack_values(multiclass).standings}[NAIVE]
    # One row is spread over the classes, which moves each share by at most 1 / n.
    assert naive.value == pytest.approx(log_loss(y, expected), rel=1e-3)


def test_the_guess_for_absolute_errors_is_the_median() -> None:
    X, y = friedman()
    stack = StackingRegressor(REGRESSORS, cv=3, scoring="neg_mean_absolute_error", random_state=0)
    naive = {s.model: s for s in stack_values(stack.fit(X, y**2)).standings}[NAIVE]
    lattice = stack.deals_[0].lattice
    splits = list(zip(lattice.trains, lattice.tests, strict=True))
    expected = cross_val_predict(DummyRegressor(strategy="median"), X, y**2, cv=splits)
    assert naive.value == pytest.approx(np.abs(expected - y**2).mean(), rel=1e-12)


def test_gains_are_positive_where_the_stack_is_better(stack: object) -> None:
    own = {s.model: s for s in stack_values(stack).standings}
    sign = stack._metric.sign
    for standing in own.values():
        if np.isfinite(standing.value):
            gain = sign * (own[STACK].value - standing.value)
            assert standing.gain == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "balanced_accuracy"])
def test_the_best_comes_first_whatever_the_metric(scoring: str) -> None:
    stack = StackingClassifier(CLASSIFIERS, cv=3, scoring=scoring, random_state=0).fit(*classes(2))
    board = stack_values(stack).standings
    values = [stack._metric.sign * s.value for s in board]
    assert values == sorted(values, reverse=True)
    assert {STACK, BEST, NAIVE} <= {s.model for s in board}
    assert [s.model for s in board if s.learns and s.model in ("lda", "bayes")]


def test_there_is_no_guess_without_a_score_or_for_a_scorer_that_refuses_it(
    unscored: StackingRegressor,
) -> None:
    assert NAIVE not in {s.model for s in stack_values(unscored).standings}

    def correlation(estimator: object, X: object, y: object) -> float:
        said = estimator.predict(X)
        if np.ptp(said) == 0:
            raise ValueError("a constant has no correlation")
        return float(np.corrcoef(said, y)[0, 1])

    stack = StackingRegressor(REGRESSORS, cv=3, scoring=correlation, random_state=0)
    stack.fit(*friedman())
    assert NAIVE not in {s.model for s in stack_values(stack).standings}


def test_the_time_of_a_row_is_the_one_measured_while_fitting() -> None:
    class Slow(LinearRegression):
        def predict(self, X: Any) -> Any:
            time.sleep(1e-4 * len(X))
            return super().predict(X)

    X, y = friedman(90)
    stack = StackingRegressor([("slow", Slow())], cv=3, random_state=0).fit(X, y)
    # Three models answer for a row, each in a tenth of a millisecond; machines may be slower.
    assert 3e-4 <= stack_values(stack).seconds_a_row < 3e-2


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
