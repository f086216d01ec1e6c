"""How much each term and each column matters: over all rows, in a region, for one row."""

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.isle.table import CodedTable
from foldwise.rules.linear_terms import TYPICAL_RULE_DEVIATION
from foldwise.rules.rule_model import RuleModel


def term_importances(model: RuleModel) -> FloatArray:
    """Return the importance of each term: |coefficient| times the term's standard deviation.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 6.
    """
    deviations = np.sqrt(model.supports * (1 - model.supports))
    rules = np.abs(model.rule_coefs).mean(axis=0) * deviations
    lines = np.abs(model.linear_coefs).mean(axis=0) * TYPICAL_RULE_DEVIATION
    return np.concatenate([rules, lines])


def local_term_importances(model: RuleModel, table: CodedTable) -> FloatArray:
    """Return how much each term moves each row away from an average row.

    ``|a| |r(x) − s|`` for a rule of support s, ``|b| |l(x) − mean|`` for a linear term; the mean
    over outputs where there are several.
    """
    sizes = np.abs(np.hstack([model.rule_coefs, model.linear_coefs])).mean(axis=0)
    return np.abs(centred_terms(model, table)) * sizes


def centred_terms(model: RuleModel, table: CodedTable) -> FloatArray:
    """Return every term of every row less its mean over the training rows."""
    rules = [rule.holds(table) - s for rule, s in zip(model.rules, model.supports, strict=True)]
    return np.column_stack([*rules, model.linear.values(table)])


def feature_shares(model: RuleModel, n_features: int) -> FloatArray:
    """Return how each term's importance is split over the columns it speaks of.

    Shapes: returns (n_rules + n_linear, n_features).
    """
    shares = np.zeros((len(model.rules) + len(model.linear), n_features))
    for share, rule in zip(shares, model.rules, strict=False):
        share[list(rule.features)] = 1 / len(rule)
    lines = np.arange(len(model.linear))
    shares[len(model.rules) + lines, model.linear.features] = 1.0
    return shares
