"""Fitting a rule ensemble: grow, extract, choose by cross-validation, keep what is used."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.isle.grow import Growth, sampling_fraction, start
from foldwise.isle.postprocess import chosen_index, penalty_grid
from foldwise.isle.table import CodedTable
from foldwise.paths import cross_validated_path
from foldwise.rules.dictionary import TermDictionary, grow_dictionary
from foldwise.rules.rule_model import RuleModel, kept_terms


@dataclass(frozen=True)
class RuleSettings:
    """How a rule ensemble is fitted."""

    growth: Growth  # how the trees are grown; its sampling fraction is set for the rows at hand
    # part of the rows each tree sees; None for Friedman and Popescu's formula
    subsample: float | None
    # share cut off at each end of a linear term; None for no linear terms
    linear_tail: float | None
    l1_ratio: float  # 1 for the lasso, less for the elastic net
    choose: str  # lowest cross-validated loss, or the sparsest within one standard error of it
    max_terms: int | None  # most terms kept
    regrow: bool  # whether the dictionary is grown anew without each fold
    ensemble: Any = None  # where to take trees from instead of growing them

    def growth_for(self, n_rows: int) -> Growth:
        """Return the growth with the sampling fraction for so many rows."""
        return replace(self.growth, sample_fraction=self.subsample or sampling_fraction(n_rows))


@dataclass(frozen=True)
class RuleFit:
    """What fitting a rule ensemble gave."""

    model: RuleModel  # the terms kept
    n_candidates: int  # terms in the dictionary
    # penalties tried, their cross-validated loss and its standard error. With regrown
    # dictionaries these are honest.
    lambdas: FloatArray
    # penalties tried, their cross-validated loss and its standard error. With regrown
    # dictionaries these are honest.
    cv_loss: FloatArray
    # penalties tried, their cross-validated loss and its standard error. With regrown
    # dictionaries these are honest.
    cv_se: FloatArray
    shared_cv_loss: FloatArray  # the loss with the dictionary grown once, on all rows
    index: int  # position of the chosen penalty


def fit_rule_ensemble(
    table: CodedTable, y: Array, weight: FloatArray, folds: IntArray, settings: RuleSettings
) -> RuleFit:
    """Grow a dictionary, choose the penalty by cross-validation and keep the terms it keeps."""
    growth = settings.growth_for(table.n_rows)
    dictionary, bits = grow_dictionary(
        table, y, weight, growth, settings.linear_tail, settings.ensemble
    )
    if len(dictionary) == 0:
        return _constant(dictionary, start(y, weight, growth))
    D = dictionary.matrix(table, bits)
    path = _path(D, y, weight, folds, settings)
    cv_loss, cv_se = path.cv_loss, path.cv_se
    if settings.regrow:
        cv_loss, cv_se = regrown_losses(table, y, weight, folds, settings, path.lambdas)
    index = chosen_index(cv_loss, cv_se, settings.choose)
    coefs, intercepts = np.atleast_2d(path.coefs[index]), np.atleast_1d(path.intercepts[index])
    if settings.max_terms is not None and coefs.any():
        coefs, intercepts = _relaxed(D, y, weight, folds, settings, coefs)
    model = kept_terms(dictionary, coefs, intercepts)
    return RuleFit(model, len(dictionary), path.lambdas, cv_loss, cv_se, path.cv_loss, index)


def regrown_losses(
    table: CodedTable,
    y: Array,
    weight: FloatArray,
    folds: IntArray,
    settings: RuleSettings,
    lambdas: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the cross-validated loss of each penalty when no fold has seen its dictionary."""
    losses, shares = [], []
    for fold in np.unique(folds):
        seen = folds != fold
        dictionary, _ = grow_dictionary(
            table.rows(seen),
            y[seen],
            weight[seen],
            settings.growth_for(int(seen.sum())),
            settings.linear_tail,
            settings.ensemble,
        )
        # IntArray numbered −1 only train, so that this path holds out the one fold.
        only = np.where(seen, -1, 0)
        path = _path(dictionary.matrix(table), y, weight, only, settings, lambdas)
        losses.append(path.fold_loss[0])
        shares.append(weight[~seen].sum() / weight.sum())
    fold_loss, share = np.array(losses), np.array(shares)
    mean = share @ fold_loss
    spread = share @ (fold_loss - mean) ** 2
    return mean, np.sqrt(spread / max(len(share) - 1, 1))


def _path(
    D: Any,
    y: Array,
    weight: FloatArray,
    folds: IntArray,
    settings: RuleSettings,
    lambdas: FloatArray | None = None,
) -> Any:
    return cross_validated_path(
        D,
        y,
        loss=settings.growth.loss,
        fold_of=folds,
        sample_weight=weight,
        l1_ratio=settings.l1_ratio,
        lambdas=lambdas,
        **penalty_grid(*D.shape),
        max_nonzero=settings.max_terms if lambdas is None else None,
        huber_delta=settings.growth.huber_delta,
    )


def _relaxed(
    D: Any,
    y: Array,
    weight: FloatArray,
    folds: IntArray,
    settings: RuleSettings,
    coefs: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return new coefficients for the terms in use, with a penalty of their own.

    A cap on the number of terms is met by a large penalty, which shrinks the few terms left far
    more than they deserve.
    """
    used = np.flatnonzero(coefs.any(axis=0))
    path = _path(D[:, used], y, weight, folds, replace(settings, max_terms=None))
    index = chosen_index(path.cv_loss, path.cv_se, settings.choose)
    relaxed = np.zeros_like(coefs)
    relaxed[:, used] = np.atleast_2d(path.coefs[index])
    return relaxed, np.atleast_1d(path.intercepts[index])


def _constant(dictionary: TermDictionary, intercepts: FloatArray) -> RuleFit:
    model = kept_terms(dictionary, np.empty((len(intercepts), 0)), intercepts)
    nothing = np.empty(0)
    return RuleFit(model, 0, nothing, nothing, nothing, nothing, 0)
