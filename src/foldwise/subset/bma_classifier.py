"""Logistic regression averaged over models by their posterior probabilities."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.bma import SEARCHABLE_COLUMNS, BayesianModelAveraging, ModelSearch, weigh
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow, search
from foldwise.subset.coefficients import Fits, unscale
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Score
from foldwise.subset.linear import LinearClassifier, dense
from foldwise.subset.logistic import (
    ClassRows,
    class_probabilities,
    fit_all,
    scaled_rows,
    seconds_for,
    variances,
)
from foldwise.subset.moments import ScaledGram, SubsetRows
from foldwise.subset.posterior import model_prior
from foldwise.subset.search import Found

CHEAP_SECONDS = 10.0
# How much wider Occam's window is for the approximation than for the models themselves.
WIDER = 100.0
AT_ONCE = 2_000_000
# Models that are fitted before the next look at the window.
AT_A_TIME = 200
# Most approximations of the likelihood, each around a better model.
ROUNDS = 4


class BayesianModelAveragingClassifier(LinearClassifier, BayesianModelAveraging):
    """The mean of all logistic models, weighted by how probable the data make them.

    Of several classes the models are multinomial: a column in a model has a coefficient for each
    class but the first. When it helps and when it does not: see
    :class:`BayesianModelAveragingRegressor`.

    Parameters
    ----------
    model_prior : {"uniform", "beta_binomial"}, default="uniform"
        All models alike, or all sizes alike.
    occam_ratio : float, None or "auto", default="auto"
        Occam's window: models less probable than the best by more than this are left out.
        None keeps all; "auto" keeps all where they can be enumerated, and is 20 otherwise.
    strict : bool, default=False
        Whether to leave out models that have a more probable submodel as well.
    method : {"auto", "enumerate", "branch_and_bound"}, default="auto"
        "enumerate" fits all models. "branch_and_bound" searches the quadratic approximation of
        the likelihood around the model with all columns, with a window a hundred times as wide,
        and fits what it finds; with more than two classes or 40 columns it goes through that
        window from neighbour to neighbour. "auto" enumerates while that takes about ten seconds.
    max_size : int or None, default=None
        Largest number of columns.
    forced : list of int or str, optional
        Columns in every model, by position or name.
    max_models : int, default=2000
        Most models to fit when they are not enumerated.
    time_limit : float or None, default=600.0
        Seconds.
    verbose : int, default=0
        With 1, progress of searches of more than two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; coefficients are log odds against the first.
    coef_, intercept_, coef_sd_, conditional_coef_, conditional_coef_sd_ : ndarray or float
        Posterior means and standard deviations, as in :class:`BayesianModelAveragingRegressor`;
        with more than two classes one row for each class but the first.
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that the column is in the model.
    model_support_ : ndarray of bool of shape (n_models, n_features)
        The models, most probable first.
    model_probability_ : ndarray of shape (n_models,)
        Their posterior probabilities; they sum to one.
    model_coef_ : ndarray of shape (n_models, n_features) or (n_models, n_classes - 1, n_features)
        Their coefficients.
    model_intercept_ : ndarray of shape (n_models,) or (n_models, n_classes - 1)
        Their intercepts.
    models_ : DataFrame
        The hundred most probable models.
    complete_ : bool
        False when time or patience ran out before the search was finished.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    Notes
    -----
    The marginal likelihood is taken from the BIC. Probabilities are the weighted mean of the
    models' probabilities, which is not the probability at the mean coefficients. Models that
    separate the classes have no largest likelihood; a tiny ridge holds them. Weights are read as
    by :class:`BayesianModelAveragingRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> bma = BayesianModelAveragingClassifier().fit(X.iloc[:, :5], y)
    >>> bma.inclusion_probability_.round(2)
    array([0.41, 1.  , 0.73, 0.57, 1.  ])
    """

    _several_classes = True
    _methods: ClassVar[list[str]] = ["auto", "enumerate", "branch_and_bound"]
    _most_subsets = 1_000

    def _average(
        self, rows: SubsetRows, moments: ScaledGram, choice: Choice, plan: ModelSearch
    ) -> None:
        scaled, scales = scaled_rows(rows, len(self.classes_))
        score = deviance_score(scaled, self.model_prior, choice)
        n_rows, q = scaled.Z.shape
        seconds = seconds_for(choice.n_subsets, n_rows, q * scaled.n_others)
        way = plan.method
        if way == "auto":
            way = "enumerate" if seconds <= CHEAP_SECONDS else "branch_and_bound"
        if way == "enumerate":
            plan.searcher.look_at_the_clock(choice, 1, seconds)
            kept = choice.subsets()
            betas, losses = fit_all(scaled, choice.with_intercept(kept, q - 1))
            found = Found(kept, 2 * losses, True)
        else:
            betas, found = fit_shortlist(scaled, choice, score, plan)
        order, probability = weigh(found, choice, score, plan, plan.window(way))
        models = Found(found.kept[order], found.rss[order], found.complete)
        self._store_models(models, probability, choice)
        fits = Fits(betas[order], variances(scaled, betas[order]))
        if scaled.n_classes > 2:
            fits = Fits._make(part.reshape(len(order), -1, q) for part in fits)
        self._store_coefficients(fits, np.ones(len(order)), scales)
        betas = unscale(fits.beta, scales)
        self.model_intercept_, self.model_coef_ = betas[..., 0], betas[..., 1:]

    def _probabilities(self, X: Any) -> FloatArray:
        X = dense(self._checked(X))
        n_models, n_others = len(self.model_coef_), len(self.classes_) - 1
        coef = self.model_coef_.reshape(n_models * n_others, -1)
        intercept = self.model_intercept_.reshape(n_models, n_others, 1)
        parts = []
        for rows in gen_batches(len(X), max(1, AT_ONCE // len(coef))):
            eta = (coef @ X[rows].T).reshape(n_models, n_others, -1) + intercept
            parts.append(np.tensordot(self.model_probability_, class_probabilities(eta), axes=1).T)
        others = np.clip(np.concatenate(parts), 0.0, 1.0)
        return np.column_stack([np.maximum(1 - others.sum(axis=1), 0.0), others])


def deviance_score(rows: ClassRows, prior: str, choice: Choice) -> Score:
    """Return minus twice the log posterior of a deviance and a number of columns.

    A column has a coefficient for each class but the first, and the BIC counts all of them.
    """
    n_rows, log_prior = round(float(rows.weights.sum())), model_prior(prior, len(choice.units))

    def score(deviance: FloatArray, size: IntArray) -> FloatArray:
        columns = np.asarray(size)
        k = rows.n_others * (columns + 1)
        penalised = deviance + np.log(n_rows) * k - 2 * log_prior(columns - choice.n_always)
        return np.where(k < n_rows, penalised, np.inf)

    return score


def fit_shortlist(
    rows: ClassRows, choice: Choice, score: Score, plan: ModelSearch
) -> tuple[FloatArray, Found]:
    """Return models that quadratic approximations of the likelihood put in the window, fitted.

    The first is around the model with all columns. Where that is too far off, as when it separates
    the classes, the next is around the best model so far. Models are fitted in its order, until
    twice its error so far would not bring the next one into the window.
    """
    q, complete = rows.Z.shape[1], True
    centre, _ = fit_all(rows, np.ones((1, q), dtype=bool))
    kept = np.zeros((0, len(choice.units)), dtype=bool)
    betas, deviances = np.zeros((0, q * rows.n_others)), np.zeros(0)
    ratio = plan.window("branch_and_bound")
    slack = np.inf if ratio is None else 2 * np.log(ratio)
    for _ in range(ROUNDS):
        hessian, cross, total = quadratic(rows, centre)
        problem = without_forced(hessian, cross, total, choice, rows.n_others)
        goal, finished = shortlist(problem, choice, score, plan, rows.n_others)
        known = {model.tobytes() for model in kept}
        fresh = np.flatnonzero([model.tobytes() not in known for model in goal.kept])
        complete, error = complete and finished, 0.0
        for some in (fresh[part] for part in gen_batches(len(fresh) or 1, AT_A_TIME)):
            lowest = score(deviances, choice.sizes(kept)).min(initial=np.inf)
            if not len(some) or goal.scores[some[0]] > lowest + slack + 2 * error:
                break
            columns = choice.with_intercept(goal.kept[some], q - 1)
            start = _minima(hessian, cross, np.tile(columns, rows.n_others))
            fitted, losses = fit_all(rows, columns, start)
            kept, betas = np.concatenate([kept, goal.kept[some]]), np.concatenate([betas, fitted])
            deviances = np.concatenate([deviances, 2 * losses])
            error = max(error, np.abs(goal.rss[some] - 2 * losses).max())
        # Half for the best model, half for another: errors up to this move none out of the window.
        if error <= np.log(WIDER) or not finished:
            break
        best = int(np.argmin(score(deviances, choice.sizes(kept))))
        centre = betas[best : best + 1]
    return betas, Found(kept, deviances, complete)


def quadratic(rows: ClassRows, centre: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return H, c and t: around one model (1, d) the deviance is about t - 2 c'β + β'Hβ."""
    eta = rows.predictors(centre)
    hessian = rows.information(eta, np.ones((1, rows.Z.shape[1]), dtype=bool))[0]
    hessian += 1e-8 * rows.weights.sum() * np.eye(len(hessian))
    beta, uphill = centre[0], rows.uphill(eta)[0]
    cross = hessian @ beta + uphill
    total = 2 * rows.losses_at(eta)[0] + beta @ (cross + uphill)
    return hessian, cross, float(total)


def without_forced(
    hessian: FloatArray, cross: FloatArray, total: float, choice: Choice, n_others: int
) -> LeastSquares:
    """Return the problem of the free columns, each with its coefficients side by side."""
    places = np.arange(len(cross)).reshape(n_others, -1).T
    base, free = places[choice.forced].ravel(), places[[unit[0] for unit in choice.units]].ravel()
    slopes = np.linalg.solve(hessian[np.ix_(base, base)], hessian[np.ix_(base, free)])
    alone = np.linalg.solve(hessian[np.ix_(base, base)], cross[base])
    across = hessian[np.ix_(free, base)]
    gram, left = hessian[np.ix_(free, free)] - across @ slopes, cross[free] - across @ alone
    return LeastSquares(gram, left, float(total - cross[base] @ alone))


def shortlist(
    problem: LeastSquares, choice: Choice, score: Score, plan: ModelSearch, n_others: int
) -> tuple[WithinWindow, bool]:
    """Return what a wider window holds of the models, and whether its search was finished."""

    def shifted(deviance: FloatArray, size: IntArray) -> FloatArray:
        return score(deviance, size + choice.n_always)

    slack = 2 * np.log(WIDER * (plan.window("branch_and_bound") or 20.0))
    goal = WithinWindow(
        len(choice.units), problem.total, shifted, choice.max_size, slack, plan.max_models
    )
    bounded = n_others == 1 and len(choice.units) <= SEARCHABLE_COLUMNS
    way = search(problem, goal) if bounded else spread(problem, n_others, goal)
    return goal, plan.searcher.drive(way)


def _minima(hessian: FloatArray, cross: FloatArray, kept: BoolArray) -> FloatArray:
    """Return where the quadratic approximation has the minimum of each model."""
    result = np.zeros(kept.shape)
    for model, inside in zip(result, kept, strict=True):
        at = np.flatnonzero(inside)
        model[at] = np.linalg.solve(hessian[at[:, None], at], cross[at])
    return result


# Models whose neighbours are shown at once: the goal sorts all it has each time.
TOGETHER = 64


def spread(problem: LeastSquares, width: int, goal: WithinWindow) -> Iterator[float]:
    """Show ``goal`` all neighbours of the best models it has, until it has seen those of all.

    Starts from the models with all columns and with none. The window is found as far as its
    models hang together, one column more or less at a time. ``width`` is the number of
    coefficients of each column; they lie together.
    """
    everything = np.ones(len(problem.cross) // width, dtype=bool)
    # Windows that take no large model are entered from the small ones.
    for start in (everything, ~everything):
        goal.offer(*with_neighbours(problem, width, start))
    seen: set[bytes] = set()
    new = list(goal.kept)
    while new:
        around = [with_neighbours(problem, width, kept) for kept in new[:TOGETHER]]
        seen.update(kept.tobytes() for kept in new[:TOGETHER])
        goal.offer(*map(np.concatenate, zip(*around, strict=True)))
        new = [kept for kept in goal.kept if kept.tobytes() not in seen]
        yield 1 - len(new) / len(goal.kept)


def with_neighbours(
    problem: LeastSquares, width: int, kept: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Return a model and all with one column more or less, and their residual sums of squares."""
    gram, cross, total = problem
    inside = np.repeat(kept, width)
    part, rest = gram[inside][:, inside], gram[inside][:, ~inside]
    inverse = np.asarray(np.linalg.inv(part), dtype=np.float64)
    beta = inverse @ cross[inside]
    rss = total - cross[inside] @ beta
    changes = np.zeros(len(kept))
    changes[kept] = _quadratic(_blocks(inverse, width), beta)
    left = gram[~inside][:, ~inside] - rest.T @ inverse @ rest
    changes[~kept] = -_quadratic(_blocks(left, width), cross[~inside] - rest.T @ beta)
    models = np.concatenate([kept[None], kept ^ np.eye(len(kept), dtype=bool)])
    return np.maximum(rss + np.append(0.0, changes), 0.0), models


def _blocks(matrix: FloatArray, width: int) -> FloatArray:
    """Return the square blocks (n_blocks, width, width) on the diagonal."""
    n_blocks = len(matrix) // width
    each = np.arange(n_blocks)
    return matrix.reshape(n_blocks, width, n_blocks, width)[each, :, each, :]


def _quadratic(blocks: FloatArray, values: FloatArray) -> FloatArray:
    """Return v' B⁻¹ v of each block and its part of the values."""
    parts = values.reshape(len(blocks), blocks.shape[1], 1)
    return np.asarray((parts * np.linalg.solve(blocks, parts)).sum(axis=(1, 2)))
