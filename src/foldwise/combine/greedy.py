"""Multistep greedy selection: add the model that helps the mean most, again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import check_word
from foldwise.combine.running_sums import AnySums, LogSums, SquaredSums, Sums

TOLERANCE = 1e-12


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
