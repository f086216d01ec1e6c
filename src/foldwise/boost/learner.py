"""One learner among many: checked input, weights, seeds, and no needless checking again.

Bagging and boosting fit the same learner hundreds of times on the same table. What the table and
the learner allow is found out once, here, so that each fit costs little more than the fit itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter, validate_data

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.errors import Plain, invalid_data, unsupported


@dataclass(frozen=True)
class Table:
    """Rows as the learners take them."""

    X: Any  # the rows: an array, a sparse matrix or a data frame
    # whether the learners may skip their own checks: they are scikit-learn trees and ``X`` is a
    # dense float32 array without missing values
    trusted: bool

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def rows(self, indices: IntArray) -> "Table":
        """Return some of the rows."""
        return Table(take(self.X, indices, axis=0), self.trusted)

    def columns(self, indices: IntArray | None) -> "Table":
        """Return some of the columns; None stands for all of them."""
        return self if indices is None else Table(take(self.X, indices, axis=1), self.trusted)


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a pandas, polars or similar data frame."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not sparse.issparse(X)


def may_skip_checks(learner: Any) -> bool:
    """Return whether ``fit`` of the learner takes ``check_input``, as scikit-learn's trees do."""
    return has_fit_parameter(learner, "check_input")


def make_table(X: Any, learners: list[Any]) -> Table:
    """Return the rows in the form in which the learners are quickest."""
    if not sparse.issparse(X) and all(may_skip_checks(learner) for learner in learners):
        # Trees read columns: column order is a few per cent quicker to fit, and no slower to ask.
        converted = np.asfortranarray(X, dtype=np.float32)
        if np.isfinite(converted.sum(dtype=np.float64)) and np.isfinite(converted).all():
            return Table(converted, trusted=True)
    return Table(X, trusted=False)


def check_features(estimator: Any, X: Any, learners: list[Any], *, reset: bool) -> Any:
    """Return ``X`` checked; a data frame stays one unless all learners are trees."""
    plain = all(may_skip_checks(learner) for learner in learners)
    if is_frame(X) and not plain:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    missing = all(get_tags(learner).input_tags.allow_nan for learner in learners)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"],
        dtype="numeric" if plain else None,
        ensure_all_finite="allow-nan" if missing else True,
    )


def check_targets(estimator: Any, X: Any, y: Any, *, classes: bool) -> Array:
    """Return ``y`` as a checked one-dimensional array."""
    if y is None:
        raise invalid_data(
            type(estimator).__name__,
            "y",
            must="be given (fit requires y to be passed, but the target y is None)",
            got=None,
            fix="Call fit(X, y).",
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if classes:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)
    y = np.asarray(y, dtype=np.float64)
    assert_all_finite(y, input_name="y")
    return y


def check_weights(estimator: Any, sample_weight: Any, n_samples: int) -> FloatArray:
    """Return checked weights, ones if there are none."""
    owner = type(estimator).__name__
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise invalid_data(
            owner,
            "sample_weight",
            must=f"be one number a row, shape ({n_samples},)",
            got=Plain(f"shape {weight.shape}"),
            fix="Pass one weight for each row of X.",
        )
    if not np.isfinite(weight).all() or weight.min() < 0 or weight.sum() <= 0:
        raise invalid_data(
            owner,
            "sample_weight",
            must="be finite, not negative and not all zero",
            got=Plain(f"a minimum of {weight.min():g} and a sum of {weight.sum():g}"),
            fix="Leave it out to weight all rows alike.",
        )
    return weight


def check_groups(estimator: Any, groups: Any, n_samples: int) -> Array | None:
    """Return the groups as an array as long as the rows, or None."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise invalid_data(
            type(estimator).__name__,
            "groups",
            must=f"be one label a row, shape ({n_samples},)",
            got=Plain(f"shape {labels.shape}"),
            fix="Pass one group for each row of X.",
        )
    return labels


def weight_keyword(learner: Any) -> str | None:
    """Return the keyword under which ``fit`` takes weights, None if it takes none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_keyword(make_pipeline(StandardScaler(), Ridge()))
    'ridge__sample_weight'
    """
    if isinstance(learner, Pipeline):
        if get_config()["enable_metadata_routing"]:
            return "sample_weight"  # the steps' own requests say where it goes
        name, last = learner.steps[-1]
        inner = None if last in (None, "passthrough") else weight_keyword(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(learner, "sample_weight") else None


def require_weights(owner: str, learner: Any, why: str, fix: str) -> None:
    """Raise unless the learner can be weighted."""
    if weight_keyword(learner) is None:
        raise unsupported(
            owner,
            "estimator",
            must=f"take sample_weight in fit {why}",
            got=Plain(type(learner).__name__),
            fix=fix,
        )


def seeded(learner: Any, seed: int) -> Any:
    """Return a clone whose unset ``random_state`` parameters are filled from ``seed``."""
    copy = clone(learner)
    values = copy.get_params()
    unset = sorted(
        name
        for name, value in values.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    if unset:
        drawn = np.random.default_rng(seed).integers(2**31 - 1, size=len(unset))
        copy.set_params(**{name: int(number) for name, number in zip(unset, drawn, strict=True)})
    return copy


def fit_learner(learner: Any, table: Table, y: Array, weight: FloatArray | None) -> Any:
    """Fit the learner in place and return it."""
    extra: dict[str, Any] = {"check_input": False} if table.trusted else {}
    if weight is not None:
        keyword = weight_keyword(learner)
        if keyword is None:
            raise TypeError(f"{type(learner).__name__} takes no sample_weight")
        extra[keyword] = weight
    return learner.fit(table.X, y, **extra)


def ask(learner: Any, table: Table, method: str = "predict") -> Array:
    """Return what a method of the fitted learner says about the rows."""
    extra = {"check_input": False} if table.trusted else {}
    return np.asarray(getattr(learner, method)(table.X, **extra))
