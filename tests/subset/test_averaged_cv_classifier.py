import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import AveragedCVClassifier
from foldwise.errors import FoldsWarning


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldsWarning")
@parametrize_with_checks(
    [AveragedCVClassifier(cv=2), AveragedCVClassifier(cv=2, candidates="subsets", max_size=2)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def rows(n=90, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, rng.random(n) < 1 / (1 + np.exp(-1.5 * X[:, 0] + 0.3))


@pytest.mark.parametrize("refit", [False, True])
def test_the_average_is_that_of_a_literal_loop(refit):
    X, y = rows()
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
def test_many_columns_take_the_lasso_by_themselves(refit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = X[:, 3] + 0.5 * rng.normal(size=80) > 0
    acv = AveragedCVClassifier(cv=3, refit=refit, n_alphas=10).fit(X, y)
    assert acv.candidates_ == "lasso"
    assert acv.selection_frequency_[3] == 1
    assert acv.score(X, y) > 0.8


def test_three_classes_are_an_error_that_says_so():
    X, _ = rows()
    message = (
        "AveragedCVClassifier: y must have two classes; got 3 classes. Only binary "
        "classification is supported. The type of the target is multiclass."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        AveragedCVClassifier().fit(X, np.arange(90) % 3)
    message = "AveragedCVClassifier: y must have two classes; got one class, 'a'. Add rows of"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        AveragedCVClassifier().fit(X, ["a"] * 90)


def test_too_many_subsets_are_refused_with_the_time_they_would_take():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"would take about .* days\. Use candidates='lasso'"):
        AveragedCVClassifier(candidates="subsets").fit(X, y)


def test_a_rare_class_gets_fewer_folds_and_a_warning():
    X, _ = rows(n=40)
    y = np.arange(40) < 4
    with pytest.warns(FoldsWarning, match=r"^AveragedCVClassifier: 4 folds instead of 10, since"):
        acv = AveragedCVClassifier().fit(X, y)
    assert len(acv.fold_coef_) == 4
