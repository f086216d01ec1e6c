import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from sklearn.datasets import load_diabetes
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, RepeatedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import (
    AveragedCVClassifier,
    AveragedCVRegressor,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
)
from foldwise.errors import FoldsWarning, FoldwiseWarning
from foldwise.subset.averaged_cv import best_lasso


@parametrize_with_checks(
    [
        AveragedCVRegressor(cv=2),
        AveragedCVRegressor(cv=2, refit=False, candidates="subsets", max_size=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def rnorm_of_r(n: int, seed: int) -> np.ndarray:
    """Normal numbers as R draws them after ``set.seed(seed)``: Mersenne Twister, inversion."""
    state = seed
    for _ in range(50):
        state = (69069 * state + 1) % 2**32
    key = []
    for _ in range(625):
        state = (69069 * state + 1) % 2**32
        key.append(state)
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(key[1:], dtype=np.uint32), 624))
    uniform = twister.randint(0, 2**32, size=2 * n, dtype=np.uint32) * 2.3283064365386963e-10
    return ndtri((np.floor(134217728 * uniform[::2]) + uniform[1::2]) / 134217728)


def the_notes_example():
    drawn = rnorm_of_r(800, seed=1)
    X = drawn[:700].reshape(7, 100).T
    return X, X @ [1, 2, 3, 4, 1, 2, 0] + 0.5 * drawn[700:]


def test_the_notes_example_to_nine_digits():
    # Printed by R 4.2 running the note's code.
    X, y = the_notes_example()
    assert_allclose(X[0, :2], [-0.626453810742332, -0.620366677224124], rtol=1e-12)
    acv = AveragedCVRegressor(KFold(10), refit=False, empty_model=False).fit(X, y)
    assert_allclose(
        [acv.intercept_, *acv.coef_],
        [
            0.002080319140,
            1.007003667,
            2.027538867,
            2.919071514,
            4.015474643,
            1.038268121,
            1.916853965,
            0.01107063335,
        ],
        rtol=1e-9,
    )
    assert_allclose(np.mean((y - acv.predict(X)) ** 2), 0.2798239559, rtol=1e-9)
    cv = BestSubsetRegressor(criterion="cv", cv=KFold(10), empty_model=False).fit(X, y)
    assert_allclose(
        [cv.intercept_, *cv.coef_],
        [
            -0.000143963333,
            1.006981843,
            2.026843415,
            2.918820594,
            4.013916223,
            1.039079752,
            1.915851326,
            0,
        ],
        rtol=2e-9,
    )
    assert_allclose(np.mean((y - cv.predict(X)) ** 2), 0.2809315889, rtol=1e-9)


def random_rows(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ [1.0, 0.5, 0.2, 0.0, 0.0][:p] + rng.normal(size=n)


def averaged_by_hand(X, y, splits, refit):
    """Seed equations: best subset on each fold, coefficients with zeros, their mean."""
    n, p = X.shape
    subsets = [c for size in range(p + 1) for c in itertools.combinations(range(p), size)]
    betas = []
    for train, test in splits:
        errors, fits = [], []
        for columns in subsets:
            Z = np.column_stack([np.ones(n), X[:, columns]])
            fits.append(np.linalg.lstsq(Z[train], y[train], rcond=None)[0])
            errors.append(np.sum((y[test] - Z[test] @ fits[-1]) ** 2))
        best = int(np.argmin(errors))
        Z = np.column_stack([np.ones(n), X[:, subsets[best]]])
        beta = np.linalg.lstsq(Z, y, rcond=None)[0] if refit else fits[best]
        wide = np.zeros(p + 1)
        wide[[0, *(c + 1 for c in subsets[best])]] = beta
        betas.append(wide)
    return np.array(betas)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize(
    "cv",
    [KFold(6), RepeatedKFold(n_splits=3, n_repeats=4, random_state=0)],
    ids=["plain", "repeated"],
)
def test_the_average_is_that_of_the_equations(refit, cv):
    X, y = random_rows()
    splits = list(cv.split(X))
    betas = averaged_by_hand(X, y, splits, refit)
    acv = AveragedCVRegressor(cv, refit=refit).fit(X, y)
    assert_allclose(acv.coef_, betas.mean(axis=0)[1:], rtol=1e-9, atol=1e-12)
    assert_allclose(acv.intercept_, betas.mean(axis=0)[0], rtol=1e-9)
    assert_allclose(acv.fold_coef_, betas[:, 1:], rtol=1e-9, atol=1e-12)
    assert_allclose(acv.selection_frequency_, (betas[:, 1:] != 0).mean(axis=0))
    assert_allclose(acv.coef_sd_, betas[:, 1:].std(axis=0, ddof=1), rtol=1e-9)
    assert acv.candidates_ == "subsets"


def test_changing_the_target_in_a_fold_changes_no_coefficient_fitted_without_it():
    X, y = random_rows()
    splits = list(KFold(5).split(X))
    acv = AveragedCVRegressor(splits, refit=False, candidates="lasso", n_alphas=5)
    before = acv.fit(X, y).fold_alphas_
    changed = y.copy()
    changed[splits[2][1]] += 100
    after = acv.fit(X, changed).fold_alphas_
    # The path of fold 2 comes from the other rows; only the choice on it may change.
    ratio = np.log10(before[2] / after[2]) / (3 / 4)
    assert_allclose(ratio, round(ratio), atol=1e-9)


@pytest.mark.parametrize("refit", [False, True])
def test_the_lasso_version_takes_the_best_penalty_of_each_fold(refit):
    X, y = random_rows(n=80)
    splits = list(KFold(4).split(X))
    acv = AveragedCVRegressor(splits, candidates="lasso", refit=refit, n_alphas=30).fit(X, y)
    betas = []
    for (train, test), chosen in zip(splits, acv.fold_alphas_, strict=True):
        scaler = StandardScaler().fit(X[train])
        largest = np.abs(scaler.transform(X[train]).T @ (y[train] - y[train].mean())).max() / 60
        alphas = largest * np.logspace(0, -3, 30)

        def fit(alpha, rows):
            scaler = StandardScaler().fit(X[rows])
            model = Lasso(alpha, tol=1e-12, max_iter=100_000)
            model.fit(scaler.transform(X[rows]), y[rows])
            coef = model.coef_ / scaler.scale_
            return np.append(model.intercept_ - scaler.mean_ @ coef, coef)

        fits = [fit(alpha, train) for alpha in alphas]
        errors = [np.sum((y[test] - b[0] - X[test] @ b[1:]) ** 2) for b in fits]
        best = int(np.argmin(errors))
        assert_allclose(chosen, alphas[best], rtol=1e-9)
        betas.append(fit(alphas[best], np.arange(80)) if refit else fits[best])
    expected = np.mean(betas, axis=0)
    assert_allclose([acv.intercept_, *acv.coef_], expected, rtol=1e-6, atol=1e-9)


def test_many_columns_take_the_lasso_by_themselves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 80))
    y = 3 * X[:, 5] + rng.normal(size=50)
    acv = AveragedCVRegressor(cv=5).fit(X, y)
    assert acv.candidates_ == "lasso"
    assert acv.selection_frequency_[5] == 1


