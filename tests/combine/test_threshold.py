import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from foldwise.combine.threshold import METRICS, best_threshold, pick_threshold, thresholds_between
from foldwise.errors import InvalidParameterError

SCORES = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "matthews_corrcoef": metrics.matthews_corrcoef,
}
ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(1, 3)), min_size=2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(ROWS)
def test_no_threshold_is_better_and_the_value_is_scikit_learns(name, rows) -> None:
    p, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    p, score = p / 8, SCORES[name]
    options = {"zero_division": 0} if name in ("f1", "jaccard") else {}
    threshold, value = best_threshold(p, y, name, weight)

    def at(t):
        return score(y, (p >= t).astype(int), sample_weight=weight, **options)

    assert value == pytest.approx(at(threshold), abs=1e-12)
    assert value >= max(at(t) for t in np.arange(10) / 8) - 1e-12


@given(st.lists(st.floats(0, 1), min_size=1))
def test_thresholds_make_every_cut_once(values) -> None:
    p = np.array(values)
    cuts = [tuple(p >= t) for t in thresholds_between(p)]
    assert len(set(cuts)) == len(cuts) == len(np.unique(p)) + 1


def test_equally_good_thresholds_give_way_to_the_one_nearest_to_a_half() -> None:
    assert best_threshold(np.array([0.1, 0.9]), np.array([0, 1]), "accuracy") == (0.5, 1.0)
    assert best_threshold(np.array([0.2, 0.8]), np.array([1, 1]), "accuracy")[0] < 0.2
    p, y = np.linspace(0.1, 0.9, 9), np.tile([0, 1, 0], 3)
    assert best_threshold(p, y, lambda tn, *_: np.zeros_like(tn)) == (0.5, 0.0)
    assert pick_threshold(np.array([0.1, 0.6]), np.array([np.nan, 0.0])) == (0.6, 0.0)


def test_costs_move_the_threshold_to_the_ratio_of_costs() -> None:
    """With right probabilities the best threshold is cost(fp) / (cost(fp) + cost(fn))."""
    rng = np.random.default_rng(0)
    p = rng.uniform(size=100_000)
    y = (rng.uniform(size=100_000) < p).astype(int)
    found, _ = best_threshold(p, y, lambda _, fp, fn, __: -(4 * fn + fp))
    assert found == pytest.approx(0.2, abs=0.04)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        best_threshold(np.array([0.5]), np.array([1]), "f2")
    assert str(caught.value) == (
        "best_threshold: metric must be one of 'accuracy', 'balanced_accuracy', 'f1', 'jaccard', "
        "'matthews_corrcoef' or a function of four counts; got 'f2'. "
        "Use one of 'accuracy', 'balanced_accuracy', 'f1', 'jaccard', "
        "'matthews_corrcoef'."
    )
