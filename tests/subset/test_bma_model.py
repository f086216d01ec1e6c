import re

import pytest

from foldwise import BayesianModelAveragingClassifier, BayesianModelAveragingRegressor
from foldwise.subset.bma_model import coverage_levels


def test_a_central_interval_leaves_half_of_the_rest_on_either_side():
    assert coverage_levels("Test", 0.5) == (0.25, 0.75)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            BayesianModelAveragingClassifier(method="mc3"),
            "BayesianModelAveragingClassifier: method must be a word it knows; got 'mc3'. "
            "Use one of 'auto', 'branch_and_bound', 'enumerate'.",
        ),
        (
            BayesianModelAveragingRegressor(model_prior="betabinomial"),
            "BayesianModelAveragingRegressor: model_prior must be a word it knows; got "
            "'betabinomial'. Did you mean 'beta_binomial'?",
        ),
    ],
)
def test_unknown_words_are_errors(model, message):
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_the_hundred_best_models_are_listed_and_all_are_kept():
    import numpy as np

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    bma = BayesianModelAveragingRegressor().fit(X, y)
    assert len(bma.models_) == 100
    assert len(bma.model_probability_) == 256
    assert bma.models_["probability"].is_monotonic_decreasing
