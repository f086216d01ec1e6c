"""Why one row got its prediction."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from foldwise.isle.table import CodedTable, Columns
from foldwise.rules.importance import centred_terms
from foldwise.rules.rule_model import RuleModel
from foldwise.rules.text import number_text, rule_text

SHOWN = 10
"""Terms written out when an explanation is printed; the rest is summed up."""


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
    lines = [
        f"{columns.names[feature]} (linear from {low:.4g} to {high:.4g})"
        for feature, low, high in zip(
            model.linear.features, model.linear.low, model.linear.high, strict=True
        )
    ]
    return [*(rule_text(rule, columns) for rule in model.rules), *lines]


def explain_row(model: RuleModel, row: CodedTable, output: int) -> Explanation:
    """Return the explanation of one row."""
    coefs = np.concatenate([model.rule_coefs[output], model.linear_coefs[output]])
    contributions = centred_terms(model, row)[0] * coefs
    held = ["holds" if rule.holds(row)[0] else "does not hold" for rule in model.rules]
    values = [number_text(row.column(int(feature))[0]) for feature in model.linear.features]
    terms = pd.DataFrame(
        {
            "text": term_texts(model, row.columns),
            "value": [*held, *values],
            "contribution": contributions,
        }
    )
    terms = terms[contributions != 0]
    order = np.argsort(-terms["contribution"].abs().to_numpy(), kind="stable")
    base = float(model.intercepts[output] + model.rule_coefs[output] @ model.supports)
    return Explanation(base + float(contributions.sum()), base, terms.iloc[order])
