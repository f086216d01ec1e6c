"""Learners of the logarithm of a skewed positive target."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor

from foldwise.auto.portfolio.member import Settings


def in_log(build: Callable[[Settings], Any]) -> Callable[[Settings], Any]:
    """Return a builder of the same learner for the logarithm of the target."""

    def build_in_log(settings: Settings) -> Any:
        maps = (np.log1p, np.expm1) if settings.facts.has_zero else (np.log, np.exp)
        func, inverse = maps
        return TransformedTargetRegressor(
            build(settings), func=func, inverse_func=inverse, check_inverse=False
        )

    return build_in_log