def test_penalties_of_an_earlier_fit_are_forgotten():
    X, y = random_rows()
    acv = AveragedCVRegressor(3, candidates="lasso", n_alphas=5).fit(X, y)
    assert acv.fold_alphas_.shape == (3,)
    assert not hasattr(acv.set_params(candidates="subsets").fit(X, y), "fold_alphas_")


@pytest.mark.parametrize("kind", [AveragedCVRegressor, AveragedCVClassifier])
def test_paths_of_the_lasso_obey_the_time_limit(kind):
    X, y = random_rows()
    acv = kind(3, candidates="lasso", n_alphas=5, time_limit=1e-9)
    with pytest.warns(FoldwiseWarning, match=rf"^{kind.__name__}: stopped after 1e-09 seconds"):
        acv.fit(X, y > 0)
    assert not acv.complete_
    assert len(acv.fold_coef_) == 1
    assert np.isfinite(acv.predict(X)).all()
    assert acv.coef_sd_.shape == acv.coef_.shape
    assert np.isnan(acv.coef_sd_).all()


@pytest.mark.parametrize("kind", [AveragedCVRegressor, AveragedCVClassifier])
def test_ctrl_c_keeps_the_paths_of_the_lasso_so_far(kind, monkeypatch):
    folds = iter([True, True, False])

    def interrupted(*given):
        if next(folds):
            return best_lasso(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr("foldwise.subset.averaged_cv.best_lasso", interrupted)
    X, y = random_rows()
    acv = kind(3, candidates="lasso", n_alphas=5)
    with pytest.warns(FoldwiseWarning, match=rf"^{kind.__name__}: interrupted"):
        acv.fit(X, y > 0)
    assert not acv.complete_
    assert len(acv.fold_coef_) == 2


def test_without_the_empty_model_every_fold_has_a_column():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    assert not AveragedCVRegressor().fit(X, y).fold_support_.any(axis=1).all()
    assert AveragedCVRegressor(empty_model=False).fit(X, y).fold_support_.any(axis=1).all()


def test_ties_within_a_fold_go_to_the_smaller_and_then_the_first_subset():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    X = np.column_stack([np.ones(60), x, 2 * x, x])
    y = x + 0.1 * rng.normal(size=60)
    acv = AveragedCVRegressor().fit(X, y)
    assert_array_equal(acv.fold_support_, np.tile([False, True, False, False], (10, 1)))


def test_dense_weak_signals_are_where_averaging_wins_and_sparse_ones_where_it_loses():
    rng = np.random.default_rng(0)
    risks = {"dense": [], "sparse": []}
    for _ in range(40):
        for kind, beta in (("dense", np.full(8, 0.4)), ("sparse", np.eye(8)[0] * 2)):
            X = rng.normal(size=(50, 8))
            y = X @ beta + 2 * rng.normal(size=50)
            models = AveragedCVRegressor(), BayesianModelAveragingRegressor()
            risks[kind].append([np.sum((m.fit(X, y).coef_ - beta) ** 2) for m in models])
    averaging, bayes = np.mean(risks["dense"], axis=0)
    assert averaging < bayes
    averaging, bayes = np.mean(risks["sparse"], axis=0)
    assert bayes < averaging


def test_it_stacks():
    X, y = load_diabetes(return_X_y=True)
    learners = [("acv", AveragedCVRegressor(cv=3)), ("best", BestSubsetRegressor())]
    stack = StackingRegressor(learners, cv=2).fit(X, y)
    assert stack.score(X, y) > 0.4


@pytest.mark.parametrize(
    ("parameters", "p", "message"),
    [
        (
            {"candidates": "lassso"},
            3,
            "candidates must be one of 'auto', 'subsets', 'lasso'; got 'lassso'. "
            "Did you mean 'lasso'?",
        ),
        (
            {"candidates": "lasso", "forced": [0]},
            3,
            "candidates must be 'subsets' where columns are forced or grouped; got 'lasso'. "
            "Drop forced and column_groups, or search subsets.",
        ),
        (
            {"candidates": "subsets"},
            50,
            "X must have few enough columns to try all subsets; got 50 to choose from: 1.1e+15 "
            "subsets on 10 folds would take about 17.8 years. "
            "Use candidates='lasso', set max_size, or raise time_limit.",
        ),
        ({"cv": [(np.arange(30), np.arange(30, 60))]}, 3, "cv must make at least 2 splits; got"),
    ],
)
def test_errors_say_what_to_do(parameters, p, message):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, p)), rng.normal(size=60)
    with pytest.raises(ValueError, match="^AveragedCVRegressor: " + re.escape(message)):
        AveragedCVRegressor(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldsWarning")
@parametrize_with_checks(
    [AveragedCVClassifier(cv=2), AveragedCVClassifier(cv=2, candidates="subsets", max_size=2)]
)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)


