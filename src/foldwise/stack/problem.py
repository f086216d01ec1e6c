"""What is to be solved: the data, and layers of checked learners."""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from foldwise._sklearn import take
from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import as_counts, check_two_classes, check_type, check_word
from foldwise.errors import (
    Plain,
    did_you_mean,
    invalid_data,
    invalid_parameter,
    listing,
    unsupported,
)
from foldwise.learners import TrainingData, take_rows, weight_argument
from foldwise.scores.metric import Target


def checked_table(owner: str, X: Any, fewest: int = 1) -> Any:
    """Return X as something rows can be taken from; frames stay as they are."""
    if sparse.issparse(X):
        return X.tocsr()
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    table = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=fewest)
    if table.dtype == object:
        kinds = {type(value) for value in table.ravel()}
        nested = kinds & {dict, list, tuple, set}
        if nested:
            must = "hold numbers or strings (each argument must be a string or a number)"
            got, fix = Plain(f"a {nested.pop().__name__}"), "Spread it over columns of its own."
            raise unsupported(owner, "X", must=must, got=got, fix=fix)
    return table


def _bad_target(owner: str, must: str, got: str, fix: str = "Drop these rows.") -> Exception:
    return invalid_data(owner, "y", must=must, got=Plain(got), fix=fix)


def checked_values(owner: str, y: Any) -> FloatArray:
    """Return regression targets, of one dimension or (n_samples, n_targets)."""
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        got = f"{values.dtype} values such as {values.ravel()[0]!r}"
        fix = "Use StackingClassifier for classes."
        raise _bad_target(owner, "be numbers", got, fix) from error
    bad = int((~np.isfinite(values)).sum())
    if bad:
        must = "hold no NaN or infinity (y contains NaN or inf)"
        raise _bad_target(owner, must, f"{bad} such value{'s' if bad > 1 else ''}")
    return values


def checked_classes(owner: str, y: Any) -> tuple[IntArray, Array]:
    """Return class codes and the classes behind them."""
    array = np.asarray(y)
    if array.ndim > 1 and array.shape[1] > 1:
        must = "hold one class a row; several labels a row (multilabel) are not supported yet"
        raise _bad_target(owner, must, f"shape {array.shape}", "Fit one stack a label.")
    values = column_or_1d(array, warn=True)
    infinite = int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
    if infinite:
        must = "hold classes, not infinity (y contains inf)"
        raise _bad_target(owner, must, f"{infinite} infinite")
    missing = int(pd.isna(values).sum())
    if missing:
        must = "hold no missing class (y contains NaN)"
        raise _bad_target(owner, must, f"{missing} missing")
    check_classification_targets(values)
    labels, codes = np.unique(values, return_inverse=True)
    check_two_classes(owner, labels)
    return codes.astype(np.intp), labels


def plain(label: Any) -> Any:
    """Return a label as a Python object, for messages."""
    return label.item() if isinstance(label, np.generic) else label


def passed_columns(owner: str, passthrough: Any, X: Any, learners: Iterable[str] = ()) -> Any:
    """Return None, a full slice for all columns, or the names or numbers of some."""
    if passthrough is False or passthrough is None:
        return None

    def wrong(must: str, got: Iterable[Any], fix: str) -> Exception:
        return invalid_parameter(owner, "passthrough", must=must, got=listing(got), fix=fix)

    known, width = [str(name) for name in getattr(X, "columns", [])], X.shape[1]
    if not isinstance(passthrough, str | bool):
        must, fix = "be a bool or a list of columns", "Try True."
        check_type(owner, "passthrough", passthrough, Iterable, must, fix)
    wanted: list[Any] = [passthrough] if isinstance(passthrough, str | bool) else [*passthrough]
    named = hasattr(X, "columns") and all(isinstance(name, str) for name in wanted)
    if passthrough is True or named:
        columns = known if passthrough is True else wanted
        both = [c for c in columns if any(c == n or c.startswith(f"{n}__") for n in learners)]
        unknown = [name for name in columns if name not in known]
        if both:
            raise wrong("hold no column named like a learner", both, "Rename the learner.")
        if unknown:
            raise wrong("name columns of X", unknown, did_you_mean(unknown[0], known))
        return slice(None) if passthrough is True else wanted
    whole = [isinstance(c, numbers.Integral) and -width <= c < width for c in wanted]
    if not all(whole):
        beyond = [c for c, inside in zip(wanted, whole, strict=True) if not inside]
        fix = "Use column names of a DataFrame, or column numbers."
        raise wrong(f"be a bool or columns of X, which has {width}", beyond, fix)
    return [int(column) for column in wanted]


