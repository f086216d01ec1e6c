"""Newton boosted trees on LightGBM: tables and parameters in its words, training, predictions."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import lightgbm
import numpy as np
import pandas as pd

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_type, unknown_word
from foldwise.errors import Plain, invalid_parameter, listing
from foldwise.learners.in_parts import asked_alone, dataset_of
from foldwise.learners.one_learner import LearnerInput, WeightedRows, factors, is_frame
from foldwise.learners.watched import Patience
from foldwise.losses.classes import Logistic, Multinomial
from foldwise.losses.loss import Loss, total_loss
from foldwise.losses.numbers import Absolute, Huber, Poisson, Quantile, Squared, Tweedie

Words = dict[str, Any]
Categories = dict[int, Array]
# Trees that are asked about at once: so few stay in a processor's cache from row to row.
BLOCK = 256
CATEGORICAL = ("categor", "enum", "str", "utf8", "object")


def categorical_columns(owner: str, X: Any, wanted: Any) -> list[int]:
    """Return the positions of the columns to be treated as categories."""
    names = list(X.columns) if is_frame(X) else []
    if wanted is None:
        return []
    if isinstance(wanted, str) and wanted == "from_dtype":
        kinds = [str(take(X, i, axis=1).dtype).lower() for i in range(len(names))]
        return [i for i, kind in enumerate(kinds) if kind.startswith(CATEGORICAL)]
    must, fix = "be 'from_dtype', a list of columns, a mask or None", "Try 'from_dtype'."
    check_type(owner, "categorical_features", wanted, Iterable, must, fix)
    chosen = list(wanted)
    if len(chosen) == X.shape[1] and all(isinstance(c, bool | np.bool_) for c in chosen):
        return [int(i) for i in np.flatnonzero(chosen)]
    unknown = [c for c in chosen if isinstance(c, str) and c not in names]
    unknown += [c for c in chosen if not isinstance(c, str) and not 0 <= c < X.shape[1]]
    if unknown:
        got = listing(unknown)
        must, fix = "name columns of X", "Use names, positions, a mask or 'from_dtype'."
        raise invalid_parameter(owner, "categorical_features", must=must, got=got, fix=fix)
    return [names.index(c) if isinstance(c, str) else int(c) for c in chosen]


def learn_categories(X: Any, columns: list[int]) -> Categories:
    """Return the sorted values of each categorical column, missing ones left out."""
    return {i: _sorted(pd.factorize(_values(X, i))[1]) for i in columns}


def _sorted(values: Any) -> Array:
    try:
        return np.asarray(sorted(values))
    except TypeError:
        return np.asarray(sorted(values, key=str), dtype=object)


def _values(X: Any, i: int) -> Any:
    if not is_frame(X):
        return np.asarray(X)[:, i]
    column = X.iloc[:, i] if isinstance(X, pd.DataFrame) else take(X, i, axis=1)
    # A categorical of pandas knows its few levels: they need not be looked for in every row.
    few = isinstance(getattr(column, "dtype", None), pd.CategoricalDtype)
    return column if few else np.asarray(column)


def encode(owner: str, X: Any, categories: Categories) -> FloatArray:
    """Return the table as numbers: codes in the categorical columns, NaN for unseen values.

    Shapes: returns (n_samples, n_features).
    """
    table, plain = np.empty(X.shape, dtype=np.float64), list[int]()
    if isinstance(X, pd.DataFrame):
        # Column by column they would take as long as trees do.
        numbers = [isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes]
        plain = [i for i, number in enumerate(numbers) if number and i not in categories]
        table[:, plain] = X.iloc[:, plain].to_numpy(np.float64)
    for i in sorted(set(range(X.shape[1])).difference(plain)):
        values = _values(X, i)
        if i in categories:
            codes, distinct = factors(values)
            table[:, i] = np.append(_places(categories[i], np.asarray(distinct)), np.nan)[codes]
            continue
        try:
            table[:, i] = values
        except (TypeError, ValueError) as error:
            name = X.columns[i] if is_frame(X) else i
            raise invalid_parameter(
                owner,
                "categorical_features",
                must="name every column that is not of numbers",
                got=Plain(f"column {name!r} of {values.dtype} left out"),
                fix="Use 'from_dtype' or add it.",
            ) from error
    return table


def _places(known: Array, values: Array) -> FloatArray:
    """Return where values stand among those known, NaN for others."""
    if known.dtype.kind == "U":
        # As quick as can be for words, of which there are many columns.
        places = {word: place for place, word in enumerate(known.tolist())}
        return np.array([places.get(value, np.nan) for value in values.tolist()], np.float64)
    found = pd.Index(known).get_indexer(pd.Index(values))
    return np.where(found < 0, np.nan, found)


def _their_names() -> dict[str, list[str]]:
    """Return the aliases of each of LightGBM's parameters; this private table is the only list."""
    return lightgbm.basic._ConfigAliases._get_all_param_aliases()


