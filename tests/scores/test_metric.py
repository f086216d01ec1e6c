"""Scores against scikit-learn's scorers, standard errors against closed forms and bootstraps."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, make_scorer

from foldwise.errors import InvalidParameterError
from foldwise.scores.metric import Evaluation, Metric, Response, Target, as_metric

N = 120
RNG = np.random.default_rng(0)
FOLD = np.arange(N) % 4
WEIGHT = RNG.uniform(0.2, 3.0, N)
Y = np.abs(RNG.normal(3.0, 1.0, N)) + 0.1
VALUES = np.abs(Y + RNG.normal(0.0, 0.5, N)) + 0.1


class Given(BaseEstimator):
    """Answers with what it was given, for scikit-learn's scorers."""

    def __init__(self, answer: np.ndarray, classes: np.ndarray | None = None) -> None:
        self.answer = answer
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class GivenValues(RegressorMixin, Given):
    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.answer


class GivenProbabilities(ClassifierMixin, Given):
    @property
    def classes_(self) -> np.ndarray:
        return self.classes

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes[self.answer.argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.answer


def metric(scoring: object, classify: bool = False, probabilities: bool = True) -> Metric:
    return as_metric(scoring, owner="Stack", classify=classify, has_probabilities=probabilities)


def classes(n_classes: int, labels: list | None = None) -> tuple[Response, Target, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, N)
    raw = rng.uniform(size=(N, n_classes)) + 0.7 * np.eye(n_classes)[y]
    given = raw / raw.sum(axis=1, keepdims=True)
    names = np.array(list(range(n_classes)) if labels is None else labels)
    return Response("probability", given), Target(y, names, None, FOLD), names[y]


def weighted(target: Target) -> Target:
    return Target(target.y, target.labels, WEIGHT, target.fold, target.unit)


POOLED_VALUES = [
    "neg_root_mean_squared_error",
    "neg_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_median_absolute_error",
    "neg_mean_absolute_percentage_error",
    "neg_root_mean_squared_log_error",
    "neg_mean_squared_log_error",
    "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance",
    "neg_max_error",
    "explained_variance",
    "r2",
    "d2_absolute_error_score",
]
NO_WEIGHTS = {"neg_max_error"}


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("scoring", POOLED_VALUES)
def test_regression_scores_are_scikit_learns_on_all_rows(scoring: str, with_weights: bool) -> None:
    target = Target(Y, None, WEIGHT if with_weights else None, FOLD)
    found = metric(scoring).evaluate(Response("value", VALUES[:, None]), target)
    options = {"sample_weight": WEIGHT} if with_weights and scoring not in NO_WEIGHTS else {}
    expected = get_scorer(scoring)(GivenValues(VALUES), np.zeros((N, 1)), Y, **options)
    assert found.score == pytest.approx(expected, rel=1e-12)
    assert found.standard_error > 0


@pytest.mark.parametrize("scoring", POOLED_VALUES[:5] + ["r2"])
def test_scores_of_several_targets_are_scikit_learns(scoring: str) -> None:
    y, values = np.column_stack([Y, 2 * Y[::-1]]), np.column_stack([VALUES, Y[::-1]])
    found = metric(scoring).evaluate(Response("value", values), Target(y, None, None, FOLD))
    expected = get_scorer(scoring)(GivenValues(values), np.zeros((N, 1)), y)
    assert found.score == pytest.approx(expected, rel=1e-12)


BINARY = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "precision",
    "recall",
    "jaccard",
    "matthews_corrcoef",
    "neg_log_loss",
    "neg_brier_score",
    "d2_log_loss_score",
]
SEVERAL = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "precision_macro",
    "recall_weighted",
    "matthews_corrcoef",
    "neg_log_loss",
    "top_k_accuracy",
]


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "scoring"), [(2, s) for s in BINARY] + [(3, s) for s in SEVERAL]
)
def test_classification_scores_are_scikit_learns_on_all_rows(
    n_classes: int, scoring: str, with_weights: bool
) -> None:
    response, target, y = classes(n_classes)
    target = weighted(target) if with_weights else target
    options = {"sample_weight": WEIGHT} if with_weights else {}
    given = GivenProbabilities(response.values, target.labels)
    expected = get_scorer(scoring)(given, np.zeros((N, 1)), y, **options)
    found = metric(scoring, classify=True).evaluate(response, target)
    assert found.score == pytest.approx(expected, rel=1e-12)
    assert found.standard_error >= 0


