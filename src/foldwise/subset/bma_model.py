"""What averaged posteriors of linear and logistic models have in common."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from foldwise.arrays import BoolArray, FloatArray
from foldwise.errors import invalid_parameter
from foldwise.subset.bma import Averaged, Plan
from foldwise.subset.coefficients import unscale
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.linear import LinearModel
from foldwise.subset.models import Fits
from foldwise.subset.moments import Moments

LISTED = 100


class AveragedPosterior(LinearModel):
    """Parameters and attributes of Bayesian model averaging."""

    coef_sd_: FloatArray
    conditional_coef_: FloatArray
    conditional_coef_sd_: FloatArray
    inclusion_probability_: FloatArray
    model_support_: BoolArray
    model_probability_: FloatArray
    models_: pd.DataFrame
    complete_: bool
    _instead = "Use method='branch_and_bound', set max_size, or raise time_limit."
    _methods: ClassVar[list[str]] = ["auto", "enumerate", "branch_and_bound", "mc3"]

    def _plan(self) -> Plan:
        params = self.get_params(deep=False)
        self._check_word("model_prior", ["uniform", "beta_binomial"])
        self._check_word("method", self._methods)
        ratio = params["occam_ratio"]
        number = isinstance(ratio, int | float) and ratio >= 1
        if not (ratio is None or ratio == "auto" or number):
            raise invalid_parameter(
                type(self).__name__,
                "occam_ratio",
                must="be a number of at least 1, None or 'auto'",
                got=ratio,
                fix="Try 20.",
            )
        seed = check_random_state(params.get("random_state")).randint(np.iinfo(np.int32).max)
        return Plan(
            params["method"],
            ratio,
            params["strict"],
            params["max_models"],
            params.get("n_steps", 0),
            seed,
        )

    def _choice(self, n_columns: int) -> Choice:
        return choose_from(
            type(self).__name__,
            n_columns,
            getattr(self, "feature_names_in_", None),
            self.get_params(deep=False)["forced"],
            None,
            intercept=True,
        )

    def _store_models(self, averaged: Averaged, choice: Choice) -> None:
        names = self._names()
        self.model_support_ = choice.support(averaged.kept, len(names))
        self.model_probability_ = averaged.weights
        self.inclusion_probability_ = np.minimum(averaged.weights @ self.model_support_, 1.0)
        self.complete_ = averaged.complete
        inside = self.model_support_[:LISTED]
        self.models_ = pd.DataFrame(
            {
                "probability": averaged.weights[:LISTED],
                "size": inside.sum(axis=1),
                "columns": [tuple(names[row].tolist()) for row in inside],
            }
        )

    def _store_coefficients(
        self, weights: FloatArray, fits: Fits, noise: FloatArray, moments: Moments
    ) -> None:
        """Store posterior means and standard deviations.

        ``noise`` holds the variances of each model's noise, in scaled units.
        """
        mean = weights @ fits.beta
        second = weights @ (fits.beta**2 + noise[:, None] * fits.variance)
        beta = unscale(mean, moments)
        self.intercept_, self.coef_ = float(beta[0]), beta[1:]
        unit = moments.scale[-1] / moments.scale[1:-1]
        self.coef_sd_ = np.sqrt(np.maximum(second - mean**2, 0.0))[1:] * unit
        share = np.where(self.inclusion_probability_ > 0, self.inclusion_probability_, 1.0)
        conditional = mean[1:] / share
        spread = np.maximum(second[1:] / share - conditional**2, 0.0)
        self.conditional_coef_ = conditional * unit
        self.conditional_coef_sd_ = np.sqrt(spread) * unit


def coverage_levels(owner: str, coverage: Any) -> tuple[float, float]:
    """Return the two probabilities between which a central interval lies."""
    if not 0 < coverage < 1:
        raise invalid_parameter(
            owner, "coverage", must="be between 0 and 1", got=coverage, fix="Try 0.9."
        )
    return (1 - coverage) / 2, (1 + coverage) / 2
