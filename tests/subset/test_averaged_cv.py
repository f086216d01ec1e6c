import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtri
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import AveragedCVRegressor, BestSubsetRegressor


@parametrize_with_checks(
    [
        AveragedCVRegressor(),
        AveragedCVRegressor(refit=False, candidates="subsets", max_size=2),
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
