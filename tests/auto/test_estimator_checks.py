"""scikit-learn's estimator checks on the unattended stacks and their transformers."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise.auto import AutoStackClassifier, AutoStackRegressor
from foldwise.auto.portfolio.features import KernelFeatures, SplineColumns

RESAMPLED = {
    "check_sample_weight_equivalence_on_dense_data": "boosted trees bin features",
}


def excused(estimator: Any) -> dict[str, str]:
    return RESAMPLED if isinstance(estimator, AutoStackClassifier | AutoStackRegressor) else {}


# Checks with a handful of rows make us lower cv or go without a score, each with a warning.
@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        AutoStackRegressor("fast", random_state=0),
        AutoStackClassifier("fast", random_state=0),
        SplineColumns(),
        KernelFeatures(random_state=0),
    ],
    expected_failed_checks=excused,
)
def test_scikit_learns_estimator_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)
