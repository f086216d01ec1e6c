from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise.auto.tables import TableEncoder


@parametrize_with_checks(
    [
        TableEncoder(),
        TableEncoder(numbers="keep", categories="keep"),
        TableEncoder(scale="quantile", categories="target"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
