from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from foldwise.scores.exact import (
    Exact,
    RunningMean,
    correction_of,
    next_mean,
    next_step,
    rooted,
    score_interval,
    stepped,
)
from foldwise.scores.metric import Evaluation, as_metric


def of(losses: list[float]) -> Evaluation:
    """Return the evaluation of a mean loss over rows."""
    own = np.array(losses)
    return Evaluation(-own.mean(), -(own - own.mean()) / len(own))


@pytest.mark.parametrize("n_folds", [4, 5, 10])
def test_for_equal_folds_the_step_is_all_but_two_of_the_folds(n_folds) -> None:
    n = 60 * n_folds
    alone, pairs = n - n // n_folds, n - 2 * n // n_folds
    found = next_step([alone] * n_folds, [[pairs] * (n_folds - 1)] * n_folds, n)
    assert found == pytest.approx((n_folds - 2) / n_folds)
    # Of the mean of fold models, the middle between that and the whole step.
    found = next_step([alone] * n_folds, [[pairs] * (n_folds - 1)] * n_folds, n, averaged=True)
    assert found == pytest.approx((n_folds - 1) / n_folds)


def test_folds_of_any_size_step_along_one_over_n() -> None:
    # On a curve c + s / m the corrected loss of the models without a fold is that of all rows.
    sizes = np.array([10, 20, 30, 40])
    alone = 100 - sizes
    pairs = [[100 - sizes[i] - sizes[j] for j in range(4) if j != i] for i in range(4)]
    each = [
        (1 / alone[i] - 1 / 100) / (np.mean([1 / m for m in pairs[i]]) - 1 / alone[i])
        for i in range(4)
    ]
    assert next_step(alone, pairs, 100) == pytest.approx(np.mean(each))
    assert next_step([5, 5], [[5], [5]], 10) == next_step([5], [[5]], 10, averaged=True) == 0.0


@pytest.mark.parametrize("n_folds", [4, 5, 7])
def test_a_mean_of_all_pairs_gains_no_less_and_no_more(n_folds) -> None:
    # Models that are sums of independent effects, one for every r of the folds they saw.
    gains = []
    for r in range(1, n_folds - 1):

        def variance(pairs, r=r) -> float:
            seen = [set(range(n_folds)) - set(pair) for pair in pairs]
            count = Counter(effect for own in seen for effect in combinations(sorted(own), r))
            return sum((times / len(pairs)) ** 2 for times in count.values())

        judged = variance([(0, j) for j in range(1, n_folds)])
        deployed = variance(list(combinations(range(n_folds), 2)))
        gains.append((judged - deployed) / (variance([(0, 1)]) - judged))
    assert gains == pytest.approx([(n_folds - 1 - r) / n_folds for r in range(1, n_folds - 1)])
    assert (min(gains), max(gains)) == pytest.approx(next_mean(n_folds))


def test_the_step_is_taken_row_by_row() -> None:
    judged, pairs, alone = of([4.0, 6.0, 8.0]), of([7.0, 7.0, 10.0]), of([6.0, 5.0, 10.0])
    exact = stepped(judged, pairs, alone, (0.6, 0.6), 0.0)
    by_hand = of([4.0 - 0.6 * 1.0, 6.0 - 0.6 * 2.0, 8.0])
    assert exact.evaluation.score == pytest.approx(by_hand.score)
    np.testing.assert_allclose(exact.evaluation.contributions, by_hand.contributions)
    assert exact.uncorrected == judged.score


def test_the_step_is_at_least_nothing_and_at_most_a_quarter_of_the_loss() -> None:
    judged, worse, better = of([4.0, 6.0]), of([50.0, 60.0]), of([2.0, 1.0])
    up = stepped(judged, better, worse, (0.6, 0.6), 0.0)
    assert up.evaluation is judged
    down = stepped(judged, worse, better, (0.6, 0.6), 0.0)
    assert down.evaluation.score == pytest.approx(0.75 * judged.score)
    # A share of 0.9 correct is a loss of 0.1.
    high = stepped(Evaluation(0.9, judged.contributions), worse, better, (0.6, 0.6), 1.0)
    assert high.evaluation.score == pytest.approx(0.925)


