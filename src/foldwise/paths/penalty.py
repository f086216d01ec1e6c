"""The elastic-net penalty: how much each column pays, and which columns may matter at all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.arrays import BoolArray, FloatArray
from foldwise.checks import check_number
from foldwise.errors import invalid_parameter

# With a pure ridge penalty no finite lambda sets all coefficients to zero; its path begins where
# this mixture would, as glmnet's does.
LEAST_L1_RATIO = 1e-3


@dataclass(frozen=True)
class Penalty:
    """``lambda * sum(factor * (l1_ratio |w| + (1 - l1_ratio) w^2 / 2))``."""

    l1_ratio: float  # one is the lasso, zero is ridge
    # what each column pays, a finite number; zero frees it from penalty and sign
    factor: FloatArray
    allowed: BoolArray  # columns that may enter at all
    non_negative: bool  # whether penalised coefficients must not be negative

    @classmethod
    def uniform(cls, l1_ratio: float, n_columns: int, non_negative: bool) -> "Penalty":
        """Return the penalty that all columns pay alike."""
        every = np.ones(n_columns, dtype=bool)
        return cls(l1_ratio, every.astype(float), every, non_negative)

    @property
    def free(self) -> BoolArray:
        """Columns without a penalty."""
        return self.allowed & (self.factor == 0)

    def l1(self, lam: float) -> FloatArray:
        """Return the absolute-value penalty of every column."""
        return lam * self.l1_ratio * self.factor

    def l2(self, lam: float) -> FloatArray:
        """Return the squared penalty of every column."""
        return lam * (1.0 - self.l1_ratio) * self.factor

    def value(self, w: FloatArray, lam: float) -> float:
        """Return the penalty of the coefficients ``w``, all of them allowed."""
        used = np.flatnonzero(w)
        f, v = self.factor[used], w[used]
        squares = 0.5 * (1.0 - self.l1_ratio) * v**2
        return float(lam * (f @ (self.l1_ratio * np.abs(v) + squares)))

    def pull(self, gradient: FloatArray) -> FloatArray:
        """Return how hard the loss pulls each coefficient away from zero."""
        return -gradient if self.non_negative else np.abs(gradient)

    def largest_lambda(self, gradient: FloatArray) -> float:
        """Return the smallest lambda at which every penalised coefficient is zero."""
        paying = self.allowed & ~self.free
        if not paying.any():
            return 1.0
        pull = self.pull(gradient[paying]) / self.factor[paying]
        return max(float(pull.max()), 1e-10) / max(self.l1_ratio, LEAST_L1_RATIO)

    def may_enter(self, w: FloatArray, gradient: FloatArray, lam: float, last: float) -> NDArray:
        """Return the columns in use or likely to be in use at ``lam``: the strong rule.

        References
        ----------
        .. [1] Tibshirani et al. (2012). Strong rules for discarding predictors in lasso-type
           problems. JRSS B 74, 245-266.
        """
        if self.l1_ratio == 0:
            return self.allowed
        threshold = self.l1(max(2.0 * lam - last, 0.0))
        return self.allowed & ((w != 0) | (self.pull(gradient) >= threshold))

    def violated(self, gradient: FloatArray, lam: float, slack: float) -> BoolArray:
        """Return the columns whose coefficient cannot stay at zero at ``lam``."""
        return self.allowed & (self.pull(gradient) > self.l1(lam) + slack)


def checked_penalty(
    l1_ratio: float, penalty_factor: Any, non_negative: bool, n_columns: int
) -> Penalty:
    """Return the penalty, or say what is wrong with it."""
    fix = "Try 1.0, the lasso; 0 is ridge."
    check_number("penalised_path", "l1_ratio", l1_ratio, least=0, most=1, fix=fix)
    given = np.ones(n_columns) if penalty_factor is None else penalty_factor
    factor = np.asarray(given, dtype=float)
    if factor.shape != (n_columns,) or (factor < 0).any():
        must, got = f"be {n_columns} numbers, none of them negative", penalty_factor
        fix = "Leave it out to penalise all columns alike."
        raise invalid_parameter("penalised_path", "penalty_factor", must=must, got=got, fix=fix)
    allowed = np.isfinite(factor)
    return Penalty(float(l1_ratio), np.where(allowed, factor, 1.0), allowed, non_negative)