def check_monotone(owner: str, words: Words, categorical: list[int]) -> None:
    """Raise if a constraint is on a column of categories: LightGBM ends the process over it."""
    names = _their_names()["monotone_constraints"]
    signs: Any = next((words[name] for name in names if name in words), [])
    if isinstance(signs, str):
        signs = [int(sign) for sign in signs.strip("()").split(",")]
    both = [column for column in categorical if column < len(signs) and signs[column]]
    if both:
        must = "be 0 for columns of categories, which have no order"
        got = Plain(f"a constraint on column {both[0]}")
        fix = "Leave it out, or take the column out of categorical_features."
        raise invalid_parameter(owner, "monotonic_cst", must=must, got=got, fix=fix)


def check_words(owner: str, words: Words) -> None:
    """Raise unless LightGBM knows the names of the parameters; it ignores those it does not."""
    must, fix = "be a dict of LightGBM's own parameters", "Try {'extra_trees': True}."
    check_type(owner, "lightgbm_params", words, Mapping, must, fix)
    known = {name for aliases in _their_names().values() for name in aliases}
    for name in words:
        if name not in known:
            must = "hold parameters that LightGBM knows"
            raise unknown_word(owner, "lightgbm_params", name, sorted(known), must)


_STDERR = threading.Lock()


def try_words(words: Words, n_features: int) -> None:
    """Let LightGBM read the parameters, on four rows of zeros, and raise its error in silence.

    It prints an error to the file behind standard error before it raises it, whatever the
    verbosity; for these few milliseconds that file is another.
    """
    with _STDERR, Path(os.devnull).open("w") as nowhere:
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            data = lightgbm.Dataset(np.zeros((4, n_features)), np.zeros(4), params=words)
            lightgbm.Booster(words, data)
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def objective_words(loss: Loss, y: FloatArray, weight: FloatArray) -> Words | None:
    """Return LightGBM's words for a loss, or None if it has none."""
    if isinstance(loss, Huber):
        start = np.full(len(y), float(loss.constant(y, weight)))
        threshold = loss.adapted(y, start, weight).threshold
        return {"objective": "huber", "alpha": max(threshold or 0.0, 1e-12)}
    if isinstance(loss, Quantile) and not isinstance(loss, Absolute):
        return {"objective": "quantile", "alpha": loss.level}
    if isinstance(loss, Tweedie) and not isinstance(loss, Poisson):
        return {"objective": "tweedie", "tweedie_variance_power": loss.power}
    if isinstance(loss, Multinomial):
        return {"objective": "multiclass", "num_class": loss.n_classes}
    numbers = {Squared: "regression", Absolute: "regression_l1", Poisson: "poisson"}
    plain = {**numbers, Logistic: "binary"}
    return {"objective": plain[type(loss)]} if type(loss) in plain else None


