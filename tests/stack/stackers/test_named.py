import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.combine import (
    greedy_weights,
    least_squares_coefficients,
    log_score_weights,
    logit_mean,
    pseudo_bma_weights,
    simplex_weights,
)
from foldwise.errors import InvalidParameterError
from foldwise.stack.stackers.named import FOR_CLASSES, FOR_NUMBERS

X, Y = make_regression(90, 4, noise=40, random_state=0)
NUMBERS = [
    ("ridge", Ridge()),
    ("knn", KNeighborsRegressor(5)),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]
CLASSES = [
    ("nb", GaussianNB()),
    ("knn", KNeighborsClassifier(7)),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
]
STACK = StackingRegressor(NUMBERS, "mean", cv=3, random_state=0).fit(X, Y)
SEVERAL = {
    n: StackingClassifier(CLASSES, "mean", cv=3, random_state=0).fit(
        *make_classification(120, 6, n_informative=4, n_classes=n, random_state=0)
    )
    for n in (2, 3)
}


def top(name: str) -> object:
    return (name, {"weights": [[0.5, 0.3, 0.2]]}) if name == "weighted_mean" else name


def probabilities(stack):
    """Return out-of-fold probabilities of shape (n, learners, classes) and class codes."""
    given = stack.oof_.to_numpy()
    if len(stack.classes_) == 2:
        return np.stack([1 - given, given], axis=2)
    return given.reshape(len(given), 3, -1)


@pytest.mark.parametrize("name", FOR_NUMBERS)
def test_every_name_for_numbers_predicts_and_is_judged(name: str) -> None:
    stack = STACK.restack(top(name))
    assert np.isfinite(stack.predict(X)).all()
    assert stack.score_ < 0
    alone = stack.predict(X[:1])
    np.testing.assert_allclose(alone, stack.predict(X)[:1], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", FOR_CLASSES)
def test_every_name_for_classes_gives_probabilities(name: str, n_classes: int) -> None:
    stack = SEVERAL[n_classes].restack(top(name))
    Z = make_classification(120, 6, n_informative=4, n_classes=n_classes, random_state=0)[0]
    given = stack.predict_proba(Z)
    assert given.shape == (120, n_classes)
    assert (given >= 0).all()
    np.testing.assert_allclose(given.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(stack.predict_proba(Z[:1]), given[:1], rtol=1e-9)


@pytest.mark.parametrize("name", ["simplex", "greedy", "lasso", "rank_mean", "log_score"])
def test_several_targets_are_combined_one_by_one(name: str) -> None:
    targets = np.column_stack([Y, X[:, 0]])
    both = StackingRegressor(NUMBERS, name, cv=3, random_state=0).fit(X, targets)
    assert both.predict(X).shape == (90, 2)
    assert np.isfinite(both.predict(X)).all()


def test_weights_are_those_of_the_pure_functions_on_out_of_fold_predictions() -> None:
    given = STACK.oof_.to_numpy()
    simplex = STACK.restack(("simplex", {"alpha": [0.01]})).stacker_.weights_
    np.testing.assert_allclose(simplex, simplex_weights(given, Y, alpha=0.01), rtol=1e-9)
    greedy = STACK.restack(("greedy", {"n_steps": [20]})).stacker_.weights_
    np.testing.assert_allclose(greedy, greedy_weights(given, Y, n_steps=20), rtol=1e-9)
    linear = STACK.restack("least_squares").stacker_.coef_
    np.testing.assert_allclose(linear, least_squares_coefficients(given, Y[:, None])[0])
    variance = np.mean((given - Y[:, None]) ** 2, axis=0)
    logs = -((given - Y[:, None]) ** 2 / variance + np.log(2 * np.pi * variance)) / 2
    bma = STACK.restack("pseudo_bma").stacker_.weights_
    np.testing.assert_allclose(bma, pseudo_bma_weights(logs), rtol=1e-8)
    score = STACK.restack(("log_score", {"alpha": [0.0]})).stacker_.weights_
    np.testing.assert_allclose(score, log_score_weights(logs), atol=1e-7)


def test_bic_is_no_rule_for_out_of_fold_likelihoods() -> None:
    with pytest.raises(ValueError, match="final_estimator must be a known name"):
        STACK.restack("bma")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_for_classes_are_those_of_the_pure_functions(n_classes: int) -> None:
    stack = SEVERAL[n_classes]
    y = make_classification(120, 6, n_informative=4, n_classes=n_classes, random_state=0)[1]
    given = probabilities(stack)
    simplex = stack.restack(("simplex", {"alpha": [0.0]})).stacker_.weights_
    np.testing.assert_allclose(simplex, simplex_weights(given, y, loss="log"), atol=1e-7)
    greedy = stack.restack(("greedy", {"n_steps": [20]})).stacker_.weights_
    np.testing.assert_allclose(greedy, greedy_weights(given, y, loss="log", n_steps=20))


def test_the_geometric_mean_is_the_mean_of_logits() -> None:
    stack = SEVERAL[3].restack("geometric_mean")
    Z = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)[0]
    given = stack.transform(Z).reshape(120, 3, 3)
    expected = logit_mean(given, clip=0.5 / 121)
    np.testing.assert_allclose(stack.predict_proba(Z), expected, rtol=1e-9)


def test_the_metric_decides_what_greedy_selects_for() -> None:
    by_absolute = STACK.restack(("greedy", {"n_steps": [30]}), scoring="neg_mean_absolute_error")
    given = STACK.oof_.to_numpy()
    expected = greedy_weights(
        given, Y, loss=lambda mean: float(np.abs(mean - Y).mean()), n_steps=30
    )
    np.testing.assert_allclose(by_absolute.stacker_.weights_, expected)


def test_weights_of_learners_are_on_the_leaderboard() -> None:
    board = STACK.restack("greedy").leaderboard_.set_index("model")["weight"]
    assert board[["ridge", "knn", "tree"]].sum() == pytest.approx(1.0)
    pool = SEVERAL[3].restack("pool").leaderboard_.set_index("model")["weight"]
    assert np.isfinite(pool[["nb", "knn", "tree"]]).all()


@pytest.mark.parametrize(
    ("final", "text"),
    [
        (
            "gredy",
            "StackingRegressor: final_estimator must be a known name or an estimator; got "
            "'gredy'. Did you mean 'greedy'?",
        ),
        (
            "weighted_mean",
            "weighted_mean: weights must be 3 numbers with a positive sum, one a learner; got "
            "None. Use final_estimator=('weighted_mean', {'weights': [[0.7, 0.3]]}).",
        ),
        (
            ("weighted_mean", {"weights": [[0.5, 0.5]]}),
            "weighted_mean: weights must be 3 numbers with a positive sum, one a learner; got "
            "[0.5, 0.5]. Use final_estimator=('weighted_mean', {'weights': [[0.7, 0.3]]}).",
        ),
    ],
)
def test_what_cannot_stand_on_top_is_said(final: object, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        STACK.restack(final)
    assert str(caught.value) == text