def binary_rows(n=90, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, rng.random(n) < 1 / (1 + np.exp(-1.5 * X[:, 0] + 0.3))


@pytest.mark.parametrize("refit", [False, True])
def test_the_average_is_that_of_a_literal_loop(refit):
    X, y = binary_rows()
    splits = list(StratifiedKFold(3).split(X, y))
    subsets = [c for size in range(1, 5) for c in itertools.combinations(range(4), size)]
    betas, scores = [], []
    for train, test in splits:
        losses = [log_loss(y[test], np.full(len(test), y[train].mean()))]
        fits = [np.append(np.log(y[train].mean() / (1 - y[train].mean())), np.zeros(4))]
        for columns in subsets:
            model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
            model.fit(X[train][:, columns], y[train])
            losses.append(log_loss(y[test], model.predict_proba(X[test][:, columns])[:, 1]))
            wide = np.zeros(5)
            wide[[0, *(c + 1 for c in columns)]] = np.append(model.intercept_, model.coef_[0])
            fits.append(wide)
        best = int(np.argmin(losses))
        scores.append(losses[best])
        if refit and best:
            columns = list(subsets[best - 1])
            model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
            model.fit(X[:, columns], y)
            fits[best] = np.zeros(5)
            fits[best][[0, *(c + 1 for c in columns)]] = np.append(model.intercept_, model.coef_[0])
        betas.append(fits[best])
    acv = AveragedCVClassifier(splits, refit=refit).fit(X, y)
    assert acv.candidates_ == "subsets"
    assert_allclose(acv.fold_scores_, scores, rtol=1e-6)
    expected = np.mean(betas, axis=0)
    assert_allclose([acv.intercept_, *acv.coef_], expected, rtol=1e-4, atol=1e-5)
    odds = expected[0] + X @ expected[1:]
    assert_allclose(acv.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-4)
    assert_array_equal(acv.predict(X), odds > 0)


@pytest.mark.parametrize("refit", [False, True])
def test_many_columns_of_two_classes_take_the_lasso_by_themselves(refit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = X[:, 3] + 0.5 * rng.normal(size=80) > 0
    acv = AveragedCVClassifier(cv=3, refit=refit, n_alphas=10).fit(X, y)
    assert acv.candidates_ == "lasso"
    assert acv.selection_frequency_[3] == 1
    assert acv.score(X, y) > 0.8


def test_three_classes_are_an_error_that_says_so():
    X, _ = binary_rows()
    message = (
        "AveragedCVClassifier: y must have two classes; got 3 classes. Only binary "
        "classification is supported. The type of the target is multiclass."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        AveragedCVClassifier().fit(X, np.arange(90) % 3)
    message = "AveragedCVClassifier: y must hold at least two classes; got one class, 'a'. There"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        AveragedCVClassifier().fit(X, ["a"] * 90)


def test_too_many_subsets_are_refused_with_the_time_they_would_take():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"would take about .* days\. Use candidates='lasso'"):
        AveragedCVClassifier(candidates="subsets").fit(X, y)


def test_a_rare_class_gets_fewer_folds_and_a_warning():
    X, _ = binary_rows(n=40)
    y = np.arange(40) < 4
    with pytest.warns(FoldsWarning, match=r"^AveragedCVClassifier: cv=10 needs .* using 4 folds"):
        acv = AveragedCVClassifier().fit(X, y)
    assert len(acv.fold_coef_) == 4
