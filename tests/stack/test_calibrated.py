"""CalibratedClassifier: any classifier, calibrated on its own out-of-fold predictions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import CalibratedClassifier, StackingClassifier
from foldwise.errors import InvalidParameterError, NoScoreWarning
from foldwise.stack.calibrated import AsDecided

X2, Y2 = make_classification(400, 8, n_informative=4, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
X4, Y4 = make_classification(400, 8, n_informative=6, n_classes=4, random_state=0)
SURE = DecisionTreeClassifier(max_depth=6, random_state=0)


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([CalibratedClassifier(GaussianNB(), "platt", cv=3)])
def test_scikit_learns_estimator_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("predict_with", ["folds", "refit", "pairs"])
def test_an_overconfident_classifier_gets_a_lower_log_loss_on_new_rows(predict_with) -> None:
    X, y = make_classification(1500, 8, n_informative=4, flip_y=0.1, random_state=1)
    plain = SURE.fit(X[:700], y[:700]).predict_proba(X[700:])
    model = CalibratedClassifier(SURE, predict_with=predict_with, random_state=0)
    given = model.fit(X[:700], y[:700]).predict_proba(X[700:])
    assert log_loss(y[700:], given) < 0.5 * log_loss(y[700:], plain)
    assert model.calibrator_.method != "none"
    assert -model.score_ == pytest.approx(log_loss(y[700:], given), rel=0.2)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3), (X4, Y4)], ids=["two", "three", "four"])
@pytest.mark.parametrize(
    "classifier",
    [GaussianNB(), RidgeClassifier(), NearestCentroid(), SVC(decision_function_shape="ovr")],
    ids=["probabilities", "decisions", "distances", "svc"],
)
def test_every_kind_of_classifier_gets_probabilities(classifier, X, y) -> None:
    model = CalibratedClassifier(classifier, cv=3, random_state=0).fit(X, y)
    given = model.predict_proba(X)
    assert given.shape == (len(y), y.max() + 1)
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    assert (given > 0).all()
    np.testing.assert_array_equal(model.predict(X), given.argmax(axis=1))
    assert -model.score_ < np.log(y.max() + 1)


def test_pairwise_decisions_of_four_classes_count_votes() -> None:
    pairs = CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=3, random_state=0)
    assert -pairs.fit(X4, Y4).score_ < 1.0


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_decision_values_does_not_matter(factor) -> None:
    class Scaled(RidgeClassifier):
        def decision_function(self, X):
            return factor * super().decision_function(X)

    plain = CalibratedClassifier(RidgeClassifier(), "beta", cv=3, random_state=0).fit(X2, Y2)
    scaled = CalibratedClassifier(Scaled(), "beta", cv=3, random_state=0).fit(X2, Y2)
    np.testing.assert_allclose(scaled.predict_proba(X2), plain.predict_proba(X2), rtol=1e-6)


def test_it_is_a_stack_of_one_learner() -> None:
    model = CalibratedClassifier(GaussianNB(), "beta", cv=4, random_state=3).fit(X2, Y2)
    stack = StackingClassifier(
        [("model", GaussianNB())], "mean", cv=4, random_state=3, calibrate="beta"
    ).fit(X2, Y2)
    np.testing.assert_array_equal(model.predict_proba(X2), stack.predict_proba(X2))
    assert model.score_ == stack.score_
    assert model.stack_.n_fits_ == 10


def test_a_fitted_classifier_is_calibrated_on_rows_it_has_not_seen() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fitted = GaussianNB().fit(X[:200], y[:200])
    with pytest.warns(NoScoreWarning):
        model = CalibratedClassifier(fitted, "platt", cv="prefit").fit(X[200:400], y[200:400])
    assert np.isnan(model.score_)
    new = X[400:], y[400:]
    before, after = fitted.predict_proba(new[0]), model.predict_proba(new[0])
    assert log_loss(new[1], after) < log_loss(new[1], before)


def test_names_of_classes_and_columns_come_back() -> None:
    frame = pd.DataFrame(X2, columns=[f"c{i}" for i in range(8)])
    y = np.array(["no", "yes"])[Y2]
    model = CalibratedClassifier(GaussianNB(), cv=3, random_state=0).fit(frame, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert set(model.predict(frame)) == {"no", "yes"}
    assert not hasattr(model.fit(X2, y), "feature_names_in_")


def test_it_can_be_searched_cloned_and_pickled() -> None:
    grid = {"method": ["platt", "isotonic"], "estimator__var_smoothing": [1e-9, 1e-2]}
    search = GridSearchCV(
        CalibratedClassifier(GaussianNB(), cv=3, random_state=0), grid, cv=2, scoring="neg_log_loss"
    ).fit(X2, Y2)
    best = search.best_estimator_
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict_proba(X2), best.predict_proba(X2))
    assert not hasattr(clone(best), "stack_")


def test_groups_time_and_weights_reach_the_folds() -> None:
    groups = np.arange(400) // 4
    weight = np.random.default_rng(0).integers(1, 3, 400).astype(float)
    model = CalibratedClassifier(GaussianNB(), random_state=0)
    model.fit(X2, Y2, sample_weight=weight, groups=groups)
    fold = model.stack_.deals_[0].lattice.fold_of
    assert all(len(set(fold[groups == g])) == 1 for g in range(100))
    forward = CalibratedClassifier(GaussianNB(), cv=TimeSeriesSplit(5)).fit(X2, Y2)
    assert forward.stack_.deals_[0].reading.in_order
    assert np.isfinite(forward.score_)


def test_weights_repeat_rows() -> None:
    times = np.random.default_rng(0).integers(1, 3, 400)
    fold, many = np.arange(400) % 4, np.repeat(np.arange(400), times)

    def fit(rows, weight):
        splits = [(fold[rows] != i, fold[rows] == i) for i in range(4)]
        model = CalibratedClassifier(GaussianNB(), ["platt", "beta"], cv=splits)
        return model.fit(X2[rows], Y2[rows], weight)

    weighted, repeated = fit(np.arange(400), times.astype(float)), fit(many, None)
    same = pytest.approx(repeated.score_uncorrected_, rel=1e-7)
    assert weighted.score_uncorrected_ == same
    # The step of the learning curve counts rows that have weight, not their weights.
    assert weighted.score_ == pytest.approx(repeated.score_, rel=1e-5)
    np.testing.assert_allclose(weighted.predict_proba(X2), repeated.predict_proba(X2), rtol=1e-6)


def test_prediction_sets_hold_the_class_as_often_as_asked() -> None:
    X, y = make_classification(2000, 8, n_informative=4, flip_y=0.1, random_state=2)
    model = CalibratedClassifier(GaussianNB(), "beta", random_state=0).fit(X[:600], y[:600])
    inside = model.predict_set(X[600:], 0.9)
    assert 0.86 <= inside[np.arange(1400), y[600:]].mean() <= 0.97


def test_a_threshold_moves_the_labels_and_not_the_probabilities() -> None:
    plain = CalibratedClassifier(GaussianNB(), cv=3, random_state=0).fit(X2, Y2)
    model = clone(plain).set_params(threshold=0.9).fit(X2, Y2)
    np.testing.assert_array_equal(model.predict_proba(X2), plain.predict_proba(X2))
    np.testing.assert_array_equal(model.predict(X2), model.predict_proba(X2)[:, 1] >= 0.9)


def test_errors_bear_its_name() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        CalibratedClassifier(GaussianNB(), "bta").fit(X2, Y2)
    assert str(caught.value) == (
        "CalibratedClassifier: calibrate must be None, 'auto', the name of a method or a list of "
        "names; got 'bta'. Did you mean 'beta'?"
    )
    with pytest.raises(InvalidParameterError, match="method must be 'auto'"):
        CalibratedClassifier(GaussianNB(), None).fit(X2, Y2)


def test_decisions_without_a_method_cannot_become_probabilities() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        CalibratedClassifier(RidgeClassifier(), "none").fit(X2, Y2)
    assert str(caught.value) == (
        "CalibratedClassifier: calibrate must name a method that makes probabilities of decision "
        "values; got 'none'. Use 'platt'."
    )


def test_tags_are_those_of_the_classifier() -> None:
    assert get_tags(CalibratedClassifier(LogisticRegression())).input_tags.sparse
    assert not get_tags(CalibratedClassifier(GaussianNB())).input_tags.sparse
    assert get_tags(CalibratedClassifier(DecisionTreeClassifier())).input_tags.allow_nan


def test_a_class_missing_from_a_fold_keeps_its_column() -> None:
    X, y = load_wine(return_X_y=True)
    splits = list(KFold(3).split(X))
    with pytest.warns(UserWarning, match="absent from the training rows"):
        model = CalibratedClassifier(RidgeClassifier(), "vector", cv=splits).fit(X, y)
    assert model.predict_proba(X).shape == (178, 3)


def test_decisions_are_handed_on() -> None:
    top = AsDecided(3).fit(np.zeros((2, 3)), np.array([0, 1]))
    values = np.array([[1.0, 2.0, 0.0]])
    np.testing.assert_array_equal(top.decision_function(values), values)
    assert top.predict(values).tolist() == [1]
    assert AsDecided(2).fit(values[:, :1], np.array([0])).predict(-values[:, :1]).tolist() == [0]
