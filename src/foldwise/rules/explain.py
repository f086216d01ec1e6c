"""How much each term and each column matters, over all rows or in a region, and why one row."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray
from foldwise.isle.data import CodedTable, Columns
from foldwise.isle.linear_terms import TYPICAL_RULE_DEVIATION
from foldwise.rules.fitting import RuleModel
from foldwise.rules.text import number_text, rule_text

# Terms written out when an explanation is printed; the rest is summed up.
SHOWN = 10


def term_importances(model: RuleModel) -> FloatArray:
    """Return the importance of each term: |coefficient| times the term's standard deviation."""
    # Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 6.
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
    return np.column_stack([*rules, model.linear.matrix(table)])


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


@dataclass(frozen=True)
class Explanation:
    """A prediction taken apart: ``decision == base + terms["contribution"].sum()``."""

    decision: float  # the row's sum (a logit for classes, a logarithm for counts)
    base: float  # what an average row gets
    # one row a term, largest contribution first: its text, whether the rule holds (or the
    # column's value for a linear term), and how far it moves the row from the base
    terms: pd.DataFrame

    def __str__(self) -> str:
        shown, rest = self.terms.head(SHOWN), self.terms.iloc[SHOWN:]
        lines = [f"{self.base:+10.4g}  average row"]
        lines += [
            f"{row.contribution:+10.4g}  {row.text}  [{row.value}]" for row in shown.itertuples()
        ]
        if len(rest):
            lines.append(f"{rest['contribution'].sum():+10.4g}  {len(rest)} smaller terms")
        return "\n".join([*lines, f"{self.decision:+10.4g}  this row"])


def term_texts(model: RuleModel, columns: Columns) -> list[str]:
    """Return the text of each rule, then of each linear term."""
    terms = zip(model.linear.features, model.linear.low, model.linear.high, strict=True)
    lines = [f"{columns.names[k]} (linear from {low:.4g} to {high:.4g})" for k, low, high in terms]
    return [*(rule_text(rule, columns) for rule in model.rules), *lines]


def explain_row(model: RuleModel, row: CodedTable, output: int) -> Explanation:
    """Return the explanation of one row."""
    coefs = np.concatenate([model.rule_coefs[output], model.linear_coefs[output]])
    contributions = centred_terms(model, row)[0] * coefs
    held = ["holds" if rule.holds(row)[0] else "does not hold" for rule in model.rules]
    values = [number_text(row.column(int(feature))[0]) for feature in model.linear.features]
    words = {"text": term_texts(model, row.columns), "value": [*held, *values]}
    terms = pd.DataFrame({**words, "contribution": contributions})[contributions != 0]
    terms = terms.sort_values("contribution", key=abs, ascending=False, kind="stable")
    base = float(model.intercepts[output] + model.rule_coefs[output] @ model.supports)
    return Explanation(base + float(contributions.sum()), base, terms)
