"""Newton boosted trees on LightGBM: our parameters in its words, training, raw predictions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import lightgbm
import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.losses.classes import Logistic, Multinomial
from foldwise.losses.loss import Loss, total_loss
from foldwise.losses.numbers import (
    Absolute,
    Huber,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)

Words = dict[str, Any]


def objective_words(loss: Loss, y: FloatArray, weight: FloatArray) -> Words | None:
    """Return LightGBM's words for a loss, or None if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> objective_words(Quantile(0.9), np.ones(3), np.ones(3))
    {'objective': 'quantile', 'alpha': 0.9}
    """
    if isinstance(loss, Huber):
        start = np.full(len(y), float(loss.constant(y, weight)))
        fixed = loss if loss.threshold is not None else loss.adapted(y, start, weight)
        threshold = fixed.threshold if isinstance(fixed, Huber) else None
        return {"objective": "huber", "alpha": max(threshold or 0.0, 1e-12)}
    if isinstance(loss, Quantile) and not isinstance(loss, Absolute):
        return {"objective": "quantile", "alpha": loss.level}
    if isinstance(loss, Tweedie) and not isinstance(loss, Poisson):
        return {"objective": "tweedie", "tweedie_variance_power": loss.power}
    if isinstance(loss, Multinomial):
        return {"objective": "multiclass", "num_class": loss.n_classes}
    plain = {
        Squared: "regression",
        Absolute: "regression_l1",
        Poisson: "poisson",
        Logistic: "binary",
    }
    return {"objective": plain[type(loss)]} if type(loss) in plain else None


def tree_words(
    *,
    learning_rate: float,
    max_leaf_nodes: int,
    max_depth: int | None,
    gamma: float,
    reg_lambda: float,
    subsample: float,
    max_features: float,
    min_samples_leaf: int,
    min_hessian: float,
    max_bins: int,
) -> Words:
    """Return LightGBM's words for the parameters of the trees.

    LightGBM's gain lacks the ½ of ours, so that its smallest gain is 2γ.

    Examples
    --------
    >>> words = tree_words(learning_rate=0.1, max_leaf_nodes=31, max_depth=None, gamma=0.5,
    ...     reg_lambda=1.0, subsample=1.0, max_features=1.0, min_samples_leaf=20,
    ...     min_hessian=0.001, max_bins=255)
    >>> words["min_gain_to_split"]
    1.0
    """
    return {
        "learning_rate": learning_rate,
        "num_leaves": max_leaf_nodes,
        "max_depth": -1 if max_depth is None else max_depth,
        "min_gain_to_split": 2 * gamma,
        "lambda_l2": reg_lambda,
        "bagging_fraction": subsample,
        "bagging_freq": int(subsample < 1),
        "feature_fraction": max_features,
        "min_data_in_leaf": min_samples_leaf,
        "min_sum_hessian_in_leaf": min_hessian,
        "max_bin": max_bins,
    }


@dataclass(frozen=True)
class NewtonTrees:
    """A LightGBM model and what was measured while it was built."""

    booster: lightgbm.Booster  # the trees
    loss: Loss  # what was lowered
    offset: FloatArray  # what to add to the trees' sum: F⁰ where LightGBM does not add it itself
    rounds: int  # how many rounds count
    validation_loss: FloatArray | None  # lightGBM's metric on the rows set apart, after each round
    best_round: int  # rounds at its lowest point

    def first(self, rounds: int) -> Self:
        """Return the model of the first rounds."""
        text = self.booster.model_to_string(num_iteration=rounds)
        return replace(self, booster=lightgbm.Booster(model_str=text), rounds=rounds)

    def shifted(self, shift: float) -> Self:
        """Return the model whose predictions are higher by ``shift``."""
        return replace(self, offset=self.offset + shift)

    def raw(self, X: Any, n_threads: int) -> FloatArray:
        """Return F."""
        answer = self.booster.predict(X, raw_score=True, num_threads=n_threads)
        return np.asarray(answer) + self.offset

    def staged_raw(self, X: Any, n_threads: int) -> Iterator[FloatArray]:
        """Yield F after each round."""
        raw = np.asarray(self.offset)
        for m in range(self.rounds):
            raw = raw + self.booster.predict(
                X, start_iteration=m, num_iteration=1, raw_score=True, num_threads=n_threads
            )
            yield raw


@dataclass(frozen=True)
class Rows:
    """Training rows for LightGBM."""

    X: Any
    y: FloatArray
    weight: FloatArray
    given: bool

    def part(self, indices: IntArray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[indices], self.y[indices], self.weight[indices], self.given)


def train(
    words: Words,
    loss: Loss,
    rows: Rows,
    rounds: int,
    *,
    categorical: list[int],
    watch: Rows | None,
    patience: int,
    report: Callable[[int], None],
) -> NewtonTrees:
    """Return the boosted trees.

    ``loss``: What to lower; one LightGBM does not know is passed to it as gradient and Hessian
    (ones if it has no Hessian).
    """
    known = objective_words(loss, rows.y, rows.weight)
    offset = np.zeros(()) if known is not None else loss.constant(rows.y, rows.weight)
    words = words | (known or _own_objective(loss))
    data = _dataset(rows, offset, categorical, words)
    curve: dict[str, Any] = {}
    callbacks: list[Any] = [lambda env: report(env.iteration + 1)]
    extra: dict[str, Any] = {}
    if watch is not None:
        extra = {"valid_sets": [_dataset(watch, offset, categorical, words, like=data)]}
        extra |= {"feval": None if known is not None else _metric(loss)}
        callbacks += [
            lightgbm.record_evaluation(curve),
            lightgbm.early_stopping(patience, verbose=False),
        ]
    booster = lightgbm.train(words, data, rounds, callbacks=callbacks, **extra)
    losses = next(iter(curve["valid_0"].values())) if curve else None
    return NewtonTrees(
        booster,
        loss,
        np.asarray(offset, dtype=float),
        booster.current_iteration(),
        None if losses is None else np.array(losses),
        max(booster.best_iteration, 1),
    )


def _own_objective(loss: Loss) -> Words:
    def objective(raw: FloatArray, data: lightgbm.Dataset) -> tuple[FloatArray, FloatArray]:
        y, weight = np.asarray(data.get_label(), dtype=float), data.get_weight()
        hessian = loss.hessian(y, raw)
        hessian = np.ones_like(raw) if hessian is None else hessian
        scale = 1.0 if weight is None else np.asarray(weight, dtype=float)
        return scale * loss.gradient(y, raw), scale * hessian

    return {"objective": objective, "metric": "None"}


def _metric(loss: Loss) -> Callable[[FloatArray, lightgbm.Dataset], tuple[str, float, bool]]:
    def metric(raw: FloatArray, data: lightgbm.Dataset) -> tuple[str, float, bool]:
        y, weight = np.asarray(data.get_label(), dtype=float), data.get_weight()
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        return loss.name, total_loss(loss, y, raw, weight), False

    return metric


def _dataset(
    rows: Rows,
    offset: FloatArray,
    categorical: list[int],
    words: Words,
    like: lightgbm.Dataset | None = None,
) -> lightgbm.Dataset:
    start = np.full(len(rows.y), float(offset)) if np.any(offset) else None
    kept = {name: value for name, value in words.items() if not callable(value)}
    return lightgbm.Dataset(
        rows.X,
        label=rows.y,
        weight=rows.weight if rows.given else None,
        init_score=start,
        reference=like,
        categorical_feature=categorical,
        params=kept,
        free_raw_data=True,
    )
