"""The sum of the terms that a rule ensemble keeps; model files know it by this module's name."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.isle.data import CodedTable
from foldwise.isle.linear_terms import LinearTerms
from foldwise.rules.dictionary import TermDictionary
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
        out += self.linear.matrix(table) @ self.linear_coefs.T
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
    kept = tuple(dictionary.rules[k] for k in rules), dictionary.supports[rules]
    by_kind = coefs[:, rules], coefs[:, n_rules + lines]
    return RuleModel(*kept, dictionary.linear[lines], *by_kind, intercepts)
