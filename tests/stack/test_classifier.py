import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import FixedThresholdClassifier, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from foldwise import StackingClassifier
from foldwise.stack.table.read import as_logits, clip_amount

X2, Y2 = make_classification(90, 5, random_state=0)
X3, Y3 = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
LEARNERS = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
EVERY_KIND = [
    ("nb", GaussianNB()),
    ("decision", RidgeClassifier()),
    ("label", NearestCentroid()),
    ("value", LinearRegression()),
]


class LabelsOnly(DecisionTreeClassifier):
    """A classifier that knows nothing but its label."""

    predict_proba = property()
    decision_function = property()


def stack(**options: object) -> StackingClassifier:
    return StackingClassifier(LEARNERS, **{"cv": 3, "random_state": 0, **options})


LABELS = {
    "strings": np.array(["no", "yes"])[Y2],
    "bools": Y2.astype(bool),
    "signs": 2 * Y2 - 1,
    "series": pd.Series(np.array(["no", "yes"])[Y2], index=np.arange(90)[::-1]),
    "categories": pd.Series(pd.Categorical(np.array(["b", "a"])[Y2], categories=["c", "b", "a"])),
    "pandas strings": pd.Series(np.array(["no", "yes"])[Y2], dtype="string"),
    "polars": pl.Series(np.array(["no", "yes"])[Y2]),
    "list": np.array(["no", "yes"])[Y2].tolist(),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("top", ["mean", LogisticRegression(), RidgeClassifier()])
def test_labels_of_any_kind_come_back(kind: str, top: object) -> None:
    y = LABELS[kind]
    fitted = stack(final_estimator=top).fit(X2, y)
    wanted = sorted(set(np.asarray(y).tolist()))
    assert fitted.classes_.tolist() == wanted
    assert set(fitted.predict(X2).tolist()) == set(wanted)
    assert fitted.score(X2, np.asarray(y)) > 0.7


def test_other_names_of_the_classes_change_nothing_else() -> None:
    plain, named = stack().fit(X2, Y2), stack().fit(X2, LABELS["strings"])
    assert named.score_ == plain.score_
    np.testing.assert_array_equal(named.predict_proba(X2), plain.predict_proba(X2))


def test_several_classes_are_named_in_the_columns() -> None:
    y = np.array(["low", "mid", "top"])[Y3]
    fitted = stack(final_estimator="mean").fit(X3, y)
    assert list(fitted.oof_.columns) == [
        "nb__low", "nb__mid", "nb__top", "tree__low", "tree__mid", "tree__top",
    ]  # fmt: skip
    np.testing.assert_allclose(fitted.oof_.iloc[:, :3].sum(axis=1), 1.0)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
@pytest.mark.parametrize("top", [None, "mean", "best", "nnls", "logistic", RidgeClassifier()])
def test_learners_of_every_kind_under_every_top(X: np.ndarray, y: np.ndarray, top: object) -> None:
    fitted = StackingClassifier(EVERY_KIND, top, cv=3, random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.6
    assert np.isfinite(fitted.score_)
    methods = ["predict_proba", "decision_function", "predict_proba", "predict"]
    assert fitted.stack_method_ == methods
    if top is None or isinstance(top, str):
        given = fitted.predict_proba(X)
        assert (given >= 0).all()
        np.testing.assert_allclose(given.sum(axis=1), 1.0)


@pytest.mark.parametrize("top", ["mean", "nnls", LogisticRegression()])
def test_learners_that_know_only_labels_can_be_stacked(top: object) -> None:
    learners = [("tree", LabelsOnly(max_depth=3)), ("nb", GaussianNB())]
    fitted = StackingClassifier(learners, top, cv=3, random_state=0).fit(X3, Y3)
    assert fitted.stack_method_[0] == "predict"
    assert fitted.score(X3, Y3) > 0.6


def test_pairwise_decisions_of_four_classes_can_be_stacked() -> None:
    X, y = make_classification(120, 6, n_informative=4, n_classes=4, random_state=0)
    learners = [("svc", SVC(decision_function_shape="ovo")), ("nb", GaussianNB())]
    fitted = StackingClassifier(learners, "logistic", cv=3, random_state=0).fit(X, y)
    assert np.isfinite(fitted.score_)
    assert fitted.transform(X).shape == (120, 6 + 4)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_an_estimator_on_top_reads_logits(X: np.ndarray, y: np.ndarray) -> None:
    fitted = stack(final_estimator=LogisticRegression()).fit(X, y)
    width = fitted.oof_.shape[1] // 2
    shares = [fitted.oof_.to_numpy()[:, :width], fitted.oof_.to_numpy()[:, width:]]
    logits = np.hstack([as_logits(part, clip_amount(len(y))) for part in shares])
    expected = LogisticRegression().fit(logits, y)
    np.testing.assert_allclose(fitted.stacker_.coef_, expected.coef_, rtol=1e-6)


def test_the_honest_log_loss_is_that_of_the_judged_probabilities() -> None:
    fitted = stack(final_estimator="mean", hold_out="node").fit(X3, Y3)
    mean = (fitted.oof_.to_numpy()[:, :3] + fitted.oof_.to_numpy()[:, 3:]) / 2
    assert -fitted.score_ == pytest.approx(log_loss(Y3, mean))


def test_methods_are_those_of_the_top() -> None:
    assert hasattr(stack(final_estimator="mean"), "predict_proba")
    assert hasattr(stack(final_estimator="mean"), "decision_function")
    assert not hasattr(stack(final_estimator=RidgeClassifier()), "predict_proba")
    assert hasattr(stack(final_estimator=RidgeClassifier()), "decision_function")
    assert not hasattr(stack(final_estimator=Perceptron()), "predict_proba")
    assert not hasattr(stack(final_estimator=["mean", RidgeClassifier()]), "predict_proba")


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_decision_values_have_scikit_learns_shape(X: np.ndarray, y: np.ndarray) -> None:
    fitted = stack(final_estimator=LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(X, y).decision_function(X)
    assert fitted.decision_function(X).shape == alone.shape


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_a_threshold_on_top_is_kept_over_repeats(n_repeats: int) -> None:
    top = FixedThresholdClassifier(LogisticRegression(), threshold=0.01)
    fitted = stack(final_estimator=top, n_repeats=n_repeats).fit(X2, Y2)
    plain = stack(final_estimator=LogisticRegression(), n_repeats=n_repeats).fit(X2, Y2)
    assert fitted.predict(X2).mean() > plain.predict(X2).mean()


@pytest.mark.parametrize("n_layers", [2, 3])
def test_classes_go_through_layers(n_layers: int) -> None:
    layers = [LEARNERS, [("log", LogisticRegression()), ("knn", KNeighborsClassifier())]]
    layers = [*layers, [("last", GaussianNB())]][:n_layers]
    fitted = StackingClassifier(layers, "mean", cv=5, random_state=0).fit(X3, Y3)
    given = fitted.predict_proba(X3)
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    assert fitted.score(X3, Y3) > 0.6


def test_weights_repeat_rows_for_learners_stacker_and_score() -> None:
    times = np.random.default_rng(0).integers(1, 3, 90)
    fold = np.arange(90) % 3
    many = np.repeat(np.arange(90), times)
    learners = [("nb", GaussianNB())]

    def fit(rows: np.ndarray, weight: np.ndarray | None) -> StackingClassifier:
        splits = [(fold[rows] != i, fold[rows] == i) for i in range(3)]
        model = StackingClassifier(learners, LogisticRegression(tol=1e-10), cv=splits)
        return model.fit(X2[rows], Y2[rows], weight)

    weighted, repeated = fit(np.arange(90), times.astype(float)), fit(many, None)
    assert weighted.score_ == pytest.approx(repeated.score_, rel=1e-6)
    np.testing.assert_allclose(weighted.predict_proba(X2), repeated.predict_proba(X2), rtol=1e-5)


def test_forward_in_time_sets_are_around_the_deployed_stack() -> None:
    fitted = stack(final_estimator="mean", cv=TimeSeriesSplit(4)).fit(X3, Y3)
    with pytest.warns(UserWarning, match="predict_set has no guarantee forward in time"):
        inside = fitted.predict_set(X3, 0.8)
    assert inside[np.arange(120), fitted.predict(X3)].all()


def test_cloning_a_fitted_stack_forgets_the_fit() -> None:
    copy = clone(stack(final_estimator="mean").fit(X2, Y2))
    assert not hasattr(copy, "classes_")
    assert not hasattr(copy, "score_")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("top", [None, "mean", "pool", "lasso", "majority_vote"])
def test_combiners_decide_by_log_odds(top, n_classes) -> None:
    X, y = make_classification(90, 6, n_informative=4, n_classes=n_classes, random_state=0)
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    fitted = StackingClassifier(learners, top, cv=3, random_state=0).fit(X, y)
    given, decided = fitted.predict_proba(X), fitted.decision_function(X)
    assert np.isfinite(decided).all()
    if n_classes == 2:
        sure = (given > 0).all(axis=1)
        odds = np.log(given[sure, 1] / given[sure, 0])
        np.testing.assert_allclose(decided[sure], odds, rtol=1e-9, atol=1e-12)
    else:
        assert decided.shape == (90, 3)
        np.testing.assert_array_equal(decided.argmax(axis=1), given.argmax(axis=1))
