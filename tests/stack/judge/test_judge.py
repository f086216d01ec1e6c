import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor
from foldwise.folds import Block, Reading, Ref
from foldwise.scores.metric import Response, Target, as_metric
from foldwise.stack.judge.judge import inner_splits
from foldwise.stack.stackers.candidates import Option, pick
from foldwise.stack.table.read import rows_of

X, Y = make_regression(80, 4, noise=30, random_state=0)
LEARNERS = [
    ("ridge", Ridge()),
    ("knn", KNeighborsRegressor(3)),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]
GRID = [0.01, 10.0, 1000.0, 100_000.0]


def picked(*losses: tuple[int, int, list[float]]) -> tuple[int, int]:
    """Choose among options (candidate, point) with the given absolute errors of the rows."""
    metric = as_metric(
        "neg_mean_absolute_error", owner="S", classify=False, has_probabilities=False
    )
    responses = {
        Option(candidate, point): Response("value", np.array(errors, dtype=float)[:, None])
        for candidate, point, errors in losses
    }
    n_rows = len(losses[0][2])
    target = Target(np.zeros(n_rows), None, None, np.zeros(n_rows, dtype=int))
    found = pick(responses, target, metric)
    return found.candidate, found.point


def test_the_best_point_of_a_grid_is_taken_without_any_rule() -> None:
    assert picked((0, 0, [9, 1, 9, 1]), (0, 1, [8.9, 1, 9, 1])) == (0, 1)


def test_a_simpler_one_within_one_paired_error_wins() -> None:
    assert picked((0, 0, [9, 1, 5, 6]), (1, 0, [1, 9, 6, 4])) == (0, 0)


def test_a_simpler_one_that_is_surely_worse_loses() -> None:
    # Both losses vary a lot, but in the same way: the difference is sure.
    assert picked((0, 0, [9, 1, 50, 2]), (1, 0, [8, 0.1, 49, 1])) == (1, 0)


def test_after_a_better_one_was_passed_over_a_worse_one_is_not_taken() -> None:
    winner, close = [1, 1, 1, 1, 1, 1], [2, 2.1, 2, 2.1, 2, 2]
    # Surely worse than the winner by one each; the noisy one is worse still, but not surely.
    noisy = [0, 40, 0, 0, 0, 0]
    assert picked((0, 0, noisy), (2, 0, winner)) == (0, 0)
    assert picked((0, 0, close), (1, 0, noisy), (2, 0, winner)) == (2, 0)


def test_a_candidate_without_a_score_is_never_taken() -> None:
    nan = [np.nan] * 4
    assert picked((0, 0, nan), (1, 0, nan), (1, 1, [3, 4, 5, 6])) == (1, 1)


def block(*rows: int, fold: int = 0) -> Block:
    return Block(np.array(rows), (Ref(frozenset({fold})),), fold)


def splits(blocks: list[Block], in_order: bool = False, trainable: tuple = ()) -> list:
    reading = Reading((), (), (), trainable=trainable, in_order=in_order)
    return [
        ([r for b in train for r in b.rows.tolist()], test.rows.tolist())
        for train, test in inner_splits(blocks, reading)
    ]


def test_inside_a_choice_each_block_is_tested_once() -> None:
    found = splits([block(0, 1), block(2, 3, fold=1), block(4, fold=2)])
    assert found == [([2, 3, 4], [0, 1]), ([0, 1, 4], [2, 3]), ([0, 1, 2, 3], [4])]


def test_forward_in_time_only_earlier_blocks_train() -> None:
    found = splits([block(0, 1), block(2, 3, fold=1), block(4, fold=2)], in_order=True)
    assert found == [([0, 1], [2, 3]), ([0, 1, 2, 3], [4])]


def test_what_the_splitter_keeps_apart_stays_apart() -> None:
    allowed = (np.array([3, 4]), np.array([0, 4]), np.array([0, 1]))
    found = splits([block(0, 1), block(2, 3, fold=1), block(4, fold=2)], trainable=allowed)
    assert found == [([3, 4], [0, 1]), ([0, 4], [2, 3]), ([0, 1], [4])]


def test_a_lone_block_is_cut_in_five_or_in_time_in_two() -> None:
    assert len(splits([block(*range(10))])) == 5
    assert splits([block(*range(5))], in_order=True) == [([0, 1, 2], [3, 4])]


def test_the_deployed_point_is_the_one_with_the_least_hold_out_loss() -> None:
    # The seed's argmin: each point alone, judged on the same folds.
    stack = StackingRegressor(LEARNERS, (Ridge(), {"alpha": GRID}), cv=4, random_state=0).fit(X, Y)
    alone = [stack.restack(Ridge(alpha)).score_ for alpha in GRID]
    assert stack.stacker_.alpha == GRID[int(np.argmax(alone))]