@pytest.mark.parametrize(
    ("scoring", "n_classes"),
    [("roc_auc", 2), ("average_precision", 2), ("roc_auc_ovr", 3), ("roc_auc_ovo", 3)],
)
@pytest.mark.parametrize("with_weights", [False, True])
def test_rank_metrics_are_the_mean_over_folds(
    scoring: str, n_classes: int, with_weights: bool
) -> None:
    if with_weights and scoring == "roc_auc_ovo":
        pytest.skip("scikit-learn has no weights for it")
    response, target, y = classes(n_classes)
    target = weighted(target) if with_weights else target
    each = []
    for fold in range(4):
        rows = fold == FOLD
        options = {"sample_weight": WEIGHT[rows]} if with_weights else {}
        given = GivenProbabilities(response.values[rows], target.labels)
        each.append(get_scorer(scoring)(given, np.zeros((rows.sum(), 1)), y[rows], **options))
    own = metric(scoring, classify=True)
    assert own.evaluate(response, target).score == pytest.approx(np.mean(each), rel=1e-12)
    np.testing.assert_allclose(own.fold_scores(response, target), each, rtol=1e-12)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1]])
@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy", "f1_macro"])
def test_any_two_labels_give_the_same_score(labels: list, scoring: str) -> None:
    plain, plain_target, _ = classes(2)
    named, named_target, _ = classes(2, labels)
    own = metric(scoring, classify=True)
    assert own.evaluate(plain, plain_target).score == own.evaluate(named, named_target).score


def test_ties_in_the_ranks_count_half() -> None:
    y = np.array([0, 1, 0, 1, 1, 0])
    margin = np.array([0.2, 0.2, 0.4, 0.4, 0.9, 0.1])
    target = Target(y, np.array([0, 1]), None, np.zeros(6, dtype=int))
    found = metric("roc_auc", classify=True).evaluate(Response("decision", margin[:, None]), target)
    assert found.score == pytest.approx(metrics.roc_auc_score(y, margin), rel=1e-12)


def test_a_fold_of_one_class_is_left_out_of_the_area() -> None:
    response, target, _ = classes(2)
    y = np.where(FOLD == 3, 1, target.y)
    rest = FOLD != 3
    own = metric("roc_auc", classify=True)
    found = own.evaluate(response, Target(y, target.labels, None, FOLD))
    without = own.evaluate(response.take(rest), Target(y[rest], target.labels, None, FOLD[rest]))
    assert found.score == without.score
    scores = own.fold_scores(response, Target(y, target.labels, None, FOLD))
    assert np.isnan(scores).tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    "scoring", ["roc_auc_ovr", "roc_auc_ovo", "neg_log_loss", "neg_brier_score"]
)
def test_a_class_that_misses_from_a_fold_is_no_reason_to_fail(scoring: str) -> None:
    response, target, _ = classes(3)
    y = np.where((FOLD == 0) & (target.y == 2), 1, target.y)
    y[1:8] = 2
    target = Target(y, target.labels, None, FOLD)
    own = metric(scoring, classify=True)
    assert np.isfinite(own.evaluate(response, target).score)
    assert len(own.fold_scores(response, target)) == 4


