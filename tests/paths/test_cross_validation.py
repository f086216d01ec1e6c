import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit

from foldwise.paths import cross_validated_path, cross_validation, penalised_path
from foldwise.paths.rows import checked_rows

LOSSES = ["squared", "logistic", "multinomial", "poisson", "huber"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_down_dated_folds_are_the_paths_fitted_without_them(make_problem, loss, kind):
    D, y, w = make_problem(loss)
    fold_of = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"loss": loss, "n_lambdas": 12, "tol": 1e-11, "lambda_min_ratio": 0.02}
    if loss == "huber":
        options["huber_delta"] = 1.0
    path = cross_validated_path(kind(D), y, fold_of=fold_of, sample_weight=w, **options)
    rows = checked_rows(D, y, loss, w, None, options.get("huber_delta"))
    expected = []
    for k in range(4):
        train, test = fold_of != k, fold_of == k
        options["lambdas"] = path.lambdas
        part = penalised_path(D[train], y[train], sample_weight=w[train], **options)
        losses = rows.take(test).losses(part.predictor(D[test]))
        expected.append(np.average(losses, axis=1, weights=w[test]))
    assert_allclose(path.fold_loss, expected, rtol=1e-4)
    share = np.bincount(fold_of, w) / w.sum()
    mean = share @ expected
    assert_allclose(path.cv_loss, mean, rtol=1e-4)
    assert_allclose(path.cv_se, np.sqrt(share @ (expected - mean) ** 2 / 3), rtol=1e-2)


def test_it_chooses_as_lassocv_does(make_problem):
    D, y, _ = make_problem("squared", 200, 40)
    fold_of = np.arange(200) % 5
    oracle = LassoCV(alphas=50, tol=1e-8, cv=PredefinedSplit(fold_of), max_iter=10**5).fit(D, y)
    path = cross_validated_path(D, y, fold_of=fold_of, n_lambdas=50)
    assert_allclose(path.lambdas, oracle.alphas_, rtol=1e-8)
    assert_allclose(2 * path.cv_loss, oracle.mse_path_.mean(axis=1), rtol=1e-5)
    assert_allclose(path.lambdas[path.index_min], oracle.alpha_)
    assert_allclose(path.coefs[path.index_min], oracle.coef_, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_nothing_used_to_predict_a_fold_has_seen_its_targets(make_problem, loss, monkeypatch):
    D, y, _ = make_problem(loss)
    fold_of = np.arange(len(y)) % 4
    seen = []
    judged = cross_validation.judged
    monkeypatch.setattr(
        cross_validation, "judged", lambda *args: seen.append(args[1]) or judged(*args)
    )
    changed = y.copy()
    changed[fold_of == 2] = 1 - changed[fold_of == 2]
    for target in (y, changed):
        cross_validated_path(D, target, loss=loss, fold_of=fold_of, lambdas=[0.1, 0.01])
    before, after = seen[0][2], seen[1][2]
    assert_allclose(after.coefs, before.coefs, rtol=0, atol=1e-10)
    assert_allclose(after.intercepts, before.intercepts, rtol=0, atol=1e-10)
    assert np.abs(seen[1][1].coefs - seen[0][1].coefs).max() > 1e-3


def test_one_standard_error_is_the_first_good_enough():
    path = cross_validation.CVPath(
        np.array([4.0, 3.0, 2.0, 1.0]),
        np.zeros((4, 1)),
        np.zeros(4),
        np.array([5.0, 2.9, 2.0, 2.5]),
        np.array([9.0, 9.0, 1.0, 9.0]),
        np.zeros((2, 4)),
    )
    assert (path.index_min, path.index_1se) == (2, 1)
    assert (path.index("min"), path.index("1se")) == (2, 1)


def test_rows_of_a_negative_fold_are_always_trained_on(make_problem):
    D, y, _ = make_problem("squared")
    fold_of = np.arange(len(y)) % 4 - 1
    path = cross_validated_path(D, y, fold_of=fold_of, n_lambdas=5)
    assert path.fold_loss.shape == (3, 5)


def test_moments_too_large_to_keep_are_made_twice(make_problem, monkeypatch):
    D, y, w = make_problem("squared")
    fold_of = np.arange(len(y)) % 3
    kept = cross_validated_path(D, y, fold_of=fold_of, sample_weight=w)
    monkeypatch.setattr("foldwise.paths.gram.KEPT_BYTES", 0)
    again = cross_validated_path(D, y, fold_of=fold_of, sample_weight=w)
    assert_allclose(again.cv_loss, kept.cv_loss, rtol=1e-8)


def test_the_whole_path_is_the_plain_path(make_problem):
    D, y, w = make_problem("poisson")
    options = {"loss": "poisson", "sample_weight": w, "max_nonzero": 6}
    judged = cross_validated_path(D, y, fold_of=np.arange(len(y)) % 3, **options)
    plain = penalised_path(D, y, **options)
    assert_array_equal(judged.coefs, plain.coefs)
    assert_array_equal(judged.lambdas, plain.lambdas)


def test_on_pure_noise_the_least_held_out_loss_is_not_better_than_the_constant():
    # A tenth of the columns are duplicates: nothing may profit from them either.
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(20):
        D, y = rng.normal(size=(80, 20)), rng.normal(size=80)
        D[:, :2] = D[:, 2:4]
        path = cross_validated_path(D, y, fold_of=np.arange(80) % 5)
        excess.append(path.cv_loss.min() / (y.var() / 2) - 1)
    assert np.mean(excess) > -0.03