def test_the_score_is_that_of_the_choices_made_inside_not_of_the_best() -> None:
    stack = StackingRegressor(LEARNERS, (Ridge(), {"alpha": GRID}), cv=4, random_state=0).fit(X, Y)
    verdict, judgements = stack.deals_[0].verdict, stack.deals_[0].reading.judgements
    alone = {alpha: stack.restack(Ridge(alpha)).deals_[0].verdict for alpha in GRID}
    expected = []
    for judged, judgement in zip(verdict.folds, judgements, strict=True):
        of_fold = alone[judged.stacker.alpha]
        rows = np.isin(of_fold.rows, judgement.test.rows)
        expected.append(of_fold.response.values[rows])
    np.testing.assert_allclose(verdict.response.values, np.concatenate(expected))


def test_the_choice_for_a_fold_is_a_cross_validation_over_the_others() -> None:
    fine = np.logspace(1, 6, 16).tolist()
    stack = StackingRegressor(LEARNERS, (Ridge(), {"alpha": fine}), cv=4, random_state=0).fit(X, Y)
    deal = stack.deals_[0]
    chosen = []
    for judged, judgement in zip(deal.verdict.folds, deal.reading.judgements, strict=True):
        parts = [(deal.top.features((b,)).matrix, Y[b.rows]) for b in judgement.train]
        losses = []
        for alpha in fine:
            squares = []
            for i, (ahead, truth) in enumerate(parts):
                rest = [part for j, part in enumerate(parts) if j != i]
                seen, target = (np.concatenate(arrays) for arrays in zip(*rest, strict=True))
                squares.append((Ridge(alpha).fit(seen, target).predict(ahead) - truth) ** 2)
            losses.append(np.concatenate(squares).mean())
        chosen.append(judged.stacker.alpha)
        assert chosen[-1] == fine[int(np.argmin(losses))]
    assert len(set(chosen)) > 1, "the example should not be trivial"


def test_judged_rows_are_all_rows_once() -> None:
    verdict = StackingRegressor(LEARNERS, "mean", cv=4).fit(X, Y).deals_[0].verdict
    assert sorted(verdict.rows) == list(range(80))


def test_one_bad_option_is_not_chosen() -> None:
    final = ["mean", (Ridge(), {"alpha": [1.0]})]
    learners = [("good", Ridge()), ("bad", DecisionTreeRegressor(max_depth=1))]
    stack = StackingRegressor(learners, final, cv=KFold(4)).fit(X, Y)
    assert isinstance(stack.stacker_, Ridge)


def test_blocks_of_one_row_leave_no_choice_but_the_first() -> None:
    stack = StackingRegressor(LEARNERS, cv=TimeSeriesSplit(4, test_size=1), random_state=0)
    stack.fit(X, Y)
    assert np.isfinite(stack.score_)


@pytest.mark.parametrize("n_rows", [6, 9])
def test_very_few_rows_can_be_stacked_with_the_default_top(n_rows: int) -> None:
    stack = StackingRegressor([("ridge", Ridge())], cv=3, random_state=0)
    assert np.isfinite(stack.fit(X[:n_rows], Y[:n_rows]).score_)


@pytest.mark.parametrize("groups", [None, np.arange(80) // 4])
def test_in_a_ring_what_is_tried_inside_has_most_of_the_rows(groups) -> None:
    stack = StackingRegressor(LEARNERS, cv=5, partners=2, random_state=0).fit(X, Y, groups=groups)
    reading, judge = stack.deals_[0].reading, stack.deals_[0].judge
    for judgement in reading.judgements:
        every = rows_of(judgement.train)
        splits = [
            (rows_of(t), o.rows) for t, o in inner_splits(judge.cut(judgement.train), reading)
        ]
        assert np.array_equal(np.sort(np.concatenate([test for _, test in splits])), np.sort(every))
        for train, test in splits:
            assert np.array_equal(np.sort([*train, *test]), np.sort(every))
            assert len(train) > 0.6 * len(every)
            assert groups is None or not set(groups[train]) & set(groups[test])


def test_gaps_stay_gaps_inside_a_ring() -> None:
    rows = np.arange(80)
    cv = [(rows[(rows < t[0] - 2) | (rows > t[-1] + 2)], t) for _, t in KFold(5).split(rows)]
    stack = StackingRegressor(LEARNERS, cv=cv, partners=2, random_state=0).fit(X, Y)
    blocks = stack.deals_[0].reading.judgements[0].train
    assert stack.deals_[0].judge.cut(blocks) is blocks