def test_fold_scores_are_scikit_learns_fold_by_fold() -> None:
    response = Response("value", VALUES[:, None])
    found = metric("r2").fold_scores(response, Target(Y, None, None, FOLD))
    expected = [metrics.r2_score(Y[fold == FOLD], VALUES[fold == FOLD]) for fold in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Standard errors.


def test_the_error_of_a_mean_is_the_textbook_one() -> None:
    losses = np.abs(VALUES - Y)
    found = metric("neg_mean_absolute_error").evaluate(
        Response("value", VALUES[:, None]), Target(Y, None, None, FOLD)
    )
    assert found.standard_error == pytest.approx(losses.std(ddof=1) / np.sqrt(N), rel=1e-12)


def test_the_error_of_the_rmse_is_by_the_delta_method() -> None:
    squares = (VALUES - Y) ** 2
    expected = squares.std(ddof=1) / np.sqrt(N) / (2 * np.sqrt(squares.mean()))
    found = metric(None).evaluate(Response("value", VALUES[:, None]), Target(Y, None, None, FOLD))
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def bootstrap(score: object, units: np.ndarray, times: int = 400) -> float:
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(units == unit) for unit in np.unique(units)]
    draws = [
        np.concatenate([members[i] for i in rng.integers(len(members), size=len(members))])
        for _ in range(times)
    ]
    return float(np.std([score(rows) for rows in draws], ddof=1))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error", "explained_variance"])
def test_errors_agree_with_a_bootstrap_of_rows_or_groups(scoring: str, grouped: bool) -> None:
    # Rows of a group share their error, so that clustering matters; 30 % is the bootstrap's and
    # the jackknife's own noise.
    rng = np.random.default_rng(2)
    units = np.repeat(np.arange(200), 4) if grouped else np.arange(800)
    y = rng.normal(size=800)
    values = y + rng.normal(size=len(np.unique(units)))[units]
    target = Target(y, None, None, np.arange(800) % 4, units if grouped else None)
    found = metric(scoring).evaluate(Response("value", values[:, None]), target).standard_error
    scorer = get_scorer(scoring)
    expected = bootstrap(
        lambda rows: scorer(GivenValues(values[rows]), y[rows][:, None], y[rows]), units
    )
    assert found == pytest.approx(expected, rel=0.3)


def test_clustering_widens_the_error_by_the_design_effect() -> None:
    # Four identical rows a group are one: the error is that of a quarter of the rows.
    y = np.repeat(RNG.normal(size=50), 4)
    values = np.repeat(RNG.normal(size=50), 4)
    units = np.repeat(np.arange(50), 4)
    own, fold = metric("neg_mean_absolute_error"), np.zeros(200, dtype=int)
    found = own.evaluate(Response("value", values[:, None]), Target(y, None, None, fold, units))
    each = own.evaluate(Response("value", values[::4, None]), Target(y[::4], None, None, fold[::4]))
    assert found.standard_error == pytest.approx(each.standard_error, rel=1e-12)


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_the_names_of_groups_do_not_matter(scoring: str | None) -> None:
    response, units = Response("value", VALUES[:, None]), np.arange(N) // 6
    own = metric(scoring)
    plain = own.evaluate(response, Target(Y, None, None, FOLD, units))
    gaps = own.evaluate(response, Target(Y, None, None, FOLD, 3 * units + 7))
    assert gaps.standard_error == pytest.approx(plain.standard_error, rel=1e-12)


def delong(y: np.ndarray, margin: np.ndarray) -> float:
    positive, negative = margin[y == 1], margin[y == 0]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    return float(
        np.sqrt(
            wins.mean(axis=1).var(ddof=1) / len(positive)
            + wins.mean(axis=0).var(ddof=1) / len(negative)
        )
    )


def test_the_error_of_one_area_is_delongs() -> None:
    response, target, _ = classes(2)
    target = Target(target.y, target.labels, None, np.zeros(N, dtype=int))
    found = metric("roc_auc", classify=True).evaluate(response, target)
    assert found.standard_error == pytest.approx(delong(target.y, response.values[:, 1]), rel=0.02)


def test_the_error_of_a_mean_of_areas_adds_up_over_folds() -> None:
    response, target, _ = classes(2)
    each = [delong(target.y[f == FOLD], response.values[f == FOLD, 1]) for f in range(4)]
    found = metric("roc_auc", classify=True).evaluate(response, target)
    assert found.standard_error == pytest.approx(np.sqrt(np.sum(np.square(each))) / 4, rel=0.05)


