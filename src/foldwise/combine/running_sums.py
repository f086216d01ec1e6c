"""Running sums of the selected models: what one more model would make of the loss.

Greedy selection asks at every step for the loss of the mean of the selected models and one more.
Each class here answers from sums it keeps, without forming that mean for every model.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import row_shares
from foldwise.combine.shapes import one_column_a_model, truth_probabilities

# So that what is computed from them stays in the processor's cache.
ROWS_AT_ONCE = 2048


class Sums(Protocol):
    """What greedy selection needs to know of a loss."""

    n_models: int

    def additions(self, allowed: BoolArray) -> FloatArray:
        """Return the loss with each allowed model added; inf where it cannot be the least."""

    def add(self, model: int) -> None:
        """Add a model to the selected ones."""

    def among(self, models: IntArray) -> "Sums":
        """Return fresh sums over some of the models only."""


class SquaredSums:
    """Squared error from the mean products of the models' errors: O(n_models) a step.

    Shapes: ``gram`` (n_models, n_models).
    """

    def __init__(self, gram: FloatArray) -> None:
        self.gram = gram
        self.n_models = len(gram)
        self._cross = np.zeros(len(gram))
        self._square, self._count = 0.0, 0

    @classmethod
    def of(
        cls, predictions: FloatArray, y: Array, sample_weight: FloatArray | None = None
    ) -> "SquaredSums":
        """Return the sums of predictions, of shape (n, n_models) or (n, n_models, width)."""
        columns, target, shares = one_column_a_model(predictions, y, sample_weight)
        gram = np.zeros((columns.shape[1], columns.shape[1]))
        for start in range(0, len(columns), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            errors = columns[rows] - target[rows, None]
            errors *= np.sqrt(shares[rows])[:, None]
            gram += errors.T @ errors
        return cls(gram)

    def additions(self, allowed: BoolArray) -> FloatArray:
        """Return the mean squared error with each model added."""
        losses = self._square + 2 * self._cross + np.diagonal(self.gram)
        return np.where(allowed, losses / (self._count + 1) ** 2, np.inf)

    def add(self, model: int) -> None:
        """Add a model to the selected ones."""
        self._square += 2 * self._cross[model] + self.gram[model, model]
        self._cross += self.gram[model]
        self._count += 1

    def among(self, models: IntArray) -> "SquaredSums":
        """Return fresh sums over some of the models only."""
        return SquaredSums(self.gram[np.ix_(models, models)])


class LogSums:
    """Log-loss from the running sum of the probabilities of the truth.

    Concavity of the logarithm bounds the loss of each addition from below by one
    matrix-vector product; only models whose bound is below the least loss found are looked at.

    ``truth``: Each model's probability of what came true. Shape (n_models, n_samples).
    """

    def __init__(self, truth: FloatArray, shares: FloatArray) -> None:
        self.truth, self.shares = truth, shares
        self.n_models = len(truth)
        self._total = np.zeros(truth.shape[1])
        self._count, self._loss = 0, np.inf
        self._room = np.empty(truth.shape[1])
        self._alike = bool(np.ptp(shares) == 0)

    @classmethod
    def of(
        cls, probabilities: FloatArray, y: Array, sample_weight: FloatArray | None = None
    ) -> "LogSums":
        """Return the sums of probabilities, of shape (n, n_models) or (n, n_models, width)."""
        n, n_models = probabilities.shape[:2]
        codes = np.asarray(y)
        truth = np.empty((n_models, n))
        for start in range(0, n, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            truth[:, rows] = truth_probabilities(probabilities[rows], codes[rows]).T
        return cls(truth, row_shares(n, sample_weight))

    def additions(self, allowed: BoolArray) -> FloatArray:
        """Return the log-loss with each model added, inf for models that cannot win."""
        losses = np.full(self.n_models, np.inf)
        if not self._count:
            for model in np.flatnonzero(allowed).tolist():
                losses[model] = self._loss_with(model)
            return losses
        bounds = np.where(allowed, self._bounds(), np.inf)
        best = np.inf
        for model in np.argsort(bounds, kind="stable").tolist():
            if bounds[model] > best + 1e-9:
                break
            losses[model] = self._loss_with(model)
            best = min(best, losses[model])
        return losses

    def _bounds(self) -> FloatArray:
        # Jensen: the mean of log(1 + p / total) is at most the log of the mean.
        gains = self.truth @ (self.shares / self._total)
        return np.asarray(self._loss + np.log1p(1 / self._count) - np.log1p(gains))

    def _loss_with(self, model: int) -> float:
        np.add(self._total, self.truth[model], out=self._room)
        if self._alike:
            return float(np.log(self._count + 1) - _sum_of_logs(self._room) * self.shares[0])
        np.log(self._room, out=self._room)
        return float(np.log(self._count + 1) - self.shares @ self._room)

    def add(self, model: int) -> None:
        """Add a model to the selected ones."""
        self._loss = self._loss_with(model)
        self._total += self.truth[model]
        self._count += 1

    def among(self, models: IntArray) -> "LogSums":
        """Return fresh sums over some of the models only."""
        return LogSums(self.truth[models], self.shares)


def _sum_of_logs(values: FloatArray) -> float:
    """Return the sum of logarithms, from products of eight: a logarithm costs far more.

    Eight numbers between the machine's epsilon and a million neither under- nor overflow.
    """
    whole = len(values) - len(values) % 8
    products = np.multiply.reduce(values[:whole].reshape(8, -1), axis=0)
    return float(np.log(products).sum() + np.log(values[whole:]).sum())


class AnySums:
    """Any loss of the mean prediction, asked for every model at every step; NaN never wins.

    Shapes: ``predictions`` (n_samples, n_models) or (n_samples, n_models, width).
    """

    def __init__(self, predictions: FloatArray, loss: Callable[[FloatArray], float]) -> None:
        self.predictions, self.loss = predictions, loss
        self.n_models = predictions.shape[1]
        self._total = np.zeros_like(predictions[:, 0])
        self._count = 0

    def additions(self, allowed: BoolArray) -> FloatArray:
        """Return the loss with each model added."""
        losses = np.full(self.n_models, np.inf)
        for model in np.flatnonzero(allowed):
            mean = (self._total + self.predictions[:, model]) / (self._count + 1)
            found = float(self.loss(mean))
            losses[model] = np.inf if np.isnan(found) else found
        return losses

    def add(self, model: int) -> None:
        """Add a model to the selected ones."""
        self._total = self._total + self.predictions[:, model]
        self._count += 1

    def among(self, models: IntArray) -> "AnySums":
        """Return fresh sums over some of the models only."""
        return AnySums(self.predictions[:, models], self.loss)
