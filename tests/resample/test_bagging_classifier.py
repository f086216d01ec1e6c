import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BaggingClassifier
from foldwise.errors import InvalidParameterError, UnsupportedError

WEIGHTS_DIFFER = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn by weight",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn by weight",
}


@parametrize_with_checks(
    [BaggingClassifier(n_estimators=5)], expected_failed_checks=lambda _: WEIGHTS_DIFFER
)
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


def test_a_random_forest_is_the_special_case_in_law() -> None:
    X, y = make_classification(1500, 12, n_informative=6, flip_y=0.1, random_state=0)
    X, y, X_new, y_new = X[:300], y[:300], X[300:], y[300:]

    def scores(make):
        return [make(seed).fit(X, y).score(X_new, y_new) for seed in range(10)]

    ours = scores(
        lambda s: BaggingClassifier(n_estimators=30, split_features="sqrt", random_state=s)
    )
    theirs = scores(lambda s: RandomForestClassifier(n_estimators=30, random_state=s))
    spread = np.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / np.sqrt(10)
    assert abs(np.mean(ours) - np.mean(theirs)) < 3 * spread


def test_votes_are_counted_and_probabilities_averaged() -> None:
    X, y = load_iris(return_X_y=True)
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    vote = BaggingClassifier(learner, 10, combine="vote", random_state=0).fit(X, y)
    soft = BaggingClassifier(learner, 10, combine="soft", random_state=0).fit(X, y)
    heard = np.array([tree.predict(X).astype(int) for tree in vote.estimators_])
    shares = np.array([(heard == k).mean(axis=0) for k in range(3)]).T
    np.testing.assert_allclose(vote.predict_proba(X), shares)
    mean = np.mean([tree.predict_proba(X) for tree in soft.estimators_], axis=0)
    np.testing.assert_allclose(soft.predict_proba(X), mean)


def test_learners_without_probabilities_vote() -> None:
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(RidgeClassifier(), 9, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    with pytest.raises(UnsupportedError, match="have predict_proba for combine='soft'; got Ridge"):
        model.set_params(combine="soft").fit(X, y)


def test_a_learner_that_missed_a_class_says_nothing_about_it() -> None:
    X, y = np.arange(30.0)[:, None], np.r_[np.zeros(29, int), 1]
    model = BaggingClassifier(KNeighborsClassifier(1), 10, max_samples=15, random_state=0)
    model.fit(X, y)
    assert {len(learner.classes_) for learner in model.estimators_} == {1, 2}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    drawn = BaggingClassifier(LogisticRegression(), 5, max_samples=5, random_state=0)
    with pytest.raises(ValueError, match="class"):
        drawn.fit(X, y)  # the learner's own complaint: it cannot be fitted to one class


def test_new_classes_come_from_the_generator() -> None:
    X, y = make_classification(200, 5, flip_y=0.2, random_state=0)
    own = BaggingClassifier(n_estimators=5, sampling="parametric", random_state=0).fit(X, y)
    assert (own.predict(X) == y).all()  # a full tree is sure of its rows and gives y back
    smooth = BaggingClassifier(
        n_estimators=20, sampling="parametric", generator=LogisticRegression(), random_state=0
    ).fit(X, y)
    assert 0.6 < smooth.score(X, y) < 1


def test_out_of_bag_tells_the_error_on_new_rows() -> None:
    X, y = make_classification(3000, 10, n_informative=5, flip_y=0.1, random_state=0)
    model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0)
    model.fit(X[:600], y[:600])
    assert model.oob_score_ == pytest.approx(
        model.score(X[600:], y[600:]), abs=3 * model.oob_score_se_
    )
    assert model.oob_decision_function_.shape == (600, 2)


def test_intervals_lie_within_zero_and_one() -> None:
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    interval = model.confidence_interval(X[::10])
    assert interval.shape == (15, 3, 2)
    assert interval.min() >= 0
    assert interval.max() <= 1
    assert model.variance_curve(X).sigma2 > 0


def test_one_class_is_predicted() -> None:
    model = BaggingClassifier(n_estimators=3).fit([[0.0], [1.0]], ["a", "a"])
    assert model.predict([[5.0]]).tolist() == ["a"]


def test_noise_is_for_numbers() -> None:
    with pytest.raises(InvalidParameterError, match=r"sampling must be one of .*; got 'noise'"):
        BaggingClassifier(sampling="noise").fit([[0.0], [1.0]], [0, 1])
