from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import AveragedCVClassifier


@parametrize_with_checks(
    [AveragedCVClassifier(cv=3), AveragedCVClassifier(cv=3, candidates="subsets", max_size=2)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
