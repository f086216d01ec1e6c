"""One learner among many: checked input, weights, seeds, and no needless checking again.

Bagging and boosting fit the same learner hundreds of times on the same table. What the table and
the learner allow is found out once, here, so that each fit costs little more than the fit itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter, validate_data

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.errors import Plain, invalid_data, invalid_parameter, unsupported
from foldwise.learners.prepare import cloned, seeded_splitters, unset_states, weight_argument


@dataclass(frozen=True)
class LearnerInput:
    """Rows as the learners take them."""

    X: Any  # the rows: an array, a sparse matrix or a data frame
    # whether the learners may skip their own checks: they are scikit-learn trees and ``X`` is a
    # dense float32 array without missing values
    trusted: bool

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def rows(self, indices: IntArray) -> "LearnerInput":
        """Return some of the rows."""
        return LearnerInput(take(self.X, indices, axis=0), self.trusted)

    def columns(self, indices: IntArray | None) -> "LearnerInput":
        """Return some of the columns; None stands for all of them."""
        if indices is None:
            return self
        return LearnerInput(take(self.X, indices, axis=1), self.trusted)


@dataclass(frozen=True)
class WeightedRows:
    """Rows with targets and weights; ``given`` says whether the weights are the user's."""

    table: LearnerInput
    y: Array
    weight: FloatArray
    given: bool

    def __len__(self) -> int:
        return len(self.y)

    def part(self, indices: IntArray) -> "WeightedRows":
        """Return some of the rows."""
        return WeightedRows(
            self.table.rows(indices), self.y[indices], self.weight[indices], self.given
        )


def factors(column: Any) -> tuple[IntArray, Any]:
    """Return for each cell where its value stands among others, -1 where missing, and these.

    A categorical of pandas knows its levels: unless they are many, none is looked for in the rows.
    """
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories) <= len(column):
        return np.asarray(getattr(column, "array", column).codes, np.intp), dtype.categories
    return pd.factorize(column)


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a pandas, polars or similar data frame."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not sparse.issparse(X)


def learners_tags(tags: Tags, learners: list[Any]) -> Tags:
    """Return the tags of an estimator that takes what all its learners take."""
    inner = [get_tags(learner).input_tags for learner in learners]
    tags.input_tags.sparse = all(each.sparse for each in inner)
    tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
    return tags


def _are_trees(learners: list[Any]) -> bool:
    """Return whether ``fit`` of all takes ``check_input``, as that of scikit-learn's trees does."""
    return all(has_fit_parameter(learner, "check_input") for learner in learners)


def input_for(X: Any, learners: list[Any]) -> LearnerInput:
    """Return the rows in the form in which the learners are quickest."""
    if not sparse.issparse(X) and _are_trees(learners):
        # Trees read columns: column order is a few per cent quicker to fit, and no slower to ask.
        converted = np.asfortranarray(X, dtype=np.float32)
        if np.isfinite(converted.sum(dtype=np.float64)) and np.isfinite(converted).all():
            return LearnerInput(converted, trusted=True)
    return LearnerInput(X, trusted=False)


def check_features(estimator: Any, X: Any, learners: list[Any], *, reset: bool) -> Any:
    """Return ``X`` checked; a data frame stays one unless all learners are trees."""
    plain = _are_trees(learners)
    if is_frame(X) and not plain:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    missing = all(get_tags(learner).input_tags.allow_nan for learner in learners)
    rules = {"accept_sparse": ["csr", "csc"], "dtype": "numeric" if plain else None}
    finite = "allow-nan" if missing else True
    return validate_data(estimator, X, reset=reset, ensure_all_finite=finite, **rules)


def check_targets(estimator: Any, X: Any, y: Any, *, classes: bool) -> Array:
    """Return ``y`` as a checked one-dimensional array."""
    if y is None:
        must, got = "be given (fit requires y to be passed, but the target y is None)", None
        raise invalid_data(type(estimator).__name__, "y", must=must, got=got, fix="Call fit(X, y).")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if classes:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)
    y = np.asarray(y, dtype=np.float64)
    assert_all_finite(y, input_name="y")
    return y


def weight_keyword(learner: Any) -> str | None:
    """Return the keyword under which ``fit`` takes weights, None if it takes none."""
    if isinstance(learner, Pipeline) and get_config()["enable_metadata_routing"]:
        return "sample_weight"  # the steps' own requests say where it goes
    return weight_argument(learner)


def require_weights(owner: str, learner: Any, why: str, fix: str) -> None:
    """Raise unless the learner can be weighted."""
    if weight_keyword(learner) is None:
        must = f"take sample_weight in fit {why}"
        raise unsupported(owner, "estimator", must=must, got=Plain(type(learner).__name__), fix=fix)


def require_task(owner: str, name: str, learner: Any, *, classes: bool) -> None:
    """Raise if the learner predicts numbers where classes are wanted, or the other way round."""
    wanted, other = ("classifier", "regressor") if classes else ("regressor", "classifier")
    if not hasattr(learner, "fit"):
        fix = "Use one of scikit-learn's."
        raise invalid_parameter(owner, name, must=f"be a {wanted}", got=learner, fix=fix)
    if (is_regressor if classes else is_classifier)(learner):
        got = Plain(f"the {other} {type(learner).__name__}")
        fix = f"Use the {wanted} of the same kind."
        raise unsupported(owner, name, must=f"be a {wanted}", got=got, fix=fix)


def seeded(learner: Any, seed: int) -> Any:
    """Return a clone whose unset ``random_state``, splitters' too, are filled from ``seed``."""
    copy = cloned(learner)
    values = copy.get_params()
    if unset := sorted(unset_states(values)):
        drawn = np.random.default_rng(seed).integers(2**31 - 1, size=len(unset))
        copy.set_params(**{name: int(number) for name, number in zip(unset, drawn, strict=True)})
    return copy.set_params(**seeded_splitters(values, seed))


def draw_columns(n_features: int, n_columns: int, rng: np.random.Generator) -> IntArray | None:
    """Return the sorted columns of a random subspace, drawn without replacement; None for all."""
    if n_columns >= n_features:
        return None
    return np.sort(rng.permutation(n_features)[:n_columns])


def fit_learner(learner: Any, table: LearnerInput, y: Array, weight: FloatArray | None) -> Any:
    """Fit the learner in place and return it."""
    extra: dict[str, Any] = {"check_input": False} if table.trusted else {}
    if weight is not None:
        keyword = weight_keyword(learner)
        if keyword is None:
            raise TypeError(f"{type(learner).__name__} takes no sample_weight")
        extra[keyword] = weight
    return learner.fit(table.X, y, **extra)


def ask(learner: Any, table: LearnerInput, method: str = "predict") -> Array:
    """Return what a method of the fitted learner says about the rows."""
    if not table.trusted:
        return np.asarray(getattr(learner, method)(table.X))
    # scikit-learn asks a tree without n_features_in_, as a forged model file may hold, for no
    # width at all, and would read beyond the rows.
    width = getattr(learner, "n_features_in_", None)
    if width != table.X.shape[1]:
        must, fix = f"have the columns that it was fitted on, {width}", "Give the columns of fit."
        raise invalid_data(type(learner).__name__, "X", must=must, got=table.X.shape[1], fix=fix)
    return np.asarray(getattr(learner, method)(table.X, check_input=False))
