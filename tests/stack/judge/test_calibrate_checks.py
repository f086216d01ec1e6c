"""The parameters calibrate and threshold: what is accepted, what is refused in which words."""

import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier
from foldwise.errors import InvalidParameterError, UnsupportedError
from foldwise.stack.judge.calibrate import checked_methods, checked_threshold

X2, Y2 = make_classification(60, 5, random_state=0)
X3, Y3 = make_classification(60, 6, n_informative=4, n_classes=3, random_state=0)
LEARNERS = [("nb", GaussianNB()), ("knn", KNeighborsClassifier())]


class LabelsOnly(DecisionTreeClassifier):
    predict_proba = property()
    decision_function = property()


def stack(**options):
    return StackingClassifier(LEARNERS, **{"final_estimator": "mean", "cv": 3, **options})


def test_methods_are_a_list_without_repetition() -> None:
    assert checked_methods("x", None, 2) == ()
    assert checked_methods("x", "beta", 3) == ("beta",)
    assert checked_methods("x", ["none", "beta", "beta"], 2) == ("none", "beta")
    assert checked_methods("x", "auto", 2)[0] == "none"


def test_thresholds_are_numbers_or_scorers_of_labels() -> None:
    assert checked_threshold("x", None, 5) is None
    assert checked_threshold("x", 1, 2) == 1.0
    assert checked_threshold("x", "f1", 2).name == "f1"
    scorer = make_scorer(fbeta_score, beta=2)
    assert checked_threshold("x", scorer, 2).name == "fbeta_score"


REFUSED = {
    "unknown method": (
        {"calibrate": "isotonik"},
        "StackingClassifier: calibrate must be None, 'auto', the name of a method or a list of "
        "names; got 'isotonik'. Did you mean 'isotonic'?",
    ),
    "no method": (
        {"calibrate": []},
        "StackingClassifier: calibrate must name at least one method; got []. "
        "Use None for no calibration.",
    ),
    "not a name": (
        {"calibrate": [3]},
        "StackingClassifier: calibrate must be None, 'auto', the name of a method or a list of "
        "names; got 3. Use one of 'auto', 'beta', 'isotonic', 'matrix', 'network', 'none', "
        "'platt', 'quadratic', 'temperature', 'vector' and 1 more.",
    ),
    "threshold too great": (
        {"threshold": 1.5},
        "StackingClassifier: threshold must be a number at least 0 and at most 1; got 1.5. "
        "Try 0.5.",
    ),
    "threshold of another kind": (
        {"threshold": True},
        "StackingClassifier: threshold must be None, a number, the name of a scorer or a scorer; "
        "got True. Use 'balanced_accuracy'.",
    ),
    "threshold for probabilities": (
        {"threshold": "neg_log_loss"},
        "StackingClassifier: threshold must name a scorer of labels, which a threshold can "
        "change; got 'neg_log_loss'. Use 'balanced_accuracy', 'f1' or another scorer of labels.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_values_are_refused_word_for_word(case) -> None:
    options, message = REFUSED[case]
    with pytest.raises(InvalidParameterError) as caught:
        stack(**options).fit(X2, Y2)
    assert str(caught.value) == message


def test_a_threshold_needs_two_classes() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        stack(threshold="f1").fit(X3, Y3)
    assert str(caught.value) == (
        "StackingClassifier: threshold must be None for other than two classes; got 'f1'. "
        "There are 3 classes; leave threshold out."
    )


def test_labels_cannot_be_calibrated() -> None:
    with pytest.raises(UnsupportedError) as caught:
        stack(final_estimator=LabelsOnly(), calibrate="auto").fit(X2, Y2)
    assert str(caught.value) == (
        "StackingClassifier: final_estimator must give probabilities, or decision values "
        "throughout, for calibrate; got labels of LabelsOnly. Use 'logistic', or leave calibrate "
        "out."
    )
    with pytest.raises(UnsupportedError, match="got probabilities of mean, decision values of"):
        stack(final_estimator=["mean", Perceptron()], calibrate="auto", scoring="accuracy").fit(
            X2, Y2
        )


def test_a_threshold_needs_probabilities() -> None:
    with pytest.raises(UnsupportedError) as caught:
        stack(final_estimator=RidgeClassifier(), threshold=0.3).fit(X2, Y2)
    assert str(caught.value) == (
        "StackingClassifier: final_estimator must give probabilities for threshold; got decision "
        "values of RidgeClassifier. Use 'logistic', or calibrate='platt' with decision values."
    )


def test_a_wrong_value_is_refused_before_any_learner_is_fitted() -> None:
    class Never(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("fitted")

    with pytest.raises(InvalidParameterError, match="calibrate must be None"):
        StackingClassifier([("a", Never())], calibrate="x", on_error="raise").fit(X2, Y2)
