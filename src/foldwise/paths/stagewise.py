"""Forward stagewise: many tiny steps, the limit of ever smaller ones, and where to stop."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_number
from foldwise.engine.executor import one_thread
from foldwise.errors import unsupported
from foldwise.paths.cross_validation import CVPath, held_out, judged
from foldwise.paths.gram import CONSTANT_COLUMN, CentredMoments, mean_and_variance, moved_to_zero
from foldwise.paths.newton import by_column
from foldwise.paths.path import Path
from foldwise.paths.pivoting import ActiveSet
from foldwise.paths.rows import PathRows, checked_folds, checked_rows

# Relative to the largest correlation: how near counts as equal to it.
TIE = 1e-9


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
        # A path of one point has it as the neighbour on both sides, at 0 and at -1.
        right = np.clip(np.searchsorted(self.arc_length, inside), 1, len(self.arc_length) - 1)
        left = right - 1
        span = self.arc_length[right] - self.arc_length[left]
        share = (inside - self.arc_length[left]) / np.where(span > 0, span, 1.0)

        def between(values: FloatArray) -> FloatArray:
            shares = share.reshape((-1,) + (1,) * (values.ndim - 1))
            return values[left] + shares * (values[right] - values[left])

        return Path(between(self.lambdas), between(self.coefs), between(self.intercepts))


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


@one_thread("blas")
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


# Where a path stands: its level, coefficients, intercept and length.
Snapshot = tuple[float, FloatArray, FloatArray, float]


class MomentsWalker:
    """Forward stagewise on second moments: squared error."""

    def __init__(self, moments: CentredMoments, epsilon: float) -> None:
        self.moments, self.epsilon, self.steps = moments, epsilon, 0
        diagonal = moments.Q.diagonal()
        useful = diagonal > 0
        self.per_size = useful / np.sqrt(np.where(useful, diagonal, 1.0))
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

    def snapshot(self) -> Snapshot:
        """Return where the path stands."""
        level = float(np.abs(self.left * self.per_size).max(initial=0.0))
        intercept = self.moments.mean_y - self.moments.mean_d @ self.w
        return level, self.w.copy(), np.array(intercept), self.steps * self.epsilon


class RowsWalker:
    """Forward stagewise on rows: any loss, one or several linear predictors."""

    def __init__(self, rows: PathRows, epsilon: float) -> None:
        self.rows, self.epsilon, self.steps = rows, epsilon, 0
        D, self.base = moved_to_zero(rows.D)
        self.dictionary = by_column(D)
        self.weights = rows.weights / rows.weights.sum()
        mean, variance = mean_and_variance(D, self.weights)
        useful = variance > CONSTANT_COLUMN * (variance + mean**2)
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
        column = self.dictionary[:, np.array([best])]
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

    def snapshot(self) -> Snapshot:
        """Return where the path stands."""
        level = float(np.abs(self._pulls()).max(initial=0.0))
        w, b = self.w.copy(), self.intercept - self.w @ self.base
        if self.rows.loss != "multinomial":
            w, b = w[0], b[0]
        return level, w, np.asarray(b), self.steps * self.epsilon

    def _pulls(self) -> FloatArray:
        slopes = self.weights * self.rows.slopes(self.eta)
        return -np.array([self.dictionary.T @ row for row in slopes]) * self.per_size

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


def walker(rows: PathRows, epsilon: float) -> MomentsWalker | RowsWalker:
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
    return StagewisePath(*map(np.array, zip(*points, strict=True)))


@one_thread("blas")
def monotone_lasso_path(
    D: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    lambda_min_ratio: float = 1e-3,
    max_events: int = 10_000,
) -> StagewisePath:
    """Return the path of forward stagewise squared-error fitting as its steps go to zero.

    The path is piecewise linear. At every point the columns that move have the largest
    correlation with the residual, in units of their size, and move in its direction; among all
    such moves theirs lowers the squared error fastest per unit of distance.

    Parameters
    ----------
    D : ndarray or scipy sparse of shape (n, p)
        The dictionary.
    y : array-like of shape (n,)
        The target.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows.
    offset : array-like of shape (n,) or None
        Subtracted from the target.
    lambda_min_ratio : float, default=1e-3
        End where the largest correlation has fallen to this share of its first value.
    max_events : int, default=10_000
        End after so many corners of the path at the latest.

    Returns
    -------
    StagewisePath
        The corners of the path; ``at`` gives the points between.

    Notes
    -----
    Each corner solves a small non-negative least-squares problem among the tied columns,
    O(a^3) with a of them. With orthogonal columns the path is that of the lasso.

    References
    ----------
    .. [1] Hastie, Taylor, Tibshirani and Walther (2007). Forward stagewise regression and the
       monotone lasso. Electronic Journal of Statistics 1, 1-29.

    Examples
    --------
    >>> import numpy as np
    >>> D, y = np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0])
    >>> path = monotone_lasso_path(D, y, lambda_min_ratio=1e-9)
    >>> path.coefs[-1].round(6)
    array([4., 1.])
    """
    rows = checked_rows(D, y, "squared", sample_weight, offset, None)
    return monotone_path_of_moments(rows.moments(), lambda_min_ratio, max_events)


def monotone_path_of_moments(
    moments: CentredMoments, lambda_min_ratio: float, max_events: int
) -> StagewisePath:
    """Return the monotone-lasso path of some moments; see :func:`monotone_lasso_path`."""
    diagonal = moments.Q.diagonal()
    size = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    Q, left = moments.Q / np.outer(size, size), moments.q / size
    w, level = np.zeros(len(left)), float(np.abs(left).max(initial=0.0))
    end = lambda_min_ratio * level
    levels, corners, rates = [level], [w], np.zeros(len(left))
    while level > end * (1.0 + TIE) and len(levels) <= max_events:
        rates = _rates(Q, left, level, rates)
        fall = Q @ rates
        step = min(_next_tie(left, fall, level), level - end)
        w, left, level = w + step * rates, left - step * fall, level - step
        levels.append(level)
        corners.append(w)
    coefs = np.array(corners) / size
    intercepts = moments.mean_y - coefs @ moments.mean_d
    return StagewisePath(np.array(levels), coefs, intercepts, arc_length(coefs))


def _rates(Q: FloatArray, left: FloatArray, level: float, before: FloatArray) -> FloatArray:
    """Return how fast each coefficient moves as the largest correlation falls by one.

    The tied columns that move keep their correlations equal, those that stay fall faster: the
    optimality conditions of non-negative least squares in the directions of the correlations.
    """
    tied = np.flatnonzero(np.abs(left) >= level * (1.0 - TIE))
    signs = np.sign(left[tied])
    turned = Q[np.ix_(tied, tied)] * np.outer(signs, signs)
    active = ActiveSet(turned, np.full(len(tied), 2.0), non_negative=True)
    active.start_from(np.maximum(before[tied] * signs, 0.0))
    found = active.solve(1.0, np.arange(len(tied)), turned)
    rates = np.zeros(len(left))
    rates[tied] = signs * (_non_negative(turned) if found is None else found)
    return rates


def _non_negative(Q: FloatArray) -> FloatArray:
    """Return the minimiser of ``w'Qw/2 - sum(w)`` over ``w >= 0`` for a singular Q too."""
    values, vectors = linalg.eigh(Q)
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    target = (vectors[:, kept] / np.sqrt(values[kept])).T @ np.ones(len(Q))
    return np.asarray(optimize.nnls(root.T, target)[0])


