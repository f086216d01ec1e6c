"""Coefficients of a dictionary of terms: lasso, stagewise, or shrunk to the average."""

from dataclasses import replace
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.isle.data import TreeData
from foldwise.paths.cross_validation import CVPath, cross_validated_path, held_out, judged
from foldwise.paths.rows import checked_rows
from foldwise.paths.stagewise import walk, walker

STEPS, POINTS = 4000, 100
"""Stagewise steps taken, and the points of the path the folds choose from."""


def reweigh(
    columns: FloatArray, data: TreeData, folds: IntArray, how: str, *, non_negative: bool = False
) -> CVPath:
    """Return the path of new coefficients for the columns of a tree dictionary.

    Columns are not standardised: a tree that moves predictions little pays more for moving
    them much. Standardising keeps three times as many trees and predicts worse, since the late
    trees of a boosted dictionary fit noise.

    ``how``: "lasso" and "stagewise" drop trees. "shrink" penalises the distance of the coefficients
    from a common one, so that a large penalty gives back the plain average.

    Shapes: ``columns`` (n_rows, n_columns).
    """
    if how == "stagewise":
        return _stagewise(columns, data, folds)
    if how == "lasso":
        return terms_path(columns, data, folds, non_negative=non_negative)
    output_of = np.arange(columns.shape[1]) % data.n_outputs
    averaging = (output_of[:, None] == np.arange(data.n_outputs)).astype(float)
    averaging /= averaging.sum(axis=0)
    n_free = data.n_outputs
    factor = np.r_[np.zeros(n_free), np.ones(columns.shape[1])]
    both = np.hstack([columns @ averaging, columns])
    path = terms_path(both, data, folds, non_negative=non_negative, penalty_factor=factor)
    coefs = path.coefs[..., n_free:] + path.coefs[..., :n_free] @ averaging.T
    return replace(path, coefs=coefs)


def terms_path(D: Any, data: TreeData, folds: IntArray, **options: Any) -> CVPath:
    """Return the cross-validated path of the terms in the columns of ``D``."""
    shared = path_options(data, folds, D.shape[1])
    return cross_validated_path(D, data.y, **shared, **options)


def path_options(data: TreeData, folds: IntArray, n_terms: int) -> dict[str, Any]:
    """Return what a path of so many terms is followed with.

    Three decades of penalties, or two for many terms: with as many terms as half the rows,
    smaller penalties only follow the noise, slowly.
    """
    few = 2 * n_terms < len(data.y)
    return {
        "loss": data.loss,
        "fold_of": folds,
        "sample_weight": data.weight,
        "huber_delta": data.huber_delta,
        "n_lambdas": 100 if few else 67,
        "lambda_min_ratio": 1e-3 if few else 1e-2,
    }


def _stagewise(columns: FloatArray, data: TreeData, folds: IntArray) -> CVPath:
    rows = checked_rows(columns, data.y, data.loss, data.weight, None, data.huber_delta)
    scale = float(np.std(data.y)) if data.loss in {"squared", "huber"} else 1.0
    epsilon = 0.01 * (scale or 1.0) / (float(columns.std(axis=0).max()) or 1.0)
    whole = walk(walker(rows, epsilon), STEPS, POINTS)
    parts = [
        walk(walker(rows.take(folds != fold), epsilon), STEPS, POINTS).at(whole.arc_length)
        for fold in held_out(folds)
    ]
    return judged(whole, parts, rows, folds)
