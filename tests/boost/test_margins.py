import numpy as np
import pytest
from scipy.optimize import linprog

from foldwise.boost import AdaBoostClassifier
from foldwise.boost.margins import BoostingPath, centred, class_margins, coefficient_path


def test_centred_votes_sum_to_zero() -> None:
    votes = np.random.default_rng(0).random((5, 3))
    np.testing.assert_allclose(centred(votes).sum(axis=1), 0, atol=1e-15)


def test_margins_lie_between_minus_one_and_one_and_tell_right_from_wrong() -> None:
    rng = np.random.default_rng(0)
    votes, codes = rng.random((50, 4)), rng.integers(4, size=50)
    margins = class_margins(votes, codes)
    assert np.abs(margins).max() <= 1
    assert ((margins > 0) == (votes.argmax(axis=1) == codes)).all()


def test_the_path_can_be_cut() -> None:
    votes, codes = np.array([[2.0, 0.0]]), np.array([0])
    path = BoostingPath.start().extended(votes, codes, np.ones(1), 1.0)
    path = path.extended(2 * votes, codes, np.ones(1), 1.0)
    assert path.l1_norm.tolist() == [1.0, 2.0]
    assert path.first(1).exponential_loss.tolist() == [np.exp(-1)]


def test_learners_that_answer_alike_share_a_coefficient() -> None:
    path = coefficient_path(np.array([[0, 1], [0, 1], [1, 0]]), np.array([1.0, 2.0, 3.0]))
    assert path[-1].tolist() == [3.0, 3.0]


def test_slow_boosting_climbs_to_the_largest_margin_there_is() -> None:
    # The oracle is the linear programme max μ: Σ β y h ≥ μ, Σ |β| = 1 over all stumps.
    rng = np.random.default_rng(3)
    X = rng.random((30, 2))
    y = np.where(X.sum(axis=1) > 1, 1, -1)
    stumps = []
    for j in range(2):
        values = np.sort(X[:, j])
        for cut in (values[1:] + values[:-1]) / 2:
            stumps.append(np.where(X[:, j] > cut, 1, -1))
    H = y[:, None] * np.column_stack(stumps + [-stump for stump in stumps])
    n, k = H.shape
    solved = linprog(
        np.r_[np.zeros(k), -1.0],
        A_ub=np.hstack([-H, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(k), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    model = AdaBoostClassifier(n_estimators=600, learning_rate=0.5, random_state=0).fit(X, y)
    path = model.path_
    assert path.smallest_margin[-1] == pytest.approx(-solved.fun, rel=0.05)
    assert path.smallest_margin.max() <= -solved.fun + 1e-9
    assert (np.diff(path.l1_norm) > 0).all()
    coefficients = model.coefficient_path(X)
    np.testing.assert_allclose(coefficients.sum(axis=1), path.l1_norm)
    assert (np.diff(coefficients, axis=0) >= 0).all()
