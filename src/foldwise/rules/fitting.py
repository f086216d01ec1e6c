"""Fitting a rule ensemble: grow, extract, choose by cross-validation, keep what is used."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.isle.data import CodedTable, TreeData
from foldwise.isle.grow import Growth, start
from foldwise.isle.postprocess import path_options, terms_path
from foldwise.paths.cross_validation import chosen_index, mean_and_error
from foldwise.paths.relaxed import cross_validated_refit
from foldwise.rules.dictionary import TermDictionary, grow_dictionary
from foldwise.rules.linear_terms import LinearTerms
from foldwise.rules.rule import Rule


@dataclass(frozen=True)
class RuleModel:
    """``intercept + Σ coef · rule + Σ coef · linear term``, one such sum a class."""

    rules: tuple[Rule, ...]  # rules with a coefficient
    supports: FloatArray  # share of the training rows each rule selects
    linear: LinearTerms  # linear terms with a coefficient
    rule_coefs: FloatArray  # (n_outputs, n_rules): coefficients of the rules
    linear_coefs: FloatArray  # (n_outputs, n_linear): coefficients of the scaled linear terms
    intercepts: FloatArray  # intercepts

    @property
    def slopes(self) -> FloatArray:
        """Coefficients of the linear terms in units of the columns, (n_outputs, n_linear)."""
        return self.linear_coefs * self.linear.scale

    def decision(self, table: CodedTable) -> FloatArray:
        """Return the sums for each row, shape (n_rows, n_outputs)."""
        out = np.tile(self.intercepts, (table.n_rows, 1))
        out += self.linear.values(table) @ self.linear_coefs.T
        for rule, coefs in zip(self.rules, self.rule_coefs.T, strict=True):
            out[rule.holds(table)] += coefs
        return out


def kept_terms(dictionary: TermDictionary, coefs: FloatArray, intercepts: FloatArray) -> RuleModel:
    """Return the model of the terms whose coefficients are not all zero.

    Shapes: ``coefs`` (n_outputs, n_terms).
    """
    used = (coefs != 0).any(axis=0)
    n_rules = len(dictionary.rules)
    rules, lines = np.flatnonzero(used[:n_rules]), np.flatnonzero(used[n_rules:])
    return RuleModel(
        tuple(dictionary.rules[k] for k in rules),
        dictionary.supports[rules],
        dictionary.linear[lines],
        coefs[:, rules],
        coefs[:, n_rules + lines],
        intercepts,
    )


@dataclass(frozen=True)
class RuleSettings:
    """How a rule ensemble is fitted."""

    growth: Growth  # how the trees are grown
    # share cut off at each end of a linear term; None for no linear terms
    linear_tail: float | None
    l1_ratio: float  # 1 for the lasso, less for the elastic net
    choose: str  # lowest cross-validated loss, or the sparsest within one standard error of it
    max_terms: int | None  # most terms kept
    regrow: bool  # whether the dictionary is grown anew without each fold
    ensemble: Any = None  # where to take trees from instead of growing them


@dataclass(frozen=True)
class FittedRules:
    """What fitting a rule ensemble gave."""

    model: RuleModel  # the terms kept
    n_candidates: int  # terms in the dictionary
    # penalties tried, their cross-validated loss and its standard error; with regrown
    # dictionaries these are honest
    lambdas: FloatArray
    cv_loss: FloatArray
    cv_se: FloatArray
    shared_cv_loss: FloatArray  # the loss with the dictionary grown once, on all rows
    index: int  # position of the chosen penalty


def fit_rule_ensemble(data: TreeData, folds: IntArray, settings: RuleSettings) -> FittedRules:
    """Grow a dictionary, choose the penalty by cross-validation and keep the terms it keeps."""
    tail, ensemble, ratio = settings.linear_tail, settings.ensemble, settings.l1_ratio
    dictionary, bits = grow_dictionary(data, settings.growth, tail, ensemble)
    if len(dictionary) == 0:
        intercepts, nothing = start(data), np.empty(0)
        model = kept_terms(dictionary, np.empty((len(intercepts), 0)), intercepts)
        return FittedRules(model, 0, nothing, nothing, nothing, nothing, 0)
    D = dictionary.matrix(data.table, bits)
    path = terms_path(D, data, folds, l1_ratio=ratio, max_nonzero=settings.max_terms)
    cv_loss, cv_se = path.cv_loss, path.cv_se
    if settings.regrow:
        cv_loss, cv_se = regrown_losses(data, folds, settings, path.lambdas)
    index = chosen_index(cv_loss, cv_se, settings.choose)
    coefs, intercepts = path.coefs[index], path.intercepts[index]
    if settings.max_terms is not None and coefs.any():
        # A cap on the number of terms is met by a large penalty, which shrinks the few terms
        # left far more than they deserve.
        n_used = int(np.atleast_2d(coefs).any(axis=0).sum())
        options = path_options(data, folds, n_used)
        refit = cross_validated_refit(D, data.y, coefs, l1_ratio=ratio, **options)
        chosen = refit.index(settings.choose)
        coefs, intercepts = refit.coefs[chosen], refit.intercepts[chosen]
    model = kept_terms(dictionary, np.atleast_2d(coefs), np.atleast_1d(intercepts))
    return FittedRules(model, len(dictionary), path.lambdas, cv_loss, cv_se, path.cv_loss, index)


def regrown_losses(
    data: TreeData, folds: IntArray, settings: RuleSettings, lambdas: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the cross-validated loss of each penalty when no fold has seen its dictionary."""
    losses, shares = [], []
    for fold in np.unique(folds):
        seen = folds != fold
        dictionary, _ = grow_dictionary(
            data.take(seen), settings.growth, settings.linear_tail, settings.ensemble
        )
        # Folds numbered −1 only train, so that this path holds out the one fold.
        only, D = np.where(seen, -1, 0), dictionary.matrix(data.table)
        path = terms_path(D, data, only, l1_ratio=settings.l1_ratio, lambdas=lambdas)
        losses.append(path.fold_loss[0])
        shares.append(data.weight[~seen].sum() / data.weight.sum())
    return mean_and_error(np.array(losses), np.array(shares))
