"""What a careless judge would say, against what it says when told by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.diagnose import leak_audit
from foldwise.scores.metric import Response

LEARNERS = [("ridge", Ridge()), ("knn", KNeighborsRegressor(3))]
X, Y = make_friedman1(100, random_state=0)


def rmse(predicted, y) -> float:
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def test_features_and_fit_seen_are_what_a_plain_stacker_reports() -> None:
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=folds).fit(X, Y)
    oof = stack.oof_.to_numpy()
    plain = np.empty(100)
    for train, test in folds:
        plain[test] = LinearRegression().fit(oof[train], Y[train]).predict(oof[test])
    inside = LinearRegression().fit(oof, Y).predict(oof)
    claims = {claim.name: claim for claim in leak_audit(stack).claims}
    assert_allclose(claims["features seen"].score, -rmse(plain, Y))
    assert_allclose(claims["fit seen"].score, -rmse(inside, Y))
    assert_allclose(claims["fit seen"].gap, -rmse(inside, Y) - stack.score_uncorrected_)


def test_in_a_ring_features_are_seen_by_a_stacker_of_the_same_folds() -> None:
    folds = list(KFold(6, shuffle=True, random_state=0).split(X))
    stack = StackingRegressor(LEARNERS, LinearRegression(), cv=folds, partners=2).fit(X, Y)
    oof, plain = stack.oof_.to_numpy(), np.empty(100)
    for judgement in stack.deals_[0].reading.judgements:
        train = np.concatenate([block.rows for block in judgement.train])
        test = judgement.test.rows
        plain[test] = LinearRegression().fit(oof[train], Y[train]).predict(oof[test])
    (claim,) = [claim for claim in leak_audit(stack).claims if claim.name == "features seen"]
    assert_allclose(claim.score, -rmse(plain, Y))


def test_nothing_is_gained_by_a_choice_of_one() -> None:
    stack = StackingRegressor(LEARNERS, "nnls", random_state=0).fit(X, Y)
    claim = leak_audit(stack).claims[0]
    assert (claim.name, claim.gap, claim.gap_se) == ("choice seen", 0.0, 0.0)


def test_calibration_is_part_of_what_is_claimed() -> None:
    y = (Y > 14).astype(int)
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    stack = StackingClassifier(learners, "mean", calibrate="temperature", random_state=0)
    stack.fit(X, y)
    deal = stack.deals_[0]
    claim = leak_audit(stack).claims[0]
    raw = deal.top.features([j.test for j in deal.reading.judgements]).members.mean(axis=1)
    both = Response("probability", np.column_stack([1 - raw, raw]))
    seen = deal.verdict.correction.apply(both).values
    wanted = np.log(seen[np.arange(100), y[deal.verdict.rows]]).mean()
    assert_allclose(claim.score, wanted)
    assert claim.gap != 0.0


def test_on_noise_a_rich_choice_and_a_greedy_stacker_look_better_than_they_are() -> None:
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(150, 5)), rng.normal(size=150)
    tops = [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (2, 4, 8)]
    stack = StackingRegressor(LEARNERS, tops, random_state=0).fit(rows, noise)
    audit = leak_audit(stack)
    claims = {claim.name: claim for claim in audit.claims}
    assert claims["fit seen"].gap > 2 * claims["fit seen"].gap_se
    assert audit.verdict.startswith("Judged as 'fit seen' the ensemble would look ")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"cv": TimeSeriesSplit(4)}, ["choice seen", "fit seen"]),
        ({"predict_with": "pairs"}, ["choice seen", "features seen", "fit seen"]),
        ({"n_repeats": 2}, ["choice seen", "features seen", "fit seen"]),
    ],
)
def test_only_what_can_be_compared_is_claimed(arguments, names) -> None:
    stack = StackingRegressor(LEARNERS, random_state=0, **arguments).fit(X, Y)
    assert [claim.name for claim in leak_audit(stack).claims] == names
