"""Coefficients of a dictionary of terms: lasso, stagewise, or shrunk to the average."""

from dataclasses import replace
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.engine.executor import one_thread
from foldwise.isle.data import TreeData
from foldwise.paths.path import Path
from foldwise.paths.penalised import Grid, path_of_rows
from foldwise.paths.penalty import checked_penalty
from foldwise.paths.rows import PathRows, checked_rows
from foldwise.paths.stagewise import walk, walker

# What the common coefficient of "shrink" pays, beside the distance of each from it.
COMMON = 0.1

# Stagewise steps taken, and the points of the path the folds choose from.
STEPS, POINTS = 4000, 100


def reweigh(columns: FloatArray, data: TreeData, how: str, *, non_negative: bool = False) -> Path:
    """Return the path of new coefficients for the columns of a tree dictionary.

    Columns are not standardised: a tree that moves predictions little pays more for moving
    them much. Standardising keeps three times as many trees and predicts worse, since the late
    trees of a boosted dictionary fit noise.

    ``how``: "lasso" and "stagewise" drop trees. "shrink" penalises the distance of the coefficients
    from a common one, so that a large penalty gives back the plain average; the common one pays a
    little too, so that a larger one gives a constant: on noise the average is fitted noise.

    Shapes: ``columns`` (n_rows, n_columns).
    """
    if how == "stagewise":
        return _stagewise(columns, data)
    if how == "lasso":
        return terms_path(columns, data, non_negative=non_negative)
    output_of = np.arange(columns.shape[1]) % data.n_outputs
    averaging = (output_of[:, None] == np.arange(data.n_outputs)).astype(float)
    averaging /= np.maximum(averaging.sum(axis=0), 1.0)
    n_free = data.n_outputs
    factor = np.r_[np.full(n_free, COMMON), np.ones(columns.shape[1])]
    both = np.hstack([columns @ averaging, columns])
    path = terms_path(both, data, non_negative=non_negative, penalty_factor=factor)
    coefs = path.coefs[..., n_free:] + path.coefs[..., :n_free] @ averaging.T
    return replace(path, coefs=coefs)


def terms_rows(D: Any, data: TreeData, huber_delta: float) -> PathRows:
    """Return the terms in the columns of ``D`` as the input of a path."""
    return checked_rows(D, data.y, data.loss, data.weight, None, huber_delta, data.n_outputs)


@one_thread("blas")
def terms_path(
    D: Any,
    data: TreeData,
    *,
    l1_ratio: float = 1.0,
    non_negative: bool = False,
    penalty_factor: Any = None,
    max_nonzero: int | None = None,
) -> Path:
    """Return the path of the terms in the columns of ``D``.

    Three decades of penalties, or two for many terms: with as many terms as half the rows,
    smaller penalties only follow the noise, slowly. 33 of them a decade in both.
    """
    n_lambdas, ratio = (100, 1e-3) if 2 * D.shape[1] < len(data.y) else (67, 1e-2)
    penalty = checked_penalty(l1_ratio, penalty_factor, non_negative, D.shape[1])
    grid = Grid(None, n_lambdas, ratio, max_nonzero, 1e-4)
    return path_of_rows(terms_rows(D, data, data.delta), penalty, grid)


@one_thread("blas")
def _stagewise(columns: FloatArray, data: TreeData) -> Path:
    scale = float(np.std(data.y)) if data.loss in {"squared", "huber"} else 1.0
    epsilon = 0.01 * (scale or 1.0) / (float(columns.std(axis=0).max(initial=0.0)) or 1.0)
    path = walk(walker(terms_rows(columns, data, data.delta), epsilon), STEPS, POINTS)
    return path.at(epsilon * np.r_[0.0, np.geomspace(1.0, STEPS, POINTS - 1)])