def check_columns(owner: str, name: str, columns: Any, X: Any) -> None:
    """Raise unless a learner's columns are in X."""
    try:
        take(X[:1] if isinstance(X, np.ndarray) else X, columns, axis=1)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        known = [str(c) for c in X.columns] if hasattr(X, "columns") else []
        wanted = columns if isinstance(columns, list) else [columns]
        unknown = [c for c in wanted if c not in known]
        fix = f"X has columns 0 to {X.shape[1] - 1}."
        if known and unknown:
            fix = did_you_mean(unknown[0], known)
        must = f"name columns of X for {name!r}"
        raise invalid_parameter(owner, "estimators", must=must, got=columns, fix=fix) from error


def numbers_of(encoder: Any, X: Any) -> FloatArray:
    """Return rows as numbers, of shape (n_samples, n_columns)."""
    return np.asarray(encoder.transform(X), dtype=np.float64)


TITLES = ("stack", "best single", "plain mean")
METHODS = ("predict_proba", "decision_function", "predict")
# Of fewer rows trees find nothing that weights do not; more, or more cells, are held too long.
FURTHER_ROWS, FURTHER_CELLS = (500, 100_000), 5_000_000
# From here on, what is held counts more than a moment.
LARGE_ROWS = 100_000


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
    # which of the rows given to fit these are, where some had no weight; None for all
    kept: BoolArray | None = None
    # fitted, what makes numbers of rows where boosting may go on from the stacker, and its numbers
    encoder: Any = None
    numbers: FloatArray | None = None

    @property
    def reads_rows(self) -> bool:
        """Whether what stands on top may read the rows themselves."""
        return self.passthrough is not None or self.encoder is not None

    def with_rows(self, X: Any) -> "StackProblem":
        """Return the problem with other training rows, or None for none."""
        data = replace(self.data, X=X)
        numbers = None if X is None or self.encoder is None else numbers_of(self.encoder, X)
        return replace(self, data=data, given=None, numbers=numbers)

    def encoded(self, encoder: Any) -> "StackProblem":
        """Return the problem for whose stacker boosting may go on, if that may pay."""
        few, many = FURTHER_ROWS
        several = self.data.y.ndim > 1
        if encoder is None or several or not few <= self.n_rows <= many:
            return self
        # Without the targets: what it makes of a row is read by what judges that row, too.
        encoder = clone(encoder).fit(self.data.X)
        numbers = numbers_of(encoder, self.data.X)
        if numbers.size > FURTHER_CELLS:
            return self
        return replace(self, encoder=encoder, numbers=numbers)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.data.y)

    @property
    def is_large(self) -> bool:
        """Whether a number a row is much memory."""
        return self.n_rows >= LARGE_ROWS

    @property
    def amount(self) -> float:
        """How many rows the weighted data amount to: an integer weight repeats its row."""
        return float(self.n_rows if self.counts is None else self.counts.sum())

    @property
    def counts(self) -> FloatArray | None:
        """How often each row counts, None for once: what our stackers and metrics are told."""
        weight = self.data.sample_weight
        return None if weight is None else as_counts(weight)

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
        weight = self.counts
        return Target(
            self.data.y[rows],
            self.labels,
            None if weight is None else weight[rows],
            fold,
            None if self.data.groups is None else self.data.groups[rows],
            self.data.X,
            rows,
        )


def as_pandas(X: Any) -> Any:
    """Return a data frame of another make as a pandas one; anything else as it is."""
    if hasattr(X, "columns") and not isinstance(X, pd.DataFrame):
        return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
    return X


def as_layers(estimators: Any) -> list[list[tuple[Any, ...]]]:
    """Return the `estimators` argument as a list of layers, unchecked."""
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
