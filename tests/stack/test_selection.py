from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import (
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    StackingRegressor,
)
from foldwise.combine import bagged_selection, greedy_weights, running_sums
from foldwise.errors import InvalidParameterError

X, Y = make_regression(90, 4, noise=40, random_state=0)
NUMBERS = [
    ("ridge", Ridge()),
    ("knn", KNeighborsRegressor(5)),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]
X2, Y2 = make_classification(120, 5, flip_y=0.2, random_state=1)
CLASSES = [
    ("nb", GaussianNB()),
    ("knn", KNeighborsClassifier(7)),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
]


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        EnsembleSelectionRegressor(
            [("ridge", Ridge(tol=1e-12)), ("tree", DecisionTreeRegressor())], cv=3, n_steps=5
        ),
        EnsembleSelectionClassifier(
            [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())], cv=3, n_steps=5
        ),
    ]
)
def test_scikit_learns_estimator_checks_pass(estimator, check) -> None:
    check(estimator)


def test_weights_are_those_of_greedy_selection_on_out_of_fold_predictions() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, cv=3, random_state=0).fit(X, Y)
    expected = greedy_weights(selection.oof_.to_numpy(), Y)
    assert selection.weights_.index.tolist() == ["ridge", "knn", "tree"]
    np.testing.assert_allclose(selection.weights_, expected)
    given = selection.transform(X) @ expected
    np.testing.assert_allclose(selection.predict(X), given)


def test_bags_are_drawn_from_the_seed() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, n_bags=5, fraction=0.7, cv=3, random_state=0)
    one, two = selection.fit(X, Y).weights_, clone(selection).fit(X, Y).weights_
    pd.testing.assert_series_equal(one, two)
    sums = running_sums(selection.oof_.to_numpy(), Y)
    seed = selection.stacker_.random_state
    bagged = bagged_selection(sums, n_bags=5, fraction=0.7, random_state=seed)
    np.testing.assert_allclose(one, bagged.weights())


def test_it_is_the_stack_with_greedy_on_top() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, n_steps=20, cv=3, random_state=0).fit(X, Y)
    stack = StackingRegressor(NUMBERS, ("greedy", {"n_steps": [20]}), cv=3, random_state=0)
    stack.fit(X, Y)
    assert selection.score_ == stack.score_
    assert selection.n_fits_ == stack.n_fits_ == 18
    np.testing.assert_array_equal(selection.predict(X), stack.predict(X))
    lower, upper = selection.predict_interval(X)
    assert (lower < upper).all()


def test_steps_and_shrinkage_are_chosen_over_the_folds() -> None:
    selection = EnsembleSelectionClassifier(
        CLASSES, n_steps=[1, 5, 25], shrinkage=[0.0, 0.5], cv=3, random_state=0
    ).fit(X2, Y2)
    assert selection.stacker_.n_steps in (1, 5, 25)
    assert selection.stacker_.shrinkage in (0.0, 0.5)
    assert len({judged.option.point for judged in selection.deals_[0].verdict.folds}) >= 1
    assert selection.predict_proba(X2).shape == (120, 2)


def test_accuracy_can_be_selected_for() -> None:
    selection = EnsembleSelectionClassifier(CLASSES, scoring="accuracy", cv=3, random_state=0)
    selection.fit(X2, Y2)
    assert 0.5 < selection.score_ <= 1
    assert selection.weights_.sum() == pytest.approx(1.0)


def test_repeats_average_the_weights() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, cv=3, n_repeats=2, random_state=0).fit(X, Y)
    each = [deal.verdict.stacker.weights_ for deal in selection.deals_]
    np.testing.assert_allclose(selection.weights_, np.mean(each, axis=0))


def test_several_targets_show_mean_weights() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, cv=3, random_state=0)
    selection.fit(X, np.column_stack([Y, X[:, 0]]))
    assert selection.weights_.sum() == pytest.approx(1.0)


def test_another_scoring_refits_no_learner() -> None:
    selection = EnsembleSelectionRegressor(NUMBERS, cv=3, random_state=0).fit(X, Y)
    again = selection.restack(scoring="neg_mean_absolute_error")
    assert isinstance(again, EnsembleSelectionRegressor)
    expected = greedy_weights(
        selection.oof_.to_numpy(), Y, loss=lambda mean: float(np.abs(mean - Y).mean())
    )
    np.testing.assert_allclose(again.weights_, expected)


def test_the_diagram_names_greedy() -> None:
    assert "greedy" in EnsembleSelectionRegressor(NUMBERS)._repr_html_()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"n_steps": 0}, "n_steps must be a whole number of at least 1; got 0. Try 50."),
        ({"n_steps": [5, 2.5]}, "n_steps must be a whole number of at least 1; got 2.5. Try 50."),
        ({"n_steps": []}, "n_steps must hold a value; got []. Leave it out."),
        ({"patience": 0}, "patience must be a whole number of at least 1 or None; got 0. Try"),
        ({"n_bags": -1}, "n_bags must be a whole number of at least 0; got -1. Try 10."),
        ({"fraction": 0}, "fraction must be a number above 0 and at most 1; got 0. Try 0.5."),
        ({"shrinkage": 1.5}, "shrinkage must be a number at least 0 and at most 1; got 1.5."),
    ],
)
def test_wrong_parameters_are_said_before_anything_is_fitted(wrong: dict, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        EnsembleSelectionRegressor(NUMBERS, **wrong).fit(X, Y)
    assert str(caught.value).startswith(f"EnsembleSelectionRegressor: {text}")


@pytest.mark.parametrize("kind", [EnsembleSelectionRegressor, EnsembleSelectionClassifier])
def test_what_restack_offers_is_a_parameter_of_the_class(kind) -> None:
    offered = set(signature(kind.restack).parameters) - {"self", "X"}
    assert offered <= set(signature(kind.__init__).parameters)
