import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import AdaBoostClassifier
from foldwise.errors import InvalidDataError, InvalidParameterError, UnsupportedError

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


@parametrize_with_checks([AdaBoostClassifier(n_estimators=5)])
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


def the_slide(X, y, rounds):
    """AdaBoost as seed 002 has it, with the sign."""
    d = np.full(len(y), 1 / len(y))
    betas, learners = [], []
    for _ in range(rounds):
        h = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y, sample_weight=d)
        wrong = h.predict(X) != y
        error = d[wrong].sum()
        beta = 0.5 * np.log((1 - error) / error)
        d = d * np.where(wrong, np.exp(beta), np.exp(-beta))
        d = d / d.sum()
        betas.append(beta)
        learners.append(h)
    return np.array(betas), sum(b * h.predict(X) for b, h in zip(betas, learners, strict=True))


def test_two_classes_follow_the_slide() -> None:
    X, y = make_classification(200, 6, n_informative=4, random_state=0)
    betas, score = the_slide(X, 2 * y - 1, 25)
    model = AdaBoostClassifier(STUMP, 25).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, betas, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), score, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), score > 0)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_samme_agrees_with_scikit_learn(n_classes) -> None:
    X, y = make_classification(
        300, 8, n_informative=6, n_redundant=0, n_classes=n_classes, random_state=1
    )
    ours, theirs = (kind(STUMP, n_estimators=30) for kind in [AdaBoostClassifier, Reference])
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    says = ours.estimator_weights_ * (2 if n_classes == 2 else 1)
    np.testing.assert_allclose(says, theirs.estimator_weights_, rtol=1e-9)
    for mine, yours in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_the_training_error_obeys_the_bound() -> None:
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)
    model = AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, y)
    errors = model.estimator_errors_
    bound = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    assert (model.path_.error <= bound + 1e-12).all()
    np.testing.assert_allclose(model.path_.exponential_loss, bound, rtol=1e-8)


def test_staged_answers_end_in_the_answers() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    pairs = [
        (model.staged_predict, model.predict),
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
    ]
    for staged, final in pairs:
        stages = list(staged(X))
        assert len(stages) == model.n_estimators_
        np.testing.assert_array_equal(stages[-1], final(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_margins_of_training_rows_are_those_of_the_path() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    margins = model.margins(X, y)
    assert margins.min() == pytest.approx(model.path_.smallest_margin[-1])
    assert np.mean(margins <= 0) == pytest.approx(model.path_.error[-1])


@pytest.mark.parametrize("learner", [KNeighborsClassifier(3), LogisticRegression(max_iter=1000)])
def test_learners_can_be_boosted_by_resampling(learner) -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(learner, 5, weighting="resample", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = AdaBoostClassifier(pipeline, 5, weighting="weights").fit(X, y)
    assert model.score(X, y) > 0.97


def test_a_learner_without_weights_is_refused_when_weights_are_asked_for() -> None:
    message = (
        "AdaBoostClassifier: estimator must take sample_weight in fit for weighting='weights'; "
        "got KNeighborsClassifier. Use weighting='resample'."
    )
    with pytest.raises(UnsupportedError) as caught:
        AdaBoostClassifier(KNeighborsClassifier(), weighting="weights").fit([[0], [1]], [0, 1])
    assert str(caught.value) == message


def test_a_perfect_first_learner_is_the_whole_committee() -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    model = AdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_[0] == pytest.approx(0.5 * np.log(19))
    assert model.score(X, y) == 1


def test_a_first_learner_no_better_than_chance_is_an_error() -> None:
    message = (
        "AdaBoostClassifier: estimator must have a weighted training error below 0.5 in the "
        "first round; got 0.5. Use a stronger learner, or check that X tells the classes apart."
    )
    with pytest.raises(InvalidDataError) as caught:
        AdaBoostClassifier().fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert str(caught.value) == message


def test_one_class_is_an_error() -> None:
    with pytest.raises(InvalidDataError, match="y must hold at least two classes; got one class"):
        AdaBoostClassifier().fit([[0.0], [1.0]], [1, 1])


def test_early_stopping_finds_fewer_rounds_on_noise() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    model = AdaBoostClassifier(
        n_estimators=200, early_stopping=True, n_iter_no_change=5, random_state=0
    )
    assert model.fit(X, y).n_estimators_ < 60
    kept = model.set_params(refit=None).fit(X, y)
    assert kept.n_estimators_ < 60


@pytest.mark.parametrize(
    ("parameter", "bad"),
    [("n_estimators", 0), ("learning_rate", -1), ("weighting", "wieghts"), ("refit", "no")],
)
def test_bad_parameters_are_named(parameter, bad) -> None:
    with pytest.raises(InvalidParameterError, match=f"AdaBoostClassifier: {parameter} must"):
        AdaBoostClassifier(**{parameter: bad}).fit([[0.0], [1.0]], [0, 1])


def test_frames_and_sparse_matrices_give_the_same_as_arrays() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5, random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    names = [f"c{i}" for i in range(4)]
    for table in [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]:
        np.testing.assert_array_equal(model.fit(table, y).predict_proba(table), expected)
        assert model.feature_names_in_.tolist() == names
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(model.fit(rows, y).predict_proba(rows), expected)


def test_importances_sum_to_one() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    X, y = make_classification(80, 5, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = AdaBoostClassifier(STUMP, 20).fit(X, y, sample_weight=weight)
    repeated = AdaBoostClassifier(STUMP, 20).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_margins_of_unknown_classes_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(InvalidDataError, match=r"y must hold classes seen in fit; got 7\. Leave"):
        model.margins(X[:2], [0, 7])


def test_a_regressor_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="be a classifier; got the regressor Ridge"):
        AdaBoostClassifier(Ridge()).fit([[0.0], [1.0]], [0, 1])


def test_early_stopping_counts_the_rows_apart_by_weight() -> None:
    # Of the rows set apart those with weight are labelled as the others; the rest, with next to
    # none, the other way round, so that unweighted every round looks as bad as the last.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    lying = np.arange(200) >= 130
    y[lying] = 1 - y[lying]
    weight = np.where(lying, 1e-6, 1.0)
    apart = [(np.arange(100), np.arange(100, 200))]
    model = AdaBoostClassifier(STUMP, 40, early_stopping=True, validation=apart, refit="same")
    honest = model.fit(X, y, weight).n_estimators_
    without = [(np.arange(100), np.arange(100, 130))]
    model.set_params(validation=without)
    assert honest == model.fit(X, y, weight).n_estimators_ > 5