def tree_words(parameters: dict[str, Any]) -> Words:
    """Return LightGBM's words for our parameters of the trees.

    LightGBM's gain lacks the ½ of ours, so that its smallest gain is 2γ.
    """
    return {
        "learning_rate": parameters["learning_rate"],
        "num_leaves": parameters["max_leaf_nodes"],
        "lambda_l2": parameters["reg_lambda"],
        "bagging_fraction": parameters["subsample"],
        "feature_fraction": parameters["max_features"],
        "min_sum_hessian_in_leaf": parameters["min_hessian"],
        "max_bin": parameters["max_bins"],
        "max_depth": parameters["max_depth"] or -1,
        "min_gain_to_split": 2 * parameters["gamma"],
        "bagging_freq": int(parameters["subsample"] < 1),
    }


@dataclass(frozen=True)
class NewtonTrees:
    """A LightGBM model and what was measured while it was built."""

    booster: lightgbm.Booster  # the trees
    offset: FloatArray  # what to add to the trees' sum: F⁰ where LightGBM does not add it itself
    rounds: int  # how many rounds count
    validation_loss: FloatArray | None  # lightGBM's metric on the rows set apart, after each round
    best_rounds: tuple[int, ...]  # rounds at its lowest point, for each part that was watched
    n_threads: int  # of predictions
    told: FloatArray | None = None  # F of the only rows that are asked about

    @property
    def best_round(self) -> int:
        """Rounds at the lowest validation loss."""
        return self.best_rounds[0]

    def first(self, rounds: int) -> Self:
        """Return the model of the first rounds."""
        text = self.booster.model_to_string(num_iteration=rounds)
        return replace(self, booster=lightgbm.Booster(model_str=text), rounds=rounds)

    def _sums(self, table: LearnerInput, **which: int) -> FloatArray:
        with asked_alone(self.booster):
            threads = self.n_threads
            answer = self.booster.predict(table.X, raw_score=True, num_threads=threads, **which)
        return np.asarray(answer)

    @property
    def _block(self) -> int:
        """Rounds that are asked about at once."""
        return max(1, BLOCK // self.booster.num_model_per_iteration())

    def raw(self, table: LearnerInput) -> FloatArray:
        """Return F."""
        if self.told is not None:
            return self.told
        return self.firsts([self.rounds], table)[self.rounds].raw(table)

    def firsts(self, rounds: Iterable[int], table: LearnerInput) -> dict[int, Self]:
        """Return models of the first rounds that can be asked about these rows only.

        Every tree is asked about once for most of them, in blocks: so that no answer depends, to
        the last bit, on which other models there are.
        """
        raw, whole, block = np.asarray(self.offset), 0, self._block
        found = dict[int, Self]()
        for last in sorted(set(rounds)):
            while whole + block <= last:
                raw = raw + self._sums(table, start_iteration=whole, num_iteration=block)
                whole += block
            told = raw
            if last > whole:
                told = raw + self._sums(table, start_iteration=whole, num_iteration=last - whole)
            found[last] = replace(self, told=told, rounds=last)
        return found

    def staged_raw(self, table: LearnerInput) -> Iterator[FloatArray]:
        """Yield F after each round."""
        raw = np.asarray(self.offset)
        for m in range(self.rounds):
            raw = raw + self._sums(table, start_iteration=m, num_iteration=1)
            yield raw


def train(
    words: Words,
    loss: Loss,
    rows: WeightedRows,
    watch: WeightedRows | Sequence[WeightedRows] | None,
    rounds: int,
    report: Callable[[int], None],
    *,
    categorical: list[int],
    patience: int,
    seconds: float | None = None,
    start: FloatArray | None = None,
) -> NewtonTrees:
    """Return the boosted trees, of fewer rounds where their time is up.

    ``loss``: What to lower; one LightGBM does not know is passed to it as gradient and Hessian
    (ones if it has no Hessian). ``watch``: Rows on which it is looked at, in one part or several;
    boosting ends once it has stopped falling on each of them. ``start``: F⁰ of each row, for a loss
    that LightGBM knows and nothing watched; the trees then add to it.
    """
    known = objective_words(loss, rows.y, rows.weight)
    offset = np.zeros(()) if known is not None else loss.constant(rows.y, rows.weight)
    words = words | (known or _own_objective(loss))
    data = _dataset(rows, offset, categorical, words, start=start)
    parts = [watch] if isinstance(watch, WeightedRows) else list(watch or ())
    watched: dict[str, Any] = {}
    if parts:
        apart = [_dataset(part, offset, categorical, words, data) for part in parts]
        watched = {"valid_sets": apart, "feval": None if known is not None else _metric(loss)}
    end = math.inf if seconds is None else time.monotonic() + seconds
    watching = _Watching([Patience(patience) for _ in parts], end)
    callbacks = [lambda env: report(env.iteration + 1), watching]
    booster = lightgbm.train(words, data, rounds, callbacks=callbacks, **watched)
    offset, reached = np.asarray(offset, dtype=float), booster.current_iteration()
    losses = np.array(watching.losses) if parts else None
    best = tuple(max(waiting.best_round, 1) for waiting in watching.waiting) or (1,)
    return NewtonTrees(booster, offset, reached, losses, best, words["num_threads"])


@dataclass(frozen=True, eq=False)
class _Watching:
    """Ends boosting when time is up, or the loss has stopped falling on every part set apart.

    What is found on one part is then what would be found on it alone; LightGBM's own way ends with
    the first of them.
    """

    waiting: list[Patience]
    end: float  # the point in time
    losses: list[float] = field(default_factory=list)  # on the first part
    order: int = 20  # among LightGBM's callbacks

    def __call__(self, env: Any) -> None:
        over = bool(self.waiting) and self._note_losses(env)
        if over or time.monotonic() > self.end:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    def _note_losses(self, env: Any) -> bool:
        """Note the losses of a round; tell whether they have stopped falling on every part."""
        # By the first metric: there may be several where the user asked for them.
        first: dict[str, tuple[float, float]] = {}
        for part, _, value, higher_is_better, *_ in env.evaluation_result_list:
            first.setdefault(part, (value, -value if higher_is_better else value))
        if not first:
            raise lightgbm.basic.LightGBMError("to stop early, a metric is needed")
        self.losses.append(next(iter(first.values()))[0])
        lost = (loss for _, loss in first.values())
        over = [each.exhausted(loss) for each, loss in zip(self.waiting, lost, strict=True)]
        return all(over)


def _labels(data: lightgbm.Dataset) -> tuple[FloatArray, FloatArray]:
    y, weight = np.asarray(data.get_label(), dtype=float), data.get_weight()
    return y, np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)


