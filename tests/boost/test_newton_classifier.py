import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import NewtonBoostingClassifier
from foldwise.boost import CustomLoss
from foldwise.errors import InvalidDataError
from foldwise.losses.classes import Logistic

WEIGHTS_DIFFER = {
    "check_sample_weight_equivalence_on_dense_data": "features are binned",
    "check_sample_weight_equivalence_on_sparse_data": "features are binned",
}


@parametrize_with_checks(
    [NewtonBoostingClassifier(n_estimators=20, min_samples_leaf=5)],
    expected_failed_checks=lambda _: WEIGHTS_DIFFER,
)
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("lam", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1e9])
def test_the_first_tree_is_the_one_of_brute_force(lam, gamma) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] + rng.normal(size=50) > 0).astype(float)
    share = y.mean()
    g, h = share - y, np.full(50, share * (1 - share))

    def score(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + lam)

    best, expected = gamma, np.full(50, 0.0)
    for column in range(3):
        for cut in np.sort(X[:, column])[:-1]:
            left = X[:, column] <= cut
            gain = 0.5 * (score(left) + score(~left) - score(np.full(50, True)))
            if gain > best:
                best = gain
                values = [-g[rows].sum() / (h[rows].sum() + lam) for rows in (left, ~left)]
                expected = np.where(left, *values)
    model = NewtonBoostingClassifier(
        n_estimators=1,
        learning_rate=1.0,
        max_leaf_nodes=2,
        min_samples_leaf=1,
        min_hessian=0.0,
        reg_lambda=lam,
        gamma=gamma,
        lightgbm_params={"min_data_in_bin": 1},
    ).fit(X, y)
    moved = model.decision_function(X) - np.log(share / (1 - share))
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-6)


def test_several_classes_have_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    model = NewtonBoostingClassifier(n_estimators=20).fit(X, np.array(["a", "b", "c"])[y])
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert model.staged_loss(X, model.predict(X)).shape == (20,)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "multinomial"])
def test_every_loss_learns(loss) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = NewtonBoostingClassifier(loss, n_estimators=30).fit(X, y)
    assert model.score(X, y) > 0.97
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


def test_a_loss_of_ones_own_gives_what_the_built_in_gives() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    own = CustomLoss(Logistic().value, Logistic().gradient, Logistic().hessian)
    ours = NewtonBoostingClassifier(own, n_estimators=10).fit(X, y).predict_proba(X)
    theirs = NewtonBoostingClassifier(n_estimators=10).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_early_stopping_keeps_groups_together() -> None:
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(200, 3)), rng.integers(2, size=200), np.arange(200) // 4
    model = NewtonBoostingClassifier(early_stopping=True, random_state=0)
    assert model.fit(X, y, groups=groups).n_estimators_ < 60


def test_one_class_is_an_error() -> None:
    with pytest.raises(InvalidDataError, match="y must hold at least two classes; got one class"):
        NewtonBoostingClassifier().fit([[0.0], [1.0]], [1, 1])
