"""What is to be solved: the data, and layers of checked learners."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier

from foldwise._sklearn import take
from foldwise.arrays import Array, IntArray
from foldwise.checks import check_word
from foldwise.errors import Plain, invalid_parameter, listing, unsupported
from foldwise.learners import TrainingData, take_rows, weight_argument
from foldwise.scores.metric import Target

TITLES = ("stack", "best single", "plain mean")
METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class Entry:
    """One learner of a stack."""

    name: str  # unique in the stack
    learner: Any  # never changed
    columns: Any  # the columns it sees; None for all
    method: str  # what it is asked for
    kind: str  # what its response means


@dataclass(frozen=True)
class StackProblem:
    """The data of a stack."""

    data: TrainingData  # features, targets, weights, groups
    labels: Array | None = None  # the classes behind the codes; None for regression
    passthrough: Any = None  # none, or the columns that go past the learners (a full slice for all)
    # targets and groups as the user gave them, for splitters of the user's
    given: tuple[Any, Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.data.y)

    @property
    def amount(self) -> float:
        """How many rows the weighted data amount to: an integer weight repeats its row."""
        weight = self.data.sample_weight
        if weight is None:
            return float(self.n_rows)
        return float(max(weight.sum(), np.count_nonzero(weight)))

    def extra(self, X: Any) -> Any:
        """Return the columns of X that go past the learners."""
        if self.passthrough is None:
            return None
        return as_pandas(
            X if isinstance(self.passthrough, slice) else take(X, self.passthrough, axis=1)
        )

    @property
    def passes_numbers_only(self) -> bool:
        """Whether a linear stacker can read what is passed through."""
        if self.passthrough is None:
            return True
        extra = self.extra(take_rows(self.data.X, np.arange(1)))
        if isinstance(extra, pd.DataFrame):
            return all(pd.api.types.is_numeric_dtype(kind) for kind in extra.dtypes)
        return not sparse.issparse(extra) and extra.dtype.kind in "biuf"

    def target(self, rows: IntArray, fold: IntArray) -> Target:
        """Return what predictions of some rows are compared with."""
        weight = self.data.sample_weight
        return Target(
            self.data.y[rows],
            self.labels,
            None if weight is None else weight[rows],
            fold,
            None if self.data.groups is None else self.data.groups[rows],
        )


def as_pandas(X: Any) -> Any:
    """Return a data frame of another make as a pandas one; anything else as it is."""
    if hasattr(X, "columns") and not isinstance(X, pd.DataFrame):
        return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
    return X


def as_layers(estimators: Any) -> list[list[tuple[Any, ...]]]:
    """Return the `estimators` argument as a list of layers, unchecked.

    Examples
    --------
    >>> as_layers([("a", 1), ("b", 2)])
    [[('a', 1), ('b', 2)]]
    >>> as_layers([[("a", 1)], [("b", 2)]])
    [[('a', 1)], [('b', 2)]]
    """
    if not isinstance(estimators, Iterable) or isinstance(estimators, str | dict):
        return []
    items = list(estimators)
    if items and all(isinstance(item, list) and not _is_entry(item) for item in items):
        return [[_as_tuple(entry) for entry in layer] for layer in items]
    return [[_as_tuple(entry) for entry in items]] if items else []


def _as_tuple(entry: Any) -> tuple[Any, ...]:
    return tuple(entry) if isinstance(entry, list | tuple) else (entry,)


def _is_entry(item: Any) -> bool:
    return len(item) in (2, 3) and isinstance(item[0], str)


def _wrong(owner: str, must: str, got: Any, fix: str = "Rename it.") -> Exception:
    return invalid_parameter(owner, "estimators", must=must, got=got, fix=fix)


def checked_layers(
    owner: str,
    estimators: Any,
    *,
    classify: bool,
    stack_method: str,
    weighted: bool,
    reserved: Iterable[str],
) -> list[list[Entry]]:
    """Return layers of entries, after checking names, learners and abilities."""
    layers = as_layers(estimators)
    if not any(layers):
        must = (
            "be a non-empty list of (name, learner) tuples (Invalid 'estimators' attribute, "
            "'estimators' should be a non-empty list)"
        )
        fix = "Give at least one learner, e.g. [('ridge', Ridge())]."
        raise _wrong(owner, must, estimators, fix)
    _check_names(owner, [entry for layer in layers for entry in layer], set(reserved))
    check_word(owner, "stack_method", stack_method, ("auto", *METHODS))
    wanted = stack_method if classify else "predict"
    read = [
        [
            _entry(owner, item, classify, wanted, weighted)
            for item in layer
            if not (isinstance(item[1], str) and item[1] == "drop")
        ]
        for layer in layers
    ]
    if not all(read):
        must = (
            "keep at least one learner in every layer: at least one estimator is required "
            "and not all may be dropped"
        )
        raise _wrong(owner, must, Plain("all estimators are dropped"), "Remove a 'drop'.")
    above = [entry.name for layer in read[1:] for entry in layer if entry.columns is not None]
    if above:
        fix = "Upper layers read the layer below; leave the columns out."
        raise _wrong(owner, "name columns in the first layer only", listing(above), fix)
    return read


def _check_names(owner: str, entries: list[tuple[Any, ...]], reserved: set[str]) -> None:
    for entry in entries:
        if not _is_entry(entry):
            must = "hold (name, learner) or (name, learner, columns) tuples"
            raise _wrong(owner, must, entry, "Give each learner a name, e.g. ('ridge', Ridge()).")
    names = [entry[0] for entry in entries]
    for name in names:
        if not name or "__" in name:
            raise _wrong(owner, "have names that are not empty and hold no double underscore", name)
        if name in TITLES:
            own = listing(TITLES)
            raise _wrong(owner, f"have names other than the leaderboard's own ({own})", name)
        if name in reserved:
            must = (
                "have names that are no parameters of the stack (estimator names conflict "
                "with constructor arguments)"
            )
            raise _wrong(owner, must, name)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        got = Plain(f"{twice[0]!r} {'twice' if names.count(twice[0]) == 2 else 'repeatedly'}")
        raise _wrong(owner, "have unique names", got, "Rename one of them.")


def _entry(owner: str, item: tuple[Any, ...], classify: bool, wanted: str, weighted: bool) -> Entry:
    name, learner = item[:2]
    is_learner = hasattr(learner, "fit") and not isinstance(learner, type)
    if weighted and is_learner and weight_argument(learner) is None:
        kind = type(learner).__name__
        got = Plain(f"{name!r}: underlying estimator {kind} does not support sample weights")
        fix = "Replace that learner, or fit without sample_weight."
        raise unsupported(owner, "sample_weight", must="reach every learner", got=got, fix=fix)
    if not is_learner or not hasattr(learner, "predict"):
        fix = "Give an instance of a scikit-learn estimator."
        raise _wrong(
            owner, "be learners with fit and predict", Plain(f"{learner!r} as {name!r}"), fix
        )
    classifies = is_classifier(learner)
    if classifies and not classify:
        must = "be regressors: each estimator should be a regressor"
        got = Plain(f"the classifier {learner!r} as {name!r}")
        raise _wrong(owner, must, got, "Use StackingClassifier, or a regressor.")
    methods = METHODS if wanted == "auto" else (wanted,)
    method = next((method for method in methods if hasattr(learner, method)), None)
    if method is None:
        got = Plain(f"{wanted!r}, but estimator {name} does not implement the method {wanted}")
        must, fix = "be a method of every learner", "Use stack_method='auto'."
        raise invalid_parameter(owner, "stack_method", must=must, got=got, fix=fix)
    kinds = {"predict_proba": "probability", "decision_function": "decision"}
    kind = kinds.get(method, "label" if classifies else "value")
    return Entry(name, learner, item[2] if len(item) == 3 else None, method, kind)
