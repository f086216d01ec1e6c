"""Forward stagewise: many tiny steps, each on the column that helps most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.checks import check_number
from foldwise.paths.gram import CentredMoments
from foldwise.paths.newton import DictionaryColumns
from foldwise.paths.path import Path
from foldwise.paths.rows import WeightedRows, checked_rows
from foldwise.paths.threads import one_blas_thread


@dataclass(frozen=True)
class StagewisePath(Path):
    """Coefficients along a stagewise path, by the distance walked.

    Parameters
    ----------
    lambdas : ndarray of shape (L,)
        The largest correlation of a column with what is left, in units of its own size, at each
        point; it falls along the path.
    coefs, intercepts
        As in :class:`foldwise.paths.Path`.
    arc_length : ndarray of shape (L,)
        Sum of the absolute changes of all coefficients so far.
    """

    arc_length: FloatArray

    def at(self, lengths: FloatArray) -> Path:
        """Return the coefficients at some arc lengths, linear between the stored points."""
        inside = np.clip(lengths, 0.0, self.arc_length[-1])
        right = np.clip(np.searchsorted(self.arc_length, inside), 1, len(self.arc_length) - 1)
        if len(self.arc_length) == 1:
            return Path(*(np.repeat(x, len(inside), axis=0) for x in self._columns()))
        left = right - 1
        span = self.arc_length[right] - self.arc_length[left]
        share = (inside - self.arc_length[left]) / np.where(span > 0, span, 1.0)
        return Path(*(_between(x[left], x[right], share) for x in self._columns()))

    def _columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.lambdas, self.coefs, self.intercepts


def _between(left: FloatArray, right: FloatArray, share: FloatArray) -> FloatArray:
    shape = (-1,) + (1,) * (left.ndim - 1)
    return left + share.reshape(shape) * (right - left)


def arc_length(coefs: FloatArray) -> FloatArray:
    """Return the distance walked by coefficients up to each point of their path.

    Parameters
    ----------
    coefs : ndarray of shape (L, ...)
        Coefficients along a path that starts from zero.

    Returns
    -------
    ndarray of shape (L,)
        Cumulative sums of absolute changes. For coefficients that never turn back it equals the
        sum of their absolute values.

    Examples
    --------
    >>> import numpy as np
    >>> arc_length(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, -1.0]]))
    array([0. , 1. , 2.5])
    """
    flat = coefs.reshape(len(coefs), -1)
    steps = np.abs(np.diff(flat, axis=0, prepend=np.zeros((1, flat.shape[1])))).sum(axis=1)
    return np.cumsum(steps)


@one_blas_thread
def stagewise_path(
    D: Any,
    y: Any,
    *,
    epsilon: float,
    loss: str = "squared",
    sample_weight: Any = None,
    offset: Any = None,
    max_steps: int = 10_000,
    n_points: int = 200,
) -> StagewisePath:
    """Return the path of forward stagewise fitting with steps of size ``epsilon``.

    Each step finds the column whose best multiple lowers the squared error most and moves its
    coefficient by ``epsilon`` in that direction. With other losses the residual is the negative
    slope of the loss. The intercept is kept at its optimum.

    Parameters
    ----------
    D : ndarray or scipy sparse of shape (n, p)
        The dictionary.
    y : array-like of shape (n,)
        The target, as in :func:`foldwise.paths.penalised_path`.
    epsilon : float
        Size of a step of a coefficient.
    loss : {"squared", "logistic", "multinomial", "poisson", "huber"}, default="squared"
        What to lower.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows.
    offset : array-like or None
        Added to the linear predictor.
    max_steps : int, default=10_000
        Stop after so many steps at the latest; the path ends by itself when no step of this size
        lowers the loss.
    n_points : int, default=200
        How many points of the path to keep at least (where it has as many steps), evenly spaced;
        at most twice as many.

    Returns
    -------
    StagewisePath
        The path.

    Notes
    -----
    With squared error a step costs O(p) after one O(n p^2) Gram matrix; with other losses
    O(n p). Ties go to the first column.

    References
    ----------
    .. [1] Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning,
       Algorithm 16.1.

    Examples
    --------
    >>> import numpy as np
    >>> D, y = np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0])
    >>> path = stagewise_path(D, y, epsilon=0.5, max_steps=4, n_points=4)
    >>> path.coefs[-1]
    array([2., 0.])
    """
    fix = "Use monotone_lasso_path for the limit of ever smaller steps."
    check_number("stagewise_path", "epsilon", epsilon, above=0, fix=fix)
    rows = checked_rows(D, y, loss, sample_weight, offset, None)
    return walk(walker(rows, epsilon), max_steps, n_points)


@dataclass(frozen=True)
class _Snapshot:
    level: float
    coefs: FloatArray
    intercept: FloatArray
    length: float


class MomentsWalker:
    """Forward stagewise on second moments: squared error."""

    def __init__(self, moments: CentredMoments, epsilon: float) -> None:
        self.moments, self.epsilon, self.steps = moments, epsilon, 0
        diagonal = moments.Q.diagonal()
        self.per_size = np.where(diagonal > 0, 1.0, 0.0) / np.sqrt(
            np.where(diagonal > 0, diagonal, 1.0)
        )
        self.enough = 0.5 * epsilon * diagonal
        self.left, self.w = moments.q.copy(), np.zeros(len(moments.q))

    def step(self) -> bool:
        """Move one coefficient; false if no move lowers the squared error."""
        best = int(np.argmax(np.abs(self.left * self.per_size)))
        pull = self.left[best]
        if abs(pull) <= self.enough[best]:
            return False
        move = self.epsilon if pull > 0 else -self.epsilon
        self.w[best] += move
        self.left -= move * self.moments.Q[best]
        self.steps += 1
        return True

    def snapshot(self) -> _Snapshot:
        """Return where the path stands."""
        level = float(np.abs(self.left * self.per_size).max(initial=0.0))
        intercept = self.moments.mean_y - self.moments.mean_d @ self.w
        return _Snapshot(level, self.w.copy(), np.array(intercept), self.steps * self.epsilon)


class RowsWalker:
    """Forward stagewise on rows: any loss, one or several linear predictors."""

    def __init__(self, rows: WeightedRows, epsilon: float) -> None:
        self.rows, self.epsilon, self.steps = rows, epsilon, 0
        self.dictionary = DictionaryColumns(rows.D)
        self.weights = rows.weights / rows.weights.sum()
        squares = rows.D.multiply(rows.D) if self.dictionary.sparse else rows.D**2
        mean = np.asarray(rows.D.T @ self.weights)
        variance = np.asarray(squares.T @ self.weights) - mean**2
        useful = variance > 1e-12 * (variance + mean**2)
        self.per_size = useful / np.sqrt(np.where(useful, variance, 1.0))
        self.eta = np.atleast_2d(rows.offset.copy())
        self.intercept = np.zeros(len(self.eta))
        self.w = np.zeros((len(self.eta), rows.D.shape[1]))
        # With several classes a Newton step of every intercept counts what they share twice.
        n_predictors = len(self.eta)
        self.caution = 1.0 - 1.0 / n_predictors if n_predictors > 1 else 1.0
        self._refit_intercepts(100)
        self.loss = self._mean_loss()

    def step(self) -> bool:
        """Move one coefficient; false if no move lowers the loss."""
        pulls = self._pulls()
        place = int(np.argmax(np.abs(pulls)))
        k, best = np.unravel_index(place, pulls.shape)
        move = self.epsilon if pulls[k, best] > 0 else -self.epsilon
        before = self.eta.copy(), self.intercept.copy()
        column = self.dictionary.columns(np.array([best]))
        self.eta[k] += move * np.asarray(column.sum(axis=1)).ravel()
        self._refit_intercepts(3)
        loss = self._mean_loss()
        if loss >= self.loss:
            self.eta, self.intercept = before
            return False
        self.w[k, best] += move
        self.loss = loss
        self.steps += 1
        return True

    def snapshot(self) -> _Snapshot:
        """Return where the path stands."""
        level = float(np.abs(self._pulls()).max(initial=0.0))
        w, b = self.w.copy(), self.intercept.copy()
        if self.rows.loss != "multinomial":
            w, b = w[0], b[0]
        return _Snapshot(level, w, np.asarray(b), self.steps * self.epsilon)

    def _pulls(self) -> FloatArray:
        slopes = self.weights * self.rows.slopes(self.eta)
        return -np.array([self.dictionary.transposed_times(row) for row in slopes]) * self.per_size

    def _refit_intercepts(self, most: int) -> None:
        for _ in range(most):
            slopes, curvatures = self.rows.slopes(self.eta), self.rows.curvatures(self.eta)
            shift = -self.caution * (slopes @ self.weights) / (curvatures @ self.weights)
            self.intercept += shift
            self.eta += shift[:, None]
            if np.abs(shift).max() < 1e-9:
                break

    def _mean_loss(self) -> float:
        eta = self.eta if self.rows.loss == "multinomial" else self.eta[0]
        return float(self.weights @ self.rows.losses(eta))


def walker(rows: WeightedRows, epsilon: float) -> MomentsWalker | RowsWalker:
    """Return the cheapest walker for some rows."""
    if rows.loss != "squared":
        return RowsWalker(rows, epsilon)
    return MomentsWalker(rows.moments(), epsilon)


def walk(along: MomentsWalker | RowsWalker, max_steps: int, n_points: int) -> StagewisePath:
    """Walk to the end, keeping points of the path evenly spaced in steps.

    How long the path is shows only at its end, so the spacing starts at one step and doubles,
    every other point being dropped, whenever there are twice as many points as asked for.
    """
    points, every = [along.snapshot()], 1
    while along.steps < max_steps and along.step():
        if along.steps % every == 0:
            points.append(along.snapshot())
        if len(points) > 2 * n_points:
            points, every = points[::2], 2 * every
    if along.steps % every:
        points.append(along.snapshot())
    return StagewisePath(
        np.array([point.level for point in points]),
        np.array([point.coefs for point in points]),
        np.array([point.intercept for point in points]),
        np.array([point.length for point in points]),
    )
