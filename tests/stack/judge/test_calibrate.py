import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.metrics import fbeta_score, make_scorer

from foldwise.combine.calibration import Calibration, fit_calibrator
from foldwise.combine.threshold import best_threshold
from foldwise.scores.metric import Response, Target, as_metric
from foldwise.stack.judge.calibrate import Correction, Corrector, logits_of, tuned_threshold
from foldwise.stack.judge.judge import corrected
from foldwise.stack.table.read import clip_amount

RNG = np.random.default_rng(0)
Z = RNG.normal(scale=2.0, size=200)
Y = (RNG.uniform(size=200) < expit(0.4 * Z)).astype(np.intp)
VALUES = np.column_stack([1 - expit(Z), expit(Z)])
TARGET = Target(Y, np.array([0, 1]), None, np.arange(200) % 4)
PROBABILITIES, DECISIONS = Response("probability", VALUES), Response("decision", Z[:, None])
F1 = as_metric("f1", owner="x", classify=True, has_probabilities=True)


def test_nothing_is_done_to_an_untouched_response() -> None:
    assert Correction().apply(PROBABILITIES) is PROBABILITIES
    assert corrected(PROBABILITIES, None) is PROBABILITIES


def test_calibration_reads_the_clipped_logits() -> None:
    correction = Corrector(("platt",), None, 200).find((PROBABILITIES, TARGET))
    clip = clip_amount(200)
    expected = fit_calibrator("platt", logit(np.clip(VALUES[:, 1], clip, 1 - clip)), Y)
    z = logit(np.clip(VALUES[:, 1], clip, 1 - clip))
    np.testing.assert_allclose(correction.apply(PROBABILITIES).values, expected.predict(z))


def test_none_leaves_probabilities_as_they_are_but_for_labels_of_their_own() -> None:
    correction = Correction(Calibration("none", None, {}))
    response = Response("probability", VALUES, np.zeros(200, dtype=np.intp))
    done = correction.apply(response)
    assert done.values is VALUES
    np.testing.assert_array_equal(done.labels, VALUES.argmax(axis=1))


def test_decision_values_are_scaled_and_never_left_alone() -> None:
    correction = Corrector(("none", "platt"), None, 200).find((DECISIONS, TARGET))
    assert correction.calibration.method == "platt"
    assert correction.scale == pytest.approx(np.sqrt(np.mean(Z**2)))
    done = correction.apply(DECISIONS)
    assert done.kind == "probability"
    np.testing.assert_allclose(done.values.sum(axis=1), 1.0)


def test_the_scale_counts_a_row_as_often_as_its_weight() -> None:
    weight = RNG.integers(0, 3, 200).astype(float)
    rows = np.repeat(np.arange(200), weight.astype(int))
    weighted = Target(Y, TARGET.labels, weight, TARGET.fold)
    one = Corrector(("platt",), None, 200).find((DECISIONS, weighted))
    other = Corrector(("platt",), None, 200).find((DECISIONS.take(rows), TARGET.take(rows)))
    assert one.scale == pytest.approx(other.scale)


def test_without_rows_to_learn_from_there_is_a_sane_correction() -> None:
    correction = Corrector(("platt",), F1, 10).find(None)
    assert correction.threshold == 0.5
    np.testing.assert_allclose(correction.apply(DECISIONS).values[:, 1], expit(Z))
    assert Corrector((), 0.3, 10).find(None).threshold == 0.3
    weightless = Target(Y, TARGET.labels, np.zeros(200), TARGET.fold)
    assert Corrector(("platt",), F1, 10).find((DECISIONS, weightless)).threshold == 0.5


def test_a_threshold_decides_the_labels_only() -> None:
    done = Correction(threshold=0.8).apply(PROBABILITIES)
    assert done.values is VALUES
    np.testing.assert_array_equal(done.labels, VALUES[:, 1] >= 0.8)


def test_a_threshold_is_chosen_by_probabilities_calibrated_without_the_row() -> None:
    correction = Corrector(("isotonic",), F1, 200).find((PROBABILITIES, TARGET))
    clip, p = clip_amount(200), np.empty(200)
    z = logit(np.clip(VALUES[:, 1], clip, 1 - clip))
    for fold in range(4):
        own = TARGET.fold == fold
        p[own] = fit_calibrator("isotonic", z[~own], Y[~own]).predict(z[own])[:, 1]
    assert correction.threshold == best_threshold(p, Y, "f1")[0]


def test_the_quick_way_and_the_scorer_agree_on_the_threshold() -> None:
    quick = tuned_threshold(VALUES[:60], TARGET.take(slice(60)), F1)
    named = Target(Y[:60], np.array(["no", "yes"]), None, TARGET.fold[:60])
    slow = tuned_threshold(
        VALUES[:60],
        named,
        as_metric(
            make_scorer(fbeta_score, beta=1.0, pos_label="yes"),
            owner="x",
            classify=True,
            has_probabilities=True,
        ),
    )
    assert quick == slow


def test_another_beta_moves_the_threshold() -> None:
    scorer = make_scorer(fbeta_score, beta=10.0)
    metric = as_metric(scorer, owner="x", classify=True, has_probabilities=True)
    assert tuned_threshold(VALUES, TARGET, metric) < tuned_threshold(VALUES, TARGET, F1)


def test_logits_of_both_kinds() -> None:
    np.testing.assert_allclose(logits_of(PROBABILITIES, 1e-9, 7.0)[:, 0], Z, rtol=1e-6)
    np.testing.assert_allclose(logits_of(DECISIONS, 0.0, 2.0)[:, 0], Z / 2)