def test_hits_and_ranks_step_backwards_as_far_as_forwards() -> None:
    own, low, high = (Evaluation(score, np.zeros(2)) for score in (0.6, 0.5, 0.52))
    up, down = (
        stepped(own, *two, (0.6, 0.6), 1.0, backwards=True) for two in ((low, high), (high, low))
    )
    assert up.evaluation.score - 0.6 == pytest.approx(0.012)
    assert 0.6 - down.evaluation.score == pytest.approx(0.012)
    far = Evaluation(-1.0, low.contributions), Evaluation(1.0, low.contributions)
    for score, lowest in ((0.6, 0.5), (0.1, 0.0), (-0.2, -0.5)):
        judged = Evaluation(score, low.contributions)
        back = stepped(judged, far[1], far[0], (0.6, 0.6), 1.0, backwards=True)
        assert back.evaluation.score == pytest.approx(lowest)
        assert back.more == 0.0


def test_what_more_models_may_be_worth_widens_the_better_end_alone() -> None:
    own, pairs, alone = of([4.0, 4.0]), of([5.0, 5.0]), of([4.5, 4.5])
    plain = stepped(own, pairs, alone, (0.8, 0.8), 0.0)
    wider = stepped(own, pairs, alone, (0.8, 0.8), 0.0, perhaps=0.5)
    assert wider.evaluation.score == plain.evaluation.score == pytest.approx(-3.6)
    assert (plain.more, wider.more) == (0.0, pytest.approx(0.5))
    assert stepped(own, pairs, alone, (0.8, 0.8), 0.0, perhaps=9.0).more == pytest.approx(0.6)
    assert stepped(own, pairs, pairs, (0.8, 0.8), 0.0, perhaps=0.5).more == pytest.approx(0.5)


def test_a_root_is_taken_after_the_step() -> None:
    exact = rooted(stepped(of([4.0, 6.0]), of([6.0, 7.0]), of([5.0, 6.0]), (0.5, 0.75), 0.0))
    assert exact.evaluation.score == pytest.approx(-np.sqrt(4.5))
    assert exact.uncorrected == pytest.approx(-np.sqrt(5.0))
    assert exact.more == pytest.approx(np.sqrt(4.5) - np.sqrt(4.25))
    np.testing.assert_allclose(
        exact.evaluation.contributions, of([3.5, 5.5]).contributions / (2 * np.sqrt(4.5))
    )


def test_the_interval_reaches_as_far_as_the_step_may() -> None:
    judged, pairs, alone = of([4.0, 6.0]), of([6.0, 7.0]), of([5.0, 6.0])
    exact = stepped(judged, pairs, alone, (0.2, 0.6), 0.0)
    assert (exact.evaluation.score, exact.more) == pytest.approx((-4.8, 0.4))
    # Both ends of the step are limited.
    assert stepped(judged, pairs, alone, (0.2, 9.0), 0.0).more == pytest.approx(1.25 - 0.2)
    low, high = score_interval(-4.8, 0.5, 1e9, 0.0)
    assert score_interval(-4.8, 0.5, 1e9, 0.0, 0.4) == pytest.approx((low, high * 4.4 / 4.8))


def test_a_mean_of_scores_is_the_score_of_the_mean_losses() -> None:
    mean = RunningMean()
    for losses in ([1.0, 3.0], [2.0, 6.0]):
        mean.add(of(losses))
    found = mean.evaluation
    np.testing.assert_allclose(found.contributions, of([1.5, 4.5]).contributions)
    assert found.score == -3.0


def test_it_says_when_the_step_was_limited() -> None:
    metric = as_metric(None, owner="S", classify=False, has_probabilities=False)
    own = of([4.0, 6.0])

    def told(raw: float, **options) -> str:
        return correction_of([Exact(own, own.score, raw, 1.25)], metric, **options).reason

    assert told(2.0).startswith("the step that the learning curve shows is more than a quarter")
    assert told(-1.0).startswith("models of more rows did not judge better")
    assert told(1.0).startswith("the deployed models saw more rows than the judged ones")
    assert told(1.0, averaged=True).startswith(
        "the mean of more models is deployed than was judged"
    )
    less = Evaluation(own.score - 1.0, own.contributions)
    worse = correction_of([Exact(less, own.score, -1.0, 1.25)], metric)
    assert worse.reason == "models of more rows judged worse here, by 1 of root mean squared error"
    held = correction_of([Exact(less, own.score, -3.0, 1.0)], metric)
    assert (worse.kind, held.kind) == ("step", "limited")
    assert "by 1 or more of" in held.reason
    assert told(-1.0, averaged=True).startswith("means of models did not judge better")


@pytest.mark.parametrize(("scoring", "best"), [("r2", 1), ("neg_log_loss", 0), ("roc_auc", 1)])
def test_the_best_score_there_can_be_is_known(scoring, best) -> None:
    metric = as_metric(scoring, owner="S", classify=scoring != "r2", has_probabilities=True)
    assert metric.best == best