def _own_objective(loss: Loss) -> Words:
    def objective(raw: FloatArray, data: lightgbm.Dataset) -> tuple[FloatArray, FloatArray]:
        y, weight = _labels(data)
        hessian = loss.hessian(y, raw)
        hessian = np.ones_like(raw) if hessian is None else hessian
        return weight * loss.gradient(y, raw), weight * hessian

    return {"objective": objective, "metric": "None"}


def _metric(loss: Loss) -> Callable[[FloatArray, lightgbm.Dataset], tuple[str, float, bool]]:
    def metric(raw: FloatArray, data: lightgbm.Dataset) -> tuple[str, float, bool]:
        y, weight = _labels(data)
        return loss.name, total_loss(loss, y, raw, weight), False

    return metric


def _dataset(
    rows: WeightedRows,
    offset: FloatArray,
    categorical: list[int],
    words: Words,
    like: lightgbm.Dataset | None = None,
    start: FloatArray | None = None,
) -> lightgbm.Dataset:
    start = np.full(len(rows.y), float(offset)) if np.any(offset) else start
    kept = {name: value for name, value in words.items() if not callable(value)}
    weight = rows.weight if rows.given else None
    given: dict[str, Any] = {"label": rows.y, "weight": weight, "init_score": start}
    given |= {"categorical_feature": categorical, "params": kept}
    return dataset_of(rows.table.X, reference=like, **given)
