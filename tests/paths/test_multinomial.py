from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from foldwise.paths import penalised_path


def test_ridge_multinomial_regression_is_scikit_learns(make_problem):
    D, y, _ = make_problem("multinomial")
    oracle = LogisticRegression(C=1 / (0.1 * len(y)), tol=1e-10, max_iter=1000).fit(D, y)
    path = penalised_path(D, y, loss="multinomial", l1_ratio=0.0, lambdas=[0.1], tol=1e-13)
    assert_allclose(path.coefs[0], oracle.coef_, atol=1e-5)
    assert_allclose(path.intercepts[0], oracle.intercept_, atol=1e-5)


def test_two_classes_are_logistic_regression_shared_out(make_problem):
    # The penalty of (w, 0) and of (w/2, -w/2) is the same, so compare what is predicted.
    D, y, _ = make_problem("logistic")
    two = penalised_path(D, y, loss="multinomial", lambdas=[0.02], tol=1e-13)
    one = penalised_path(D, y, loss="logistic", lambdas=[0.02], tol=1e-13)
    difference = two.predictor(D)[0, 1] - two.predictor(D)[0, 0]
    assert_allclose(difference, one.predictor(D)[0], atol=1e-5)


def test_intercepts_are_centred(make_problem):
    D, y, w = make_problem("multinomial")
    path = penalised_path(D, y, loss="multinomial", sample_weight=w, n_lambdas=5)
    assert_allclose(path.intercepts.sum(axis=1), 0, atol=1e-12)
