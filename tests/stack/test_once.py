"""Promise 2: no (learner, parameters, rows, seed) is fitted twice, and the design says how many."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GroupKFold, PredefinedSplit, TimeSeriesSplit

from foldwise import StackingRegressor

LOG: list = []


class Counted(RegressorMixin, BaseEstimator):
    """Writes down every fit: who, on what, with what."""

    def __init__(self, who="a", alpha=0.0, random_state=None):
        self.who = who
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X)
        LOG.append((self.who, self.alpha, self.random_state, X.shape, X.tobytes()))
        self.n_features_in_ = X.shape[1]
        self.mean_ = np.mean(y) * (1 - self.alpha)
        return self

    def predict(self, X):
        return self.mean_ + 0.1 * np.asarray(X)[:, 0]


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n)


def fits_of(learners, *, groups=None, **arguments):
    """Fit a stack; return how often each learner was fitted, after checking `n_fits_`."""
    LOG.clear()
    X, y = data()
    stack = StackingRegressor(learners, "mean", random_state=0, **arguments).fit(
        X, y, **({} if groups is None else {"groups": groups})
    )
    assert max(Counter(LOG).values()) == 1, "something was fitted twice"
    counts = Counter(entry[0] for entry in LOG)
    assert total(stack.n_fits_) == len(LOG)
    return counts


def total(n_fits):
    return sum(n_fits.values()) if hasattr(n_fits, "values") else n_fits


TWO = [("a", Counted("a")), ("b", Counted("b"))]


@pytest.mark.parametrize("n_folds", [3, 5, 10])
@pytest.mark.parametrize("hold_out", ["node", "mean"])
def test_folds_cost_pairs_and_singles(n_folds, hold_out) -> None:
    expected = comb(n_folds, 2) + n_folds
    counts = fits_of(TWO, cv=n_folds, predict_with="folds", hold_out=hold_out)
    assert counts == {"a": expected, "b": expected}


@pytest.mark.parametrize("n_folds", [3, 5])
def test_refit_costs_one_more(n_folds) -> None:
    counts = fits_of(TWO, cv=n_folds, predict_with="refit")
    assert set(counts.values()) == {comb(n_folds, 2) + n_folds + 1}


@pytest.mark.parametrize("n_folds", [4, 5])
def test_pairs_cost_pairs_only(n_folds) -> None:
    counts = fits_of(TWO, cv=n_folds, predict_with="pairs")
    assert set(counts.values()) == {comb(n_folds, 2)}


def test_a_learner_is_fitted_twenty_five_times_less_than_by_naive_nesting() -> None:
    assert fits_of(TWO, cv=5)["a"] == 15


@pytest.mark.parametrize("arguments", [{}, {"gap": 2}, {"max_train_size": 10}])
def test_forward_in_time_costs_one_a_fold_and_the_refit(arguments) -> None:
    splitter = TimeSeriesSplit(5, **arguments)
    assert set(fits_of(TWO, cv=splitter, predict_with="folds").values()) == {5}
    assert set(fits_of(TWO, cv=splitter).values()) == {6}


def test_groups_and_predefined_folds_cost_the_same() -> None:
    groups = np.arange(40) % 9
    assert set(fits_of(TWO, cv=4, groups=groups).values()) == {10}
    assert set(fits_of(TWO, cv=GroupKFold(4), groups=groups).values()) == {10}
    fold = np.arange(40) % 5 - 1
    assert set(fits_of(TWO, cv=PredefinedSplit(fold)).values()) == {10}


def test_one_split_is_one_fit() -> None:
    splits = [(np.arange(20), np.arange(20, 40))]
    assert set(fits_of(TWO, cv=splits, predict_with="folds").values()) == {1}
    assert set(fits_of(TWO, cv=splits, predict_with="refit").values()) == {2}


def test_two_layers_add_triples_to_the_lower_one_only() -> None:
    layers = [[("a", Counted("a"))], [("b", Counted("b"))]]
    assert fits_of(layers, cv=5) == {"a": 10 + 10 + 5, "b": 10 + 5}
    assert fits_of(layers, cv=5, predict_with="refit") == {"a": 26, "b": 16}
    assert fits_of(layers, cv=5, predict_with="pairs") == {"a": 20, "b": 10}
    assert fits_of(layers, cv=4) == {"a": 4 + 6 + 4, "b": 10}


def test_repeats_cost_their_number_and_the_refit_is_shared() -> None:
    assert fits_of(TWO, cv=4, n_repeats=3)["a"] == 3 * 10
    assert fits_of(TWO, cv=4, n_repeats=3, predict_with="refit")["a"] in (3 * 10 + 1, 3 * 11)


def test_tuning_fits_each_point_at_each_pair_and_the_winners_at_the_singles() -> None:
    LOG.clear()
    X, y = data()
    grid = {"alpha": [0.0, 0.5, 0.9]}
    stack = StackingRegressor(
        [("a", Counted("a")), ("b", Counted("b"))],
        "mean",
        cv=5,
        tune={"a": grid},
        hold_out="node",
        random_state=0,
    ).fit(X, y)
    assert max(Counter(LOG).values()) == 1
    counts = Counter(entry[0] for entry in LOG)
    assert counts == {"a": 3 * 10 + 5, "b": 15}
    assert total(stack.n_fits_) == len(LOG)


def test_the_bake_off_and_its_grid_fit_no_learner_again() -> None:
    LOG.clear()
    X, y = data()
    StackingRegressor(TWO, None, cv=4, random_state=0).fit(X, y)
    assert Counter(entry[0] for entry in LOG) == {"a": 10, "b": 10}
    assert max(Counter(LOG).values()) == 1


def test_restack_and_add_fit_no_learner_that_is_there() -> None:
    X, y = data()
    stack = StackingRegressor(TWO, "mean", cv=4, random_state=0).fit(X, y)
    LOG.clear()
    stack.restack(final_estimator="nnls")
    assert LOG == []
    # Nor is it fitted on deals that the stack has not.
    stack.set_params(n_repeats=2).add("c", Counted("c"))
    assert Counter(entry[0] for entry in LOG) == {"c": 10}