def test_a_model_does_not_differ_from_itself() -> None:
    own = metric(None).evaluate(Response("value", VALUES[:, None]), Target(Y, None, None, FOLD))
    assert own.error_of_difference(own) == 0.0


def test_paired_differences_have_the_paired_error() -> None:
    target, other = Target(Y, None, None, FOLD), VALUES + RNG.normal(0, 0.05, N)
    own = metric("neg_mean_absolute_error")
    a = own.evaluate(Response("value", VALUES[:, None]), target)
    b = own.evaluate(Response("value", other[:, None]), target)
    difference = np.abs(VALUES - Y) - np.abs(other - Y)
    expected = difference.std(ddof=1) / np.sqrt(N)
    assert a.error_of_difference(b) == pytest.approx(expected, rel=1e-12)
    assert a.error_of_difference(b) < a.standard_error / 2


def test_one_unit_has_no_standard_error() -> None:
    assert np.isnan(Evaluation(1.0, np.zeros(1)).standard_error)


# Choosing the metric.


@pytest.mark.parametrize(
    ("classify", "probabilities", "name"),
    [
        (False, False, "root_mean_squared_error"),
        (True, True, "log_loss"),
        (True, False, "accuracy"),
    ],
)
def test_the_default_metric(classify: bool, probabilities: bool, name: str) -> None:
    assert metric(None, classify, probabilities).name == name


def test_the_natural_sign_of_a_loss_is_positive() -> None:
    own = metric("neg_mean_absolute_error")
    assert (own.name, own.sign, own.natural(-2.0)) == ("mean_absolute_error", -1, 2.0)
    assert metric("r2").natural(0.5) == 0.5


def test_a_scorer_of_ones_own_is_averaged_over_folds() -> None:
    def worst(estimator: object, X: np.ndarray, y: np.ndarray) -> float:
        return -float(np.abs(estimator.predict(X) - y).max())

    found = metric(worst).evaluate(Response("value", VALUES[:, None]), Target(Y, None, None, FOLD))
    errors = np.abs(VALUES - Y)
    expected = np.mean([-errors[fold == FOLD].max() for fold in range(4)])
    assert found.score == pytest.approx(expected, rel=1e-12)
    assert metric(worst).name == "worst"


def test_make_scorer_bears_the_name_and_sign_of_its_function() -> None:
    own = metric(make_scorer(metrics.mean_pinball_loss, greater_is_better=False, alpha=0.9))
    found = own.evaluate(Response("value", VALUES[:, None]), Target(Y, None, None, FOLD))
    assert own.name == "mean_pinball_loss"
    assert found.score == pytest.approx(-metrics.mean_pinball_loss(Y, VALUES, alpha=0.9), rel=1e-12)


def test_parameters_of_a_scorer_are_kept_for_metrics_with_a_way_of_their_own() -> None:
    own = metric(make_scorer(metrics.accuracy_score, normalize=False), classify=True)
    response, target, y = classes(3)
    assert own.evaluate(response, target).score == (response.labels == y).sum()


def test_an_unknown_scorer_is_told_apart() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        metric("neg_mean_squared_eror")
    assert str(caught.value) == (
        "Stack: scoring must be the name of a scorer or a callable; got 'neg_mean_squared_eror'. "
        "Did you mean 'neg_mean_squared_error'?"
    )


def test_scoring_of_another_kind_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match=r"scoring must be None, the name of a scorer"):
        metric(3)


def test_a_metric_that_needs_probabilities_says_so() -> None:
    target = Target(np.array([0, 1]), np.array(["a", "b"]), None, np.zeros(2, dtype=int))
    with pytest.raises(InvalidParameterError, match=r"Stack: scoring must suit what the stack can"):
        metric("neg_log_loss", classify=True).evaluate(Response("label", np.eye(2)[:, :1]), target)