def _next_tie(left: FloatArray, fall: FloatArray, level: float) -> float:
    """Return by how much the level can fall until another column is tied with it."""
    nearest = np.inf
    for sign in (1.0, -1.0):
        gain, slack = 1.0 - sign * fall, level - sign * left
        below = (slack > TIE * level) & (gain > TIE)
        nearest = float((slack[below] / gain[below]).min(initial=nearest))
    return nearest


@dataclass(frozen=True)
class CVStagewisePath(CVPath):
    """A stagewise path of all rows with the held-out loss at each point.

    Parameters
    ----------
    lambdas, coefs, intercepts, cv_loss, cv_se, fold_loss
        As in :class:`foldwise.paths.CVPath`; ``lambdas`` are the largest correlations.
    arc_length : ndarray of shape (L,)
        Sum of the absolute changes of all coefficients up to each point.
    """

    arc_length: FloatArray


@one_thread("blas")
def cross_validated_stagewise_path(
    D: Any,
    y: Any,
    *,
    fold_of: Any,
    epsilon: float,
    loss: str = "squared",
    sample_weight: Any = None,
    offset: Any = None,
    max_steps: int = 10_000,
    n_points: int = 200,
    lambda_min_ratio: float = 1e-3,
) -> CVStagewisePath:
    """Return a stagewise path with the held-out loss at each point of it.

    Parameters
    ----------
    D, y, loss, sample_weight, offset, max_steps, n_points
        As in :func:`foldwise.paths.stagewise_path`.
    fold_of : array-like of int, shape (n,)
        The fold of each row. Rows with a negative number are never held out.
    epsilon : float
        Size of a step; zero for the limit of ever smaller steps, the monotone lasso, which is
        for squared error only. There ``max_steps`` bounds the corners of the path.
    lambda_min_ratio : float, default=1e-3
        Where the limit path ends; see :func:`foldwise.paths.monotone_lasso_path`.

    Returns
    -------
    CVStagewisePath
        The path of all rows; each point is judged by the fold paths at the same arc length.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> D = rng.normal(size=(60, 5))
    >>> y = D[:, 0] + rng.normal(size=60)
    >>> path = cross_validated_stagewise_path(D, y, fold_of=np.arange(60) % 5, epsilon=0.01)
    >>> int(np.argmax(np.abs(path.coefs[path.index_min])))
    0
    """
    owner = "cross_validated_stagewise_path"
    check_number(owner, "epsilon", epsilon, least=0, try_=0.01)
    if epsilon == 0 and loss != "squared":
        must = f"be above zero with loss={loss!r}"
        fix = "Try 0.01; only squared error has the exact limit."
        raise unsupported(owner, "epsilon", must=must, got=epsilon, fix=fix)
    rows = checked_rows(D, y, loss, sample_weight, offset, None)
    folds = checked_folds(fold_of, len(rows.y))
    if epsilon == 0:
        every = rows.moments_without(folds)
        walks = [monotone_path_of_moments(each, lambda_min_ratio, max_steps) for each in every]
        lengths = np.linspace(0.0, walks[0].arc_length[-1], n_points)
    else:
        walks = [walk(along, max_steps, n_points) for along in _walkers(rows, folds, epsilon)]
        lengths = walks[0].arc_length
    whole, *parts = walks
    path = judged(whole.at(lengths), [part.at(lengths) for part in parts], rows, folds)
    return CVStagewisePath(**vars(path), arc_length=lengths)


def _walkers(
    rows: PathRows, folds: IntArray, epsilon: float
) -> Iterator[MomentsWalker | RowsWalker]:
    """Yield what walks along all rows, then along all rows but each held-out fold."""
    if rows.loss == "squared":
        for moments in rows.moments_without(folds):
            yield MomentsWalker(moments, epsilon)
        return
    yield RowsWalker(rows, epsilon)
    for k in held_out(folds):
        yield RowsWalker(rows.take(folds != k), epsilon)
