"""The terms of a rule ensemble: their path, and the sum of those that are kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.isle.choice import Grown
from foldwise.isle.data import CodedTable, TreeData
from foldwise.isle.linear_terms import LinearTerms
from foldwise.isle.postprocess import terms_path
from foldwise.rules.dictionary import Bits, TermDictionary
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


def fit_terms(
    dictionary: TermDictionary, rows: TreeData, bits: Bits | None = None, **options: Any
) -> Grown:
    """Return the path of the terms of a dictionary on some rows; ``bits`` are its rules' there."""
    D = dictionary.matrix(rows.table, bits)
    return Grown(rows, dictionary, terms_path(D, rows, **options))
