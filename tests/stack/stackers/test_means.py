import numpy as np
import pytest

from foldwise.scores.metric import as_metric
from foldwise.stack.stackers.means import OneClass, WeightedMean
from foldwise.stack.table.read import Features

RNG = np.random.default_rng(0)


def test_non_negative_weights_of_classes_fit_the_brier_score() -> None:
    # Of a good and a worthless model the good one gets all the weight.
    labels = np.array(["a", "b", "c"])
    y = RNG.integers(0, 3, 200)
    good, bad = np.eye(3)[y], np.eye(3)[RNG.integers(0, 3, 200)]
    mean = WeightedMean("nnls", None, labels).fit(np.stack([good, bad], axis=1), y)
    np.testing.assert_allclose(mean.weights_, [1, 0], atol=1e-10)
    assert mean.respond(np.stack([good, bad], axis=1)).kind == "probability"


def test_if_no_model_is_worth_a_weight_all_have_the_same() -> None:
    wrong = np.stack([np.ones((5, 1)), np.ones((5, 1))], axis=1)
    mean = WeightedMean("nnls", None, np.array([0, 1])).fit(wrong, np.zeros(5, dtype=int))
    assert mean.weights_.tolist() == [0.5, 0.5]


def test_the_best_is_judged_by_the_metric() -> None:
    # The first model has the smaller absolute error, the second the smaller squared error.
    y = np.zeros(10)
    first, second = np.r_[np.zeros(9), 8.0], np.full(10, 1.0)
    members = np.stack([first, second], axis=1)[:, :, None]
    for scoring, weights in [("neg_mean_absolute_error", [1, 0]), (None, [0, 1])]:
        metric = as_metric(scoring, owner="S", classify=False, has_probabilities=False)
        assert WeightedMean("best", metric).fit(members, y).weights_.tolist() == weights


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_class_is_predicted_in_every_kind(n_classes: int) -> None:
    labels = np.arange(n_classes)
    features = Features([np.ones((4, 1))], ("m",), ("value",), labels, 40.0)
    for kind in ("probability", "decision", "label"):
        response = OneClass(1, kind).respond(features)
        assert response.kind == kind
        assert response.labels.tolist() == [1] * 4
    share = OneClass(1, "probability").respond(features).values
    assert (share > 0).all()
    np.testing.assert_allclose(share.sum(axis=1), 1.0)


@pytest.mark.parametrize("width", [1, 3])
def test_no_probability_is_outside_zero_and_one_by_rounding(width: int) -> None:
    mean = WeightedMean("nnls", None, np.arange(max(width, 2)))
    mean.weights_ = np.array([np.nextafter(1.0, 2.0)])
    given = mean.respond(np.ones((1, 1, width))).values
    assert 0.0 <= given.min() <= given.max() == 1.0
