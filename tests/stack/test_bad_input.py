"""Bad input: a clear error in one grammar, nothing half-fitted."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import (
    AllLearnersFailedError,
    FoldsWarning,
    InvalidDataError,
    InvalidParameterError,
    LearnerFailedWarning,
    NoScoreWarning,
    UnsupportedError,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=30)
CLASSES = (Y > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "height", "weight"])
RIDGE = [("ridge", Ridge())]
LOGISTIC = [("logistic", LogisticRegression())]


def regressor(estimators=RIDGE, final_estimator="mean", **arguments):
    return StackingRegressor(estimators, final_estimator, random_state=0, **arguments)


def classifier(estimators=LOGISTIC, final_estimator="mean", **arguments):
    return StackingClassifier(estimators, final_estimator, random_state=0, **arguments)


def message_of(error, stack, X=X, y=Y, **arguments) -> str:
    """Return the text of the error that fit raises; nothing may be half-fitted after it."""
    with pytest.raises(error) as caught:
        stack.fit(X, y, **arguments)
    with pytest.raises(NotFittedError):
        stack.predict(X)
    return str(caught.value)


# estimators


def test_duplicate_names() -> None:
    twice = [("ridge", Ridge()), ("ridge", Ridge(2))]
    assert message_of(InvalidParameterError, regressor(twice)) == (
        "StackingRegressor: estimators must have unique names; got 'ridge' twice. "
        "Rename one of them."
    )


def test_duplicate_names_in_two_layers() -> None:
    twice = [[("ridge", Ridge())], [("ridge", Ridge(2))]]
    assert "must have unique names; got 'ridge' twice" in message_of(
        InvalidParameterError, regressor(twice)
    )


@pytest.mark.parametrize("name", ["", "a__b"])
def test_empty_or_double_underscored_names(name) -> None:
    assert message_of(InvalidParameterError, regressor([(name, Ridge())])) == (
        "StackingRegressor: estimators must have names that are not empty and hold no double "
        f"underscore; got {name!r}. Rename it."
    )


def test_names_of_parameters() -> None:
    text = message_of(InvalidParameterError, regressor([("cv", Ridge())]))
    assert text.startswith("StackingRegressor: estimators must have names that are no parameters")
    assert text.endswith("got 'cv'. Rename it.")


def test_no_estimators() -> None:
    text = message_of(InvalidParameterError, regressor([]))
    assert text.startswith("StackingRegressor: estimators must ")
    assert "got []. Give at least one learner, e.g. [('ridge', Ridge())]." in text


@pytest.mark.parametrize("learner", ["ridge", 3, object()])
def test_an_estimator_without_fit_and_predict(learner) -> None:
    assert message_of(InvalidParameterError, regressor([("a", learner)])) == (
        "StackingRegressor: estimators must be learners with fit and predict; "
        f"got {learner!r} as 'a'. Give an instance of a scikit-learn estimator."
    )


def test_a_class_in_place_of_an_instance() -> None:
    assert "Give an instance" in message_of(InvalidParameterError, regressor([("a", Ridge)]))


def test_a_classifier_in_a_regressor_stack() -> None:
    assert message_of(InvalidParameterError, regressor(LOGISTIC)) == (
        "StackingRegressor: estimators must be regressors: each estimator should be a regressor; "
        "got the classifier LogisticRegression() as 'logistic'. "
        "Use StackingClassifier, or a regressor."
    )


def test_all_dropped() -> None:
    text = message_of(InvalidParameterError, regressor([("a", "drop")]))
    assert text.endswith("got all estimators are dropped. Remove a 'drop'.")


# weights


@pytest.mark.parametrize("error", [UnsupportedError, TypeError])
def test_a_learner_that_cannot_take_the_weights_given(error) -> None:
    stack = regressor([("ridge", Ridge()), ("nn", KNeighborsRegressor())])
    assert message_of(error, stack, sample_weight=np.ones(30)) == (
        "StackingRegressor: sample_weight must reach every learner; got 'nn': underlying "
        "estimator KNeighborsRegressor does not support sample weights. "
        "Replace that learner, or fit without sample_weight."
    )


def test_a_stacker_that_cannot_take_the_weights_given() -> None:
    stack = regressor(final_estimator=KNeighborsRegressor())
    text = message_of(TypeError, stack, sample_weight=np.ones(30))
    assert text.startswith("StackingRegressor: sample_weight must reach the final estimator; got ")


def test_negative_weights() -> None:
    weight = np.ones(30)
    weight[3] = -0.5
    assert message_of(InvalidDataError, regressor(), sample_weight=weight) == (
        "StackingRegressor: sample_weight must be finite and not negative (Negative values in "
        "data); got -0.5. Drop these rows instead."
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(value) -> None:
    weight = np.ones(30)
    weight[3] = value
    text = message_of(InvalidDataError, regressor(), sample_weight=weight)
    assert f"got {value}." in text


def test_weights_that_are_all_zero() -> None:
    assert message_of(InvalidDataError, regressor(), sample_weight=np.zeros(30)) == (
        "StackingRegressor: sample_weight must not be zero everywhere; got all zeros. "
        "Leave it out for equal weights."
    )


# y


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_targets_that_are_not_finite(value) -> None:
    y = Y.copy()
    y[[3, 5]] = value
    assert message_of(InvalidDataError, regressor(), y=y) == (
        "StackingRegressor: y must hold no NaN or infinity (y contains NaN or inf); "
        "got 2 such values. Drop these rows."
    )


def test_missing_classes() -> None:
    y = np.where(Y > 0, "a", "b").astype(object)
    y[4] = None
    text = message_of(ValueError, classifier(), y=y)
    assert text == (
        "StackingClassifier: y must hold no missing class (y contains NaN); got 1 missing. "
        "Drop these rows."
    )


def test_a_class_that_is_nan() -> None:
    y = CLASSES.astype(float)
    y[4] = np.nan
    assert "y must hold no missing class" in message_of(ValueError, classifier(), y=y)


def test_one_class_only() -> None:
    assert message_of(InvalidDataError, classifier(), y=np.array(["a"] * 30)) == (
        "StackingClassifier: y must hold at least two classes; got one class, 'a'. "
        "There is nothing to learn from one class: check how y was made."
    )


def test_several_labels_a_row() -> None:
    y = np.column_stack([CLASSES, 1 - CLASSES, CLASSES])
    text = message_of(InvalidDataError, classifier(), y=y)
    assert "several labels a row (multilabel) are not supported yet; got shape (30, 3)." in text


def test_words_in_a_regression() -> None:
    text = message_of(InvalidDataError, regressor(), y=np.array(["a", "b"] * 15))
    assert text.startswith("StackingRegressor: y must be numbers; got ")


# lengths


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups"])
def test_mismatched_lengths(name) -> None:
    arguments = {"y": Y, "sample_weight": None, "groups": None, name: np.ones(29)}
    text = message_of(InvalidDataError, regressor(), **arguments)
    assert text == (
        f"StackingRegressor: {name} must have one entry for each of the 30 rows of X "
        "(inconsistent numbers of samples); got 29. Give the same rows to both."
    )


def test_missing_groups() -> None:
    groups = np.arange(30.0)
    groups[2] = np.nan
    text = message_of(InvalidDataError, regressor(), groups=groups)
    assert text.startswith("StackingRegressor: groups must name a group for every row; got 1 mis")


# splits


def test_a_splitter_that_leaks() -> None:
    splits = [(np.arange(20), np.arange(19, 30)), (np.arange(19, 30), np.arange(19))]
    assert message_of(InvalidParameterError, regressor(cv=splits)) == (
        "StackingRegressor: cv must keep the training rows of a split apart from its test rows; "
        "got split 0 with rows 19 in both. Remove these rows from the training part."
    )


def test_a_row_tested_twice() -> None:
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    text = message_of(InvalidParameterError, regressor(cv=cv))
    assert text == (
        "StackingRegressor: cv must test each row at most once; got row 0 tested 2 times. "
        "Use a splitter without repeats, and n_repeats for several deals."
    )


def test_leave_one_out() -> None:
    x = np.vstack([X] * 3)
    y = np.concatenate([Y] * 3)
    assert message_of(InvalidParameterError, regressor(cv=LeaveOneOut()), x, y) == (
        "StackingRegressor: cv must need at most 500 nodes, that is fits a learner; "
        "got 90 folds, which need 4095. Use cv=10."
    )


@pytest.mark.parametrize("cv", ["five", "prefti", 2.5])
def test_a_cv_of_the_wrong_kind(cv) -> None:
    text = message_of(InvalidParameterError, regressor(cv=cv))
    assert text.startswith("StackingRegressor: cv must be an int, a splitter, an iterable of ")
    assert f"got {cv!r}." in text


def test_pairs_forward_in_time() -> None:
    stack = regressor(cv=TimeSeriesSplit(4), predict_with="pairs")
    assert "predict_with must not be 'pairs' forward in time" in message_of(
        InvalidParameterError, stack
    )


def test_repeats_of_a_fixed_deal() -> None:
    text = message_of(InvalidParameterError, regressor(cv=KFold(3), n_repeats=2))
    assert "n_repeats must be 1 when cv deals the same folds each time" in text


@pytest.mark.parametrize("cv", [None, "prefit"])
@pytest.mark.parametrize("n_repeats", [0, -1, 1.5, "two"])
def test_a_number_of_repeats_that_is_none(n_repeats, cv) -> None:
    text = message_of(InvalidParameterError, regressor(n_repeats=n_repeats, cv=cv))
    assert text.startswith("StackingRegressor: n_repeats must ")
    assert f"got {n_repeats!r}." in text


# choices from a list


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("final_estimator", "nnsl", "Did you mean 'nnls'?"),
        ("final_estimator", "rigde", "Did you mean 'ridge'?"),
        ("predict_with", "fold", "Did you mean 'folds'?"),
        ("hold_out", "men", "Did you mean 'mean'?"),
        ("stack_method", "predict_prob", "Did you mean 'predict_proba'?"),
        ("on_error", "rais", "Did you mean 'raise'?"),
        ("scoring", "neg_root_mean_squard_error", "Did you mean 'neg_root_mean_squared_error'?"),
    ],
)
def test_an_unknown_word(name, value, remedy) -> None:
    text = message_of(InvalidParameterError, regressor().set_params(**{name: value}))
    assert text.startswith(f"StackingRegressor: {name} must ")
    assert text.endswith(f"got {value!r}. {remedy}")


def test_a_stacker_that_is_none() -> None:
    text = message_of(InvalidParameterError, regressor(final_estimator=3.0))
    assert text.startswith("StackingRegressor: final_estimator must be None, a name, an estimator")


def test_a_classifier_on_top_of_a_regressor_stack() -> None:
    stack = regressor(final_estimator=LogisticRegression())
    text = message_of(ValueError, stack)
    assert text == (
        "StackingRegressor: final_estimator must be a regressor; got LogisticRegression(). "
        "The 'final_estimator' parameter should be a regressor, or None for a bake-off."
    )


def test_a_regressor_on_top_of_a_classifier_stack() -> None:
    text = message_of(ValueError, classifier(final_estimator=Ridge()), y=CLASSES)
    assert text == (
        "StackingClassifier: final_estimator must be a classifier; got Ridge(). "
        "The 'final_estimator' parameter should be a classifier, or None for a bake-off."
    )


def test_an_unknown_column_in_passthrough() -> None:
    stack = regressor(passthrough=["age", "heigth"])
    assert message_of(InvalidParameterError, stack, FRAME) == (
        "StackingRegressor: passthrough must name columns of X; got 'heigth'. "
        "Did you mean 'height'?"
    )


@pytest.mark.parametrize("column", [3, -4])
def test_a_column_number_outside_x_in_passthrough(column) -> None:
    text = message_of(InvalidParameterError, regressor(passthrough=[column]))
    assert text.startswith("StackingRegressor: passthrough must ")
    assert f"got {column}." in text


def test_an_unknown_column_of_a_learner() -> None:
    stack = regressor([("ridge", Ridge(), ["age", "wieght"])])
    text = message_of(InvalidParameterError, stack, FRAME)
    assert text.startswith("StackingRegressor: estimators must name columns of X for 'ridge'; got")
    assert text.endswith("Did you mean 'weight'?")


# tune


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tune": ["ridge"]}, "must be a dict from learner names to grids"),
        ({"tune": {"rigde": {"alpha": [1]}}}, "Did you mean 'ridge'?"),
        ({"tune": {"ridge": {"alhpa": [1]}}}, "Did you mean 'alpha'?"),
        ({"tune": {"ridge": {"alpha": [1]}}, "cv": TimeSeriesSplit(3)}, "in GridSearchCV"),
        ({"tune": {"ridge": {"alpha": [1]}}, "cv": 2}, "in GridSearchCV"),
        (
            {"tune": {"ridge": {"alpha": [1]}}, "cv": [(np.arange(9), np.arange(9, 30))]},
            "in GridSearchCV",
        ),
    ],
)
def test_what_cannot_be_tuned(arguments, words) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoScoreWarning)
        text = message_of(InvalidParameterError, regressor(**arguments))
    assert text.startswith("StackingRegressor: tune must ")
    assert words in text


def test_tuning_with_two_layers() -> None:
    layers = [[("ridge", Ridge())], [("upper", Ridge())]]
    text = message_of(InvalidParameterError, regressor(layers, tune={"ridge": {"alpha": [1]}}))
    assert text.endswith("Wrap the learner in GridSearchCV, which is honest at every node.")


# predict


def test_different_columns_at_predict_are_named() -> None:
    stack = regressor(cv=3).fit(FRAME, Y)
    with pytest.raises(ValueError, match="feature names") as caught:
        stack.predict(FRAME.rename(columns={"age": "years"}))
    assert "age" in str(caught.value)
    assert "years" in str(caught.value)


def test_a_different_number_of_columns_at_predict() -> None:
    stack = regressor(cv=3).fit(X, Y)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3 features"):
        stack.predict(X[:, :2])


def test_predicting_before_fitting() -> None:
    with pytest.raises(NotFittedError):
        regressor().predict(X)


# learners that raise


class Moody(RegressorMixin, BaseEstimator):
    """Raises when it is given more than `most` rows."""

    def __init__(self, most=0, when="fit"):
        self.most = most
        self.when = when

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        if self.when == "fit" and len(X) > self.most:
            raise RuntimeError("too many rows")
        return self

    def predict(self, X):
        if self.when == "predict":
            raise RuntimeError("not today")
        return np.full(len(X), np.nan) if self.when == "nan" else np.zeros(len(X))


def test_a_learner_that_raises_is_dropped_with_its_cause() -> None:
    stack = regressor([("moody", Moody()), ("ridge", Ridge())], cv=3)
    with pytest.warns(LearnerFailedWarning) as caught:
        stack.fit(X, Y)
    (warning,) = caught
    text = str(warning.message)
    assert text.startswith("StackingRegressor: learner 'moody' was dropped, it failed without fold")
    assert text.endswith("RuntimeError: too many rows. Set on_error='raise' to stop instead.")
    assert list(stack.failures_) == ["moody"]
    assert "RuntimeError: too many rows" in stack.failures_["moody"]
    assert list(stack.oof_) == ["ridge"]
    alone = regressor(cv=3).fit(X, Y)
    assert np.array_equal(stack.predict(X), alone.predict(X))
    assert stack.score_ == alone.score_


def test_a_learner_that_cannot_be_copied_is_dropped_and_the_stack_can_be_restacked() -> None:
    stack = regressor([("moody", Moody(threading.Lock())), ("ridge", Ridge())], cv=3)
    with pytest.warns(LearnerFailedWarning, match="cannot pickle"):
        stack.fit(X, Y)
    assert list(stack.failures_) == ["moody"]
    assert list(stack.restack("mean").oof_) == ["ridge"]


@pytest.mark.parametrize("when", ["fit", "predict", "nan"])
def test_a_learner_that_fails_at_one_node_only_is_dropped_everywhere(when) -> None:
    stack = regressor(
        [("moody", Moody(most=10, when=when)), ("ridge", Ridge())], cv=3, predict_with="refit"
    )
    with pytest.warns(LearnerFailedWarning):
        stack.fit(X, Y)
    assert list(stack.oof_) == ["ridge"]


def test_a_learner_that_raises_stops_the_fit_when_asked() -> None:
    stack = regressor([("moody", Moody()), ("ridge", Ridge())], cv=3, on_error="raise")
    assert message_of(RuntimeError, stack) == "too many rows"


def test_if_no_learner_is_left_all_causes_are_listed() -> None:
    stack = regressor([("a", Moody()), ("b", Moody(when="predict"))], cv=3)
    text = message_of(AllLearnersFailedError, stack)
    assert text.startswith("StackingRegressor: estimators must leave at least one learner")
    assert "'a' without fold" in text
    assert "RuntimeError: too many rows" in text
    assert "'b' without fold" in text
    assert "RuntimeError: not today" in text


# nothing half-fitted


@pytest.mark.parametrize(
    ("stack", "y"),
    [
        (regressor(), np.full(30, np.nan)),
        (regressor(final_estimator="nnsl"), Y),
        (regressor([("a", Ridge("much"))]), Y),
        (classifier(), np.zeros(30)),
        (classifier(final_estimator="nnsl"), CLASSES),
    ],
)
def test_a_failed_first_fit_leaves_nothing(stack, y) -> None:
    with pytest.raises(ValueError, match="Stacking"):
        stack.fit(X, y)
    assert [name for name in vars(stack) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        check_is_fitted(stack)


def test_a_failed_second_fit_leaves_the_first() -> None:
    stack = classifier(cv=3).fit(FRAME, CLASSES)
    before = stack.predict_proba(FRAME)
    with pytest.raises(InvalidParameterError):
        stack.set_params(final_estimator="nnsl").fit(X[:, :2], CLASSES + 5)
    assert np.array_equal(stack.predict_proba(FRAME), before)
    assert stack.classes_.tolist() == [0, 1]
    assert list(stack.feature_names_in_) == list(FRAME)


# warnings


def test_two_folds_give_a_model_without_a_score_and_one_warning() -> None:
    with pytest.warns(NoScoreWarning) as caught:
        stack = regressor(cv=2).fit(X, Y)
    assert len(caught) == 1
    assert np.isnan(stack.score_) or stack.score_ is None
    assert np.isfinite(stack.predict(X)).all()


def test_three_folds_for_two_layers_give_no_score_either() -> None:
    layers = [[("ridge", Ridge())], [("upper", Ridge())]]
    with pytest.warns(NoScoreWarning) as caught:
        stack = regressor(layers, cv=3).fit(X, Y)
    assert len(caught) == 1
    assert np.isfinite(stack.predict(X)).all()


def test_too_few_rows_for_the_folds_is_one_warning() -> None:
    with pytest.warns(FoldsWarning) as caught:
        regressor(cv=5).fit(X[:4], Y[:4])
    assert [str(w.message) for w in caught] == [
        "StackingRegressor: cv=5 needs at least 5 rows; using 4 folds. Set cv=4 to silence this."
    ]


def test_a_class_absent_from_a_nodes_rows_keeps_columns_aligned_with_one_warning() -> None:
    y = np.where(np.arange(30) % 2, "b", "c")
    y[0] = "a"
    with pytest.warns(FoldsWarning) as caught:
        stack = classifier(cv=KFold(3)).fit(X, y)
    assert len(caught) == 1
    assert "'a'" in str(caught[0].message)
    probabilities = stack.predict_proba(X)
    assert probabilities.shape == (30, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities > 0).all()
    assert list(stack.oof_) == ["logistic__a", "logistic__b", "logistic__c"]


class Hopeless(ClassifierMixin, BaseEstimator):
    """A classifier with labels only."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_learner_without_the_method_that_is_asked_for() -> None:
    text = message_of(
        ValueError, classifier([("h", Hopeless())], stack_method="predict_proba"), y=CLASSES
    )
    assert text == (
        "StackingClassifier: stack_method must be a method of every learner; got 'predict_proba', "
        "but estimator h does not implement the method predict_proba. Use stack_method='auto'."
    )
