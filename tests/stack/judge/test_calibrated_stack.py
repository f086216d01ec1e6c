"""Calibration and thresholds inside the nest: nothing leaks, nothing is lost."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier
from foldwise.combine.calibration import choose_calibration, default_methods, fit_platt
from foldwise.stack.table.read import as_logits, clip_amount
from tests.stack.test_nothing_leaks import (
    CLASSIFIERS,
    SPLITS,
    changed,
    folds_to_flip,
    noise,
    what_predicts,
)

X2, Y2 = make_classification(600, 8, n_informative=4, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
LEARNERS = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=6, random_state=0))]


def stack(**options):
    return StackingClassifier(
        LEARNERS, **{"final_estimator": "mean", "cv": 4, "random_state": 0, **options}
    )


# Every method reads its rows differently; on noise a choice turns on every row it sees.
CHOICES = ["none", "temperature", "platt", "beta", "quadratic", "isotonic", "venn_abers"]
MODES = {
    "choice": ("plain", {"calibrate": CHOICES}),
    "isotonic": ("plain", {"calibrate": "isotonic"}),
    "threshold": ("plain", {"calibrate": "platt", "threshold": "f1"}),
    "threshold alone": ("plain", {"threshold": "balanced_accuracy"}),
    "node": ("plain", {"calibrate": "venn_abers", "hold_out": "node"}),
    "refit": ("plain", {"calibrate": CHOICES, "predict_with": "refit", "threshold": "f1"}),
    "pairs": ("plain", {"calibrate": CHOICES, "predict_with": "pairs", "threshold": "f1"}),
    "groups": ("groups", {"calibrate": CHOICES, "threshold": "f1"}),
    "purged": ("purged", {"calibrate": CHOICES, "threshold": "f1"}),
    "time": ("time", {"calibrate": CHOICES, "threshold": "f1"}),
    "several tops": ("plain", {"calibrate": "isotonic", "final_estimator": ["mean", "logistic"]}),
}


def corrected_prints(fitted, fold):
    """Return prints of everything that predicts a fold, the correction included."""
    prints = what_predicts(fitted, fold)
    (deal,) = fitted.deals_
    own = [j for j in deal.verdict.folds if j.fold == fold]
    if own:
        correction = own[0].correction
        learned = {} if correction.calibration is None else vars(correction.calibration)
        prints["correction"] = joblib.hash(
            (learned, correction.threshold, correction.clip, correction.scale)
        )
        here = np.isin(deal.verdict.rows, deal.lattice.tests[fold])
        prints["labels"] = joblib.hash(deal.verdict.response.labels[here])
    return prints


@pytest.mark.parametrize("mode", MODES)
def test_flipping_y_in_a_fold_changes_nothing_that_predicts_it(mode) -> None:
    splitter, options = MODES[mode]
    splits = SPLITS[splitter]
    X, y = noise("classification")

    def fit(target):
        options_ = {"final_estimator": "mean", **options}
        model = StackingClassifier(CLASSIFIERS, cv=splits, random_state=0, **options_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, target)

    before, anything_changed = fit(y), False
    for fold in folds_to_flip(splitter):
        after = fit(changed("classification", y, splits[fold][1]))
        assert corrected_prints(before, fold) == corrected_prints(after, fold)
        others = [i for i in range(len(splits)) if i != fold]
        anything_changed |= any(
            corrected_prints(before, i).get("correction")
            != corrected_prints(after, i).get("correction")
            for i in others
        )
    assert anything_changed, "the flip reached no correction, so this test shows nothing"


@pytest.mark.parametrize("calibrate", ["auto", "platt", "isotonic", "venn_abers", "network"])
def test_no_calibration_beats_noise(calibrate) -> None:
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
        model = StackingClassifier(CLASSIFIERS, "mean", cv=3, random_state=seed)
        gains.append(np.log(2) + model.set_params(calibrate=calibrate).fit(X, y).score_)
    assert np.mean(gains) <= 2 * np.std(gains, ddof=1) / np.sqrt(6)


def test_no_threshold_beats_noise() -> None:
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
        model = StackingClassifier(CLASSIFIERS, "mean", cv=3, random_state=seed).fit(X, y)
        gains.append(model.tune_threshold("balanced_accuracy").score_ - 0.5)
    assert np.mean(gains) <= 2 * np.std(gains, ddof=1) / np.sqrt(6)


def test_the_deployed_calibration_is_learned_from_the_hold_out_responses() -> None:
    plain = stack().fit(X2, Y2)
    verdict = plain.deals_[0].verdict
    fitted = plain.restack(calibrate="auto")
    values = verdict.response.values
    expected = choose_calibration(
        as_logits(values[:, 1:], clip_amount(600)),
        Y2[verdict.rows],
        default_methods(2),
        verdict.target.fold,
        plain=values,
    )
    assert fitted.calibrator_.method == expected.method != "none"
    assert fitted.calibrator_.losses == expected.losses
    z = as_logits(plain.predict_proba(X2)[:, 1:], clip_amount(600))
    np.testing.assert_array_equal(fitted.predict_proba(X2), expected.map.predict(z))


def test_a_judged_fold_is_calibrated_by_stacks_of_the_other_folds() -> None:
    """With a mean on top nothing but the calibrator is learned from inner predictions."""
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X2, Y2))
    fitted = stack(cv=splits, calibrate="platt").fit(X2, Y2)
    table, judged = fitted.deals_[0].top.table, fitted.deals_[0].verdict.folds[0]
    values, codes = [], []
    for j in (1, 2, 3):
        rows = splits[j][1]
        train = np.setdiff1d(splits[0][0], rows)
        fits = [clone(learner).fit(X2[train], Y2[train]) for _, learner in LEARNERS]
        values.append(np.mean([m.predict_proba(X2[rows])[:, 1] for m in fits], axis=0))
        codes.append(Y2[rows])
    z = as_logits(np.concatenate(values)[:, None], clip_amount(600))
    expected = fit_platt(z, np.concatenate(codes))
    assert table.n_fits["nb"] == 10
    assert judged.correction.calibration.map.slope == pytest.approx(expected.slope, rel=1e-6)
    assert judged.correction.calibration.map.intercept == pytest.approx(
        expected.intercept, abs=1e-6
    )


def test_the_score_is_that_of_the_calibrated_predictions() -> None:
    fitted = stack(calibrate="beta").fit(X2, Y2)
    verdict = fitted.deals_[0].verdict
    judged = log_loss(Y2[verdict.rows], verdict.response.values)
    assert -fitted.score_uncorrected_ == pytest.approx(judged)
    board = fitted.leaderboard_.set_index("model")
    assert board.loc["stack", "log_loss"] == pytest.approx(-fitted.score_)


def test_too_sure_learners_get_better_on_new_rows() -> None:
    X, y = make_classification(1600, 8, n_informative=4, flip_y=0.1, random_state=3)
    sure = [("tree", LEARNERS[1][1]), ("nn", KNeighborsClassifier(2))]
    for final_estimator in ("best", "mean"):
        plain = StackingClassifier(sure, final_estimator, random_state=0).fit(X[:600], y[:600])
        fitted = plain.restack(calibrate="auto")
        before = log_loss(y[600:], plain.predict_proba(X[600:]))
        after = log_loss(y[600:], fitted.predict_proba(X[600:]))
        assert after < before
        assert fitted.score_uncorrected_ > plain.score_uncorrected_


def test_restack_and_add_keep_the_calibration_and_fit_no_learner_again() -> None:
    fitted = stack(calibrate="beta", threshold=0.4).fit(X2, Y2)
    other = fitted.restack("nnls")
    assert (other.calibrate, other.threshold, other.threshold_) == ("beta", 0.4, 0.4)
    assert other.calibrator_.method == "beta"
    assert other.n_fits_ == fitted.n_fits_
    more = fitted.add("knn", KNeighborsClassifier())
    assert more.calibrator_.method == "beta"
    again = stack(calibrate="beta", threshold=0.4, final_estimator="nnls").fit(X2, Y2)
    np.testing.assert_array_equal(again.predict_proba(X2), other.predict_proba(X2))
    assert fitted.restack(calibrate=None, threshold=None).calibrator_ is None


def test_a_stack_without_calibration_is_the_same_as_ever() -> None:
    fitted = stack().fit(X2, Y2)
    assert fitted.calibrator_ is None
    assert fitted.threshold_ is None


@pytest.mark.parametrize("calibrate", ["temperature", "vector", "matrix", "beta", "network"])
def test_several_classes_are_calibrated(calibrate) -> None:
    fitted = stack(calibrate=calibrate).fit(X3, Y3)
    given = fitted.predict_proba(X3)
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X3), given.argmax(axis=1))


def test_decisions_of_a_stacker_become_probabilities() -> None:
    fitted = stack(final_estimator=RidgeClassifier(), calibrate="platt").fit(X2, Y2)
    assert fitted.leaderboard_.columns[1] == "log_loss"
    assert hasattr(fitted, "predict_proba")
    assert not hasattr(fitted, "decision_function")
    assert log_loss(Y2, fitted.predict_proba(X2)) < 0.5


def test_repeats_are_calibrated_each_and_averaged() -> None:
    fitted = stack(calibrate="platt", threshold=0.3, n_repeats=3, cv=3).fit(X2, Y2)
    slopes = {deal.verdict.correction.calibration.map.slope for deal in fitted.deals_}
    assert len(slopes) == 3
    given = fitted.predict_proba(X2)
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    assert np.mean(fitted.predict(X2) == (given[:, 1] >= 0.3)) > 0.98


def test_two_folds_cannot_be_judged_but_are_calibrated() -> None:
    with pytest.warns(UserWarning, match="no honest score"):
        fitted = stack(calibrate="platt", threshold="f1", cv=2).fit(X2, Y2)
    assert fitted.calibrator_.method == "platt"
    assert 0.0 < fitted.threshold_ < 1.0


def test_one_split_is_calibrated_on_the_rows_it_tests() -> None:
    split = [(np.arange(300), np.arange(300, 600))]
    fitted = stack(calibrate="platt", cv=split).fit(X2, Y2)
    assert np.isfinite(fitted.score_)
    assert fitted.calibrator_.method == "platt"


def test_layers_and_passed_columns_are_calibrated_too() -> None:
    layers = [LEARNERS, [("log", LogisticRegression())]]
    fitted = StackingClassifier(
        layers, "logistic", passthrough=True, cv=4, random_state=0, calibrate="auto"
    ).fit(X2, Y2)
    assert np.isfinite(fitted.score_)
    assert fitted.calibrator_ is not None


def test_prediction_sets_are_made_of_calibrated_hold_out_stacks() -> None:
    X, y = make_classification(2000, 8, n_informative=4, flip_y=0.1, random_state=2)
    fitted = stack(calibrate="beta", final_estimator="best").fit(X[:600], y[:600])
    deal = fitted.deals_[0]
    rows = deal.reading.judgements[0].test.rows
    own = deal.verdict.folds[0].respond(deal.fresh(X[rows], deal.reading.judgements[0].fresh))
    misfits = 1 - own.values[np.arange(len(rows)), y[rows]]
    np.testing.assert_allclose(deal.verdict.folds[0].misfits, misfits, atol=1e-12)
    inside = fitted.predict_set(X[600:], 0.9)
    assert 0.86 <= inside[np.arange(1400), y[600:]].mean() <= 0.97


def imbalanced(n):
    return make_classification(n, 8, n_informative=4, weights=[0.9], flip_y=0.05, random_state=1)


def test_a_tuned_threshold_raises_the_metric_on_new_rows_and_says_by_how_much() -> None:
    X, y = imbalanced(3000)
    plain = stack(scoring="balanced_accuracy", cv=3).fit(X[:800], y[:800])
    tuned = plain.tune_threshold()
    before, after = (balanced_accuracy_score(y[800:], m.predict(X[800:])) for m in (plain, tuned))
    assert after > before
    assert tuned.score_ > plain.score_
    assert tuned.score_ == pytest.approx(after, abs=3 * tuned.score_se_)
    assert tuned.n_fits_ == plain.n_fits_
    np.testing.assert_array_equal(tuned.predict_proba(X), plain.predict_proba(X))


def test_the_score_of_a_threshold_is_below_that_of_the_rows_that_chose_it() -> None:
    flattered = []
    for seed in range(5):
        X, y = make_classification(200, 6, flip_y=0.3, weights=[0.7], random_state=seed)
        fitted = stack(random_state=seed).fit(X, y).tune_threshold("balanced_accuracy")
        verdict = fitted.deals_[0].verdict
        labels = verdict.response.values[:, 1] >= fitted.threshold_
        flattered.append(balanced_accuracy_score(y[verdict.rows], labels) - fitted.score_)
    assert np.mean(flattered) > 0


def test_a_threshold_is_honest_fold_by_fold() -> None:
    folds = KFold(3, shuffle=True, random_state=0)
    fitted = stack(threshold="f1", cv=folds, final_estimator="mean").fit(X2[:150], Y2[:150])
    verdict = fitted.deals_[0].verdict
    for number, judged in enumerate(verdict.folds):
        own = verdict.target.fold == number
        expected = verdict.response.values[own, 1] >= judged.correction.threshold
        np.testing.assert_array_equal(verdict.response.labels[own], expected)
    assert len({judged.correction.threshold for judged in verdict.folds}) > 1
