from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BayesianModelAveragingClassifier


@parametrize_with_checks([BayesianModelAveragingClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
