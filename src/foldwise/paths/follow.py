"""Follow a path from the largest lambda down, by the cheapest way the loss allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.errors import invalid_parameter
from foldwise.paths.curvature import Dictionary
from foldwise.paths.gram import Moments, fold_grams
from foldwise.paths.multinomial import Classes
from foldwise.paths.newton import Predictor, Problem
from foldwise.paths.path import Path
from foldwise.paths.penalty import Penalty, lambda_grid
from foldwise.paths.rows import Rows
from foldwise.paths.squared import MomentsPath

# In units of the loss of the zero predictor: how precise the best constant is, whatever is asked
# of the path, and the least loss of it that still serves as a unit.
NULL_GAP = 1e-15
# Free columns may separate classes, where the optimum is at infinity and precision is a journey.
FREE_GAP = 1e-9
LEAST_NULL = 1e-9


@dataclass(frozen=True)
class Grid:
    """Which lambdas a path visits, where it ends, and how precise it is."""

    lambdas: FloatArray | None
    n_lambdas: int
    lambda_min_ratio: float
    max_nonzero: int | None
    tol: float

    @classmethod
    def checked(
        cls,
        lambdas: Any,
        n_lambdas: int,
        lambda_min_ratio: float,
        max_nonzero: int | None,
        tol: float,
    ) -> Grid:
        """Return the grid, its lambdas sorted from the largest, or say what is wrong with it."""
        if lambdas is not None:
            lambdas = np.sort(np.asarray(lambdas, dtype=float).ravel())[::-1]
            if not len(lambdas) or not (lambdas > 0).all():
                raise invalid_parameter(
                    "penalised_path",
                    "lambdas",
                    must="be numbers above zero",
                    got=lambdas,
                    fix="Leave them out to have a grid made.",
                )
        elif n_lambdas < 1 or not 0 < lambda_min_ratio <= 1:
            raise invalid_parameter(
                "penalised_path",
                "n_lambdas and lambda_min_ratio",
                must="be at least 1, and above 0 and at most 1",
                got=(n_lambdas, lambda_min_ratio),
                fix="Try 100 and 0.001.",
            )
        return cls(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol)

    def falling_from(self, largest: float) -> FloatArray:
        """Return the lambdas, made from the largest that matters if none were given."""
        if self.lambdas is not None:
            return self.lambdas
        return lambda_grid(largest, self.n_lambdas, self.lambda_min_ratio)

    def fixed(self, lambdas: FloatArray) -> Grid:
        """Return the grid that visits exactly these lambdas."""
        return Grid(lambdas, 0, 0.0, None, self.tol)


def path_of_rows(rows: Rows, penalty: Penalty, grid: Grid) -> Path:
    """Return the path of some rows."""
    if rows.from_moments():
        everything = np.zeros(len(rows.y), dtype=int)
        (gram,) = fold_grams(rows.D, rows.y - rows.offset, everything, rows.weights)
        return path_of_moments(gram.centred(), penalty, grid)
    # Rows of no weight would divide zero slopes by zero curvatures.
    rows = rows.take(rows.weights > 0) if not rows.weights.all() else rows
    weights = rows.weights / rows.weights.sum()
    follower = Follower(rows, Problem(Dictionary(rows.D), weights, penalty, grid.tol))
    return follower.follow(grid.falling_from(follower.largest), grid.max_nonzero)


def path_of_moments(moments: Moments, penalty: Penalty, grid: Grid) -> Path:
    """Return the squared-error path of some moments."""
    follower = MomentsPath(moments, penalty, grid.tol)
    lambdas = grid.falling_from(follower.largest)
    coefs = follower.follow(lambdas, grid.max_nonzero)
    return Path(lambdas[: len(coefs)], coefs, moments.mean_y - coefs @ moments.mean_d)


class Follower:
    """Follows a path of one or several predictors from the null model down."""

    def __init__(self, rows: Rows, problem: Problem) -> None:
        self.rows, self.problem = rows, problem
        self.classes = None
        if rows.loss == "multinomial":
            self.classes = Classes(problem, rows.y, rows.offset)
            self.predictors = self.classes.predictors
        else:
            self.predictors = [Predictor.zero(rows.offset, rows.D.shape[1])]
        self._find_null()
        self.last = self.largest

    @property
    def largest(self) -> float:
        """The smallest lambda at which only free columns are used."""
        return max(self.problem.penalty.largest_lambda(at.gradient) for at in self.predictors)

    def follow(self, lambdas: FloatArray, max_nonzero: int | None) -> Path:
        """Return the coefficients at each lambda, ending before they are too many."""
        coefs, intercepts = [], []
        for lam in lambdas:
            self._solve(lam)
            w = np.array([at.w for at in self.predictors])
            if max_nonzero is not None and w.any(axis=0).sum() > max_nonzero:
                break
            coefs.append(w)
            intercepts.append([at.intercept for at in self.predictors])
        shape = (len(coefs), len(self.predictors), self.rows.D.shape[1])
        W, b = np.array(coefs).reshape(shape), np.array(intercepts).reshape(shape[:2])
        if self.classes is None:
            W, b = W[:, 0], b[:, 0]
        return Path(lambdas[: len(coefs)], W, b)

    def _solve(self, lam: float) -> None:
        last, self.last = max(self.last, lam), lam
        if self.classes is not None:
            self.classes.solve(lam, last)
        else:
            self.problem.solve(self.predictors[0], self.rows.scale, self.rows.y, lam, last)

    def _find_null(self) -> None:
        """Fit intercept and free columns, and take their loss as the unit of precision."""
        problem, rows = self.problem, self.rows
        start = self.classes.eta if self.classes is not None else self.predictors[0].eta
        unit = float(problem.weights @ np.abs(rows.losses(start)))
        free = problem.penalty.free
        tol, problem.gap = problem.gap, (FREE_GAP if free.any() else NULL_GAP) * unit
        if self.classes is not None:
            self.classes.settle(0.0, [free] * len(self.predictors))
            losses = rows.losses(self.classes.eta)
        else:
            at = self.predictors[0]
            problem.settle(at, rows.scale, rows.y, 0.0, np.flatnonzero(free))
            losses = rows.losses(at.eta) - rows.scale.least(rows.y)
        problem.gap = tol * max(float(problem.weights @ losses), LEAST_NULL * unit)
