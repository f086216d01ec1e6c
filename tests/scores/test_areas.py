import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

from foldwise.scores.areas import mean_area
from foldwise.scores.metric import Response, Target, as_metric

RNG = np.random.default_rng(0)
N = 240
CODES = RNG.choice(3, N, p=[0.6, 0.3, 0.1])
CHANCES = RNG.dirichlet(np.ones(3), size=N) + 0.3 * np.eye(3)[CODES]
CHANCES = (CHANCES / CHANCES.sum(axis=1, keepdims=True)).round(2)
CHANCES[:, 0] = 1 - CHANCES[:, 1:].sum(axis=1)
FOLD = np.arange(N) % 3
TRUTH = CODES[:, None] == np.arange(3)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_several_classes_have_scikit_learns_area(average: str) -> None:
    found, _ = mean_area(CHANCES, TRUTH, FOLD, by_prevalence=average == "weighted")
    each = [
        roc_auc_score(CODES[f == FOLD], CHANCES[f == FOLD], multi_class="ovr", average=average)
        for f in range(3)
    ]
    assert found == pytest.approx(np.mean(each), rel=1e-12)


def test_the_metrics_use_it() -> None:
    target = Target(CODES, np.array([0, 1, 2]), None, FOLD)
    response = Response("probability", CHANCES)
    for name, by_prevalence in [("roc_auc_ovr", False), ("roc_auc_ovr_weighted", True)]:
        metric = as_metric(name, owner="S", classify=True, has_probabilities=True)
        found = metric.evaluate(response, target)
        area, own = mean_area(CHANCES, TRUTH, FOLD, by_prevalence=by_prevalence)
        assert found.score == area == metric.score(response, target)
        np.testing.assert_array_equal(found.contributions, own)


def test_the_error_of_the_mean_over_classes_is_that_of_a_bootstrap() -> None:
    one_fold = np.zeros(N, dtype=int)
    _, own = mean_area(CHANCES, TRUTH, one_fold)
    drawn = []
    for _ in range(400):
        rows = RNG.integers(0, N, N)
        drawn.append(mean_area(CHANCES[rows], TRUTH[rows], one_fold)[0])
    # The bootstrap's own error is one in sqrt(2 * 400), 3.5 %.
    assert np.sqrt(np.sum(own**2)) == pytest.approx(np.std(drawn), rel=0.12)


def test_a_fold_without_a_class_is_left_out() -> None:
    codes = np.where((FOLD == 1) & (CODES == 2), 0, CODES)
    truth = codes[:, None] == np.arange(3)
    kept = FOLD != 1
    found, own = mean_area(CHANCES, truth, FOLD)
    assert found == mean_area(CHANCES[kept], truth[kept], FOLD[kept])[0]
    assert not own[~kept].any()


def test_without_any_area_there_is_none() -> None:
    assert np.isnan(mean_area(CHANCES, np.zeros_like(TRUTH), FOLD)[0])


@pytest.mark.parametrize(("n_positive", "shift"), [(10, 1.0), (100, 1.0), (100, 2.0)])
def test_the_error_of_an_area_covers_where_a_class_is_rare(n_positive: int, shift: float) -> None:
    rng, n_folds, n = np.random.default_rng(0), 10, 1000
    positive = np.arange(n) < n_positive
    fold = np.arange(n) % n_folds
    areas, errors = [], []
    for _ in range(200):
        scores = rng.normal(size=n) + shift * positive
        area, own = mean_area(scores[:, None], positive[:, None], fold)
        areas.append(area)
        errors.append(np.sqrt(np.sum(own**2)))
    truth = ndtr(shift / np.sqrt(2))
    assert np.mean(errors) == pytest.approx(np.std(areas), rel=0.25)
    assert np.mean(np.abs(np.array(areas) - truth) <= 1.96 * np.array(errors)) > 0.88


def test_one_row_of_a_class_has_no_error_to_be_told() -> None:
    _, own = mean_area(np.arange(9.0)[:, None], np.arange(9)[:, None] == 4, np.zeros(9, dtype=int))
    assert np.isnan(own[4])
