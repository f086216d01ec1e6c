import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import GradientBoostingClassifier as Reference
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import GradientBoostingClassifier
from foldwise.boost import CustomLoss
from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.losses.classes import Logistic

TREE = DecisionTreeRegressor(max_depth=3, random_state=0)


@parametrize_with_checks([GradientBoostingClassifier(n_estimators=5)])
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("loss", "theirs", "n_classes"),
    [("auto", "log_loss", 2), ("exponential", "exponential", 2), ("auto", "log_loss", 3)],
)
def test_trees_agree_with_scikit_learn_stage_by_stage(loss, theirs, n_classes) -> None:
    X, y = make_classification(
        300, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0
    )
    ours = GradientBoostingClassifier(TREE, loss, n_estimators=15).fit(X, y)
    reference = Reference(loss=theirs, n_estimators=15, random_state=0).fit(X, y)
    stages = zip(ours.staged_predict_proba(X), reference.staged_predict_proba(X), strict=True)
    for mine, yours in stages:
        np.testing.assert_allclose(mine, yours, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "multinomial"])
@pytest.mark.parametrize("learner", [None, Ridge()], ids=["tree", "ridge"])
def test_no_round_raises_the_training_loss(loss, learner) -> None:
    X, y = make_classification(200, 5, flip_y=0.2, random_state=0)
    model = GradientBoostingClassifier(learner, loss, n_estimators=20, learning_rate=1.0)
    losses = model.fit(X, y).staged_loss(X, y)
    assert (np.diff(losses) <= 1e-12).all()
    np.testing.assert_allclose(losses, model.train_loss_, rtol=1e-9)


def test_linear_learners_boost_several_classes() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(Ridge(), n_estimators=30, learning_rate=1.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(model.estimators_[0]) == 3


def test_two_columns_of_the_multinomial_loss_are_one_decision() -> None:
    X, y = make_classification(100, 4, random_state=0)
    model = GradientBoostingClassifier(loss="multinomial", n_estimators=5, random_state=0)
    score = model.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(score > 0, model.predict(X) == 1)


def test_a_loss_of_ones_own_gives_what_the_built_in_gives() -> None:
    X, y = make_classification(150, 5, random_state=0)
    built_in = Logistic()
    own = CustomLoss(built_in.value, built_in.gradient, built_in.hessian)
    ours = GradientBoostingClassifier(TREE, own, n_estimators=10).fit(X, y)
    theirs = GradientBoostingClassifier(TREE, n_estimators=10).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_staged_answers_end_in_the_answers() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))


def test_early_stopping_stops() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(3, size=200)
    model = GradientBoostingClassifier(n_estimators=80, early_stopping=True, random_state=0)
    assert model.fit(X, y).n_estimators_ < 40


def test_one_class_is_an_error() -> None:
    message = (
        "GradientBoostingClassifier: y must hold at least two classes; got one class, 1. "
        "There is nothing to learn from one class: check how y was made."
    )
    with pytest.raises(InvalidDataError) as caught:
        GradientBoostingClassifier().fit([[0.0], [1.0]], [1, 1])
    assert str(caught.value) == message


def test_a_two_class_loss_is_refused_for_three() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameterError, match="loss must be 'multinomial'"):
        GradientBoostingClassifier(loss="logistic").fit(X, y)
