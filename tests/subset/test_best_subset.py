from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BestSubsetRegressor


@parametrize_with_checks(
    [
        BestSubsetRegressor(),
        BestSubsetRegressor(criterion="cv", max_size=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
