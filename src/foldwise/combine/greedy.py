"""Multistep greedy selection: add the model that helps the mean most, again and again.

Every step asks for the loss of the mean of the selected models and one more. Running sums, one
class a loss, answer from what they keep, without forming that mean for every model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.combine.shapes import one_column_a_model, row_shares, truth_probabilities

# So that what is computed from them stays in the processor's cache.
ROWS_AT_ONCE = 2048
TOLERANCE = 1e-12


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
    """Squared error from the Gram matrix of the models' errors: O(n_models) a step.

    ``gram``: Mean products of the models' errors. Shape (n_models, n_models).
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
    """Any loss of the mean prediction, asked for every model at every step.

    ``predictions``: Predictions. Shape (n_samples, n_models) or (n_samples, n_models, width).

    ``loss``: Maps a combined prediction to a number to be made small; NaN never wins.
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


@dataclass(frozen=True)
class Selection:
    """The models in the order in which they were added.

    Attributes
    ----------
    order : ndarray of int
        The added models; with repetition one may stand here several times.
    losses : ndarray of float
        The loss of the mean after each step.
    n_models : int
        Number of models to choose from.
    """

    order: IntArray
    losses: FloatArray
    n_models: int

    def n_best(self, n_steps: int | None = None) -> int:
        """Return after how many of the first steps the loss is least; the fewest if tied."""
        losses = self.losses[:n_steps]
        least = losses.min()
        return int(np.flatnonzero(losses <= least + TOLERANCE * abs(least))[0]) + 1

    def weights(self, n_steps: int | None = None, shrinkage: float = 0.0) -> FloatArray:
        """Return the weights of the best prefix.

        Parameters
        ----------
        n_steps : int or None
            Only the first steps count; None for all.
        shrinkage : float, default=0.0
            Share of the plain mean of all models, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_models,)
            Weights >= 0 that sum to one.
        """
        picked = self.order[: self.n_best(n_steps)]
        counts = np.bincount(picked, minlength=self.n_models)
        return (1 - shrinkage) * counts / len(picked) + shrinkage / self.n_models


@dataclass(frozen=True)
class BaggedSelection:
    """Selections from random parts of the models (Caruana's bagging).

    Attributes
    ----------
    bags : tuple of Selection
        One a part.
    models : tuple of ndarray of int
        The models of each part.
    n_models : int
        Number of all models.
    """

    bags: tuple[Selection, ...]
    models: tuple[IntArray, ...]
    n_models: int

    def weights(self, n_steps: int | None = None, shrinkage: float = 0.0) -> FloatArray:
        """Return the mean over bags; the arguments are those of :meth:`Selection.weights`."""
        total = np.zeros(self.n_models)
        for bag, models in zip(self.bags, self.models, strict=True):
            total[models] += bag.weights(n_steps)
        return (1 - shrinkage) * total / len(self.bags) + shrinkage / self.n_models


def running_sums(
    predictions: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    loss: str | Callable[[FloatArray], float] = "squared",
) -> Sums:
    """Return the running sums that suit a loss.

    Parameters
    ----------
    predictions, y, sample_weight, loss
        As in :func:`greedy_selection`.

    Returns
    -------
    SquaredSums, LogSums or AnySums
        With nothing selected yet.

    Examples
    --------
    >>> import numpy as np
    >>> sums = running_sums(np.array([[1.0, 3.0]]), np.array([2.0]))
    >>> sums.add(0)
    >>> sums.additions(np.array([True, True]))
    array([1., 0.])
    """
    if callable(loss):
        return AnySums(predictions, loss)
    check_word("greedy_selection", "loss", loss, ["squared", "log"], also="a function")
    kind = LogSums if loss == "log" else SquaredSums
    return kind.of(predictions, y, sample_weight)


def greedy_selection(
    predictions: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    *,
    loss: str | Callable[[FloatArray], float] = "squared",
    n_steps: int = 50,
    replace: bool = True,
    patience: int | None = None,
) -> Selection:
    """Start from the best model and add, step by step, the one that lowers the loss most.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Out-of-fold predictions; for classes the probability of the second of two, or of each.
    y : ndarray of shape (n_samples,) or (n_samples, width)
        Targets, or class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    loss : {"squared", "log"} or callable, default="squared"
        Squared error (the Brier score for probabilities), log-loss, or a function from a
        combined prediction to a number to be made small.
    n_steps : int, default=50
        Number of steps.
    replace : bool, default=True
        Whether a model may be added again.
    patience : int or None
        Stop after so many steps without a new least loss; None for never, 1 for the first
        step that does not help.

    Returns
    -------
    Selection
        The path; ``weights()`` are those of its best prefix.

    Notes
    -----
    Ties go to models that are selected already, then to the first. Squared error costs
    O(n_samples * n_models**2) once and O(n_models) a step; log-loss a matrix-vector product and
    a few logarithms of n_samples numbers a step; any other loss n_models evaluations a step.

    References
    ----------
    .. [1] Caruana, Niculescu-Mizil, Crew, Ksikes (2004). Ensemble selection from libraries of
       models. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1])
    >>> models = np.array([[0.53, 0.17, 0.07], [0.62, 0.61, 0.95], [0.76, 0.41, 0.31]])
    >>> path = greedy_selection(models, y, patience=1)
    >>> path.order, path.losses.round(3)
    (array([0, 1, 0]), array([0.241, 0.224, 0.225]))
    >>> path.weights()
    array([0.5, 0.5, 0. ])
    """
    sums = running_sums(predictions, y, sample_weight, loss)
    return select(sums, n_steps=n_steps, replace=replace, patience=patience)


def select(
    sums: Sums, *, n_steps: int = 50, replace: bool = True, patience: int | None = None
) -> Selection:
    """Return the greedy path over running sums; arguments as in :func:`greedy_selection`."""
    chosen = np.zeros(sums.n_models, dtype=np.bool_)
    order: list[int] = []
    losses: list[float] = []
    for step in range(n_steps if replace else min(n_steps, sums.n_models)):
        allowed = np.ones_like(chosen) if replace else ~chosen
        each = sums.additions(allowed)
        model = _least(each, chosen, allowed)
        order.append(model)
        losses.append(float(each[model]))
        chosen[model] = True
        sums.add(model)
        if patience is not None and step - int(np.argmin(losses)) >= patience:
            break
    return Selection(np.array(order, dtype=np.intp), np.array(losses), sums.n_models)


def bagged_selection(
    sums: Sums,
    *,
    n_bags: int = 20,
    fraction: float = 0.5,
    n_steps: int = 50,
    replace: bool = True,
    patience: int | None = None,
    random_state: Any = None,
) -> BaggedSelection:
    """Return greedy selections from random parts of the models.

    Parameters
    ----------
    sums : Sums
        From :func:`running_sums`.
    n_bags : int, default=20
        Number of parts.
    fraction : float, default=0.5
        Share of the models in a part; at least one.
    n_steps, replace, patience : int, bool, int or None
        As in :func:`greedy_selection`.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    BaggedSelection
        ``weights()`` is the mean of theirs.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.zeros(4)
    >>> sums = running_sums(np.array([[1.0, -1.0, 3.0]] * 4), y)
    >>> bagged_selection(sums, n_bags=10, fraction=0.7, random_state=0).weights().round(3)
    array([0.4 , 0.45, 0.15])
    """
    rng = np.random.default_rng(random_state)
    size = max(1, round(fraction * sums.n_models))
    models = tuple(
        np.sort(rng.choice(sums.n_models, size, replace=False)).astype(np.intp)
        for _ in range(n_bags)
    )
    how: dict[str, Any] = {"n_steps": n_steps, "replace": replace, "patience": patience}
    bags = tuple(select(sums.among(part), **how) for part in models)
    return BaggedSelection(bags, models, sums.n_models)


def greedy_weights(
    predictions: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    *,
    shrinkage: float = 0.0,
    **how: Any,
) -> FloatArray:
    """Return the weights of greedy selection.

    Parameters
    ----------
    predictions, y, sample_weight
        As in :func:`greedy_selection`.
    shrinkage : float, default=0.0
        Share of the plain mean of all models, between 0 and 1.
    **how : dict
        ``loss``, ``n_steps``, ``replace`` and ``patience`` of :func:`greedy_selection`.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights >= 0 that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> greedy_weights(np.column_stack([y + 1, y - 1, y + 9]), y, n_steps=10)
    array([0.5, 0.5, 0. ])
    """
    return greedy_selection(predictions, y, sample_weight, **how).weights(shrinkage=shrinkage)


def _least(losses: FloatArray, chosen: BoolArray, allowed: BoolArray) -> int:
    least = losses.min()
    tied = allowed & ~(losses > least + TOLERANCE * abs(least))
    known = tied & chosen
    return int(np.argmax(known if known.any() else tied))
