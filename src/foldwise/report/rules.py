"""Rule lists, of a rule ensemble itself or of the rule ensembles in a stack."""

from typing import Any

import pandas as pd

from foldwise.report.blocks import Column, Section, Table
from foldwise.wording import counted, number, percent, shortened

MOST_RULES = 40
MOST_ENSEMBLES = 3
MOST_CLASSES = 4
LONGEST_RULE = 200


def rule_table(rules: pd.DataFrame, title: str = "") -> Table:
    """Return a rule list, the most important first."""
    coefs = [name for name in rules.columns if str(name).startswith("coef")][:MOST_CLASSES]
    columns = [
        Column("rule"),
        *[Column(shortened(str(name).replace("coef_", "adds to "), 30).replace("coef", "adds"),
                 "number") for name in coefs],
        Column("holds for", "number"),
        Column("importance", "number"),
    ]  # fmt: skip
    rows = [
        [
            shortened(row["rule"], LONGEST_RULE),
            *[number(float(row[name])) for name in coefs],
            percent(float(row["support"])) if row["kind"] == "rule" else "slope",
            number(float(row["importance"])),
        ]
        for row in rules.head(MOST_RULES).to_dict("records")
    ]
    return Table(
        columns, rows, title=title, wide=True, shown=15, left_out=max(0, len(rules) - len(rows))
    )


def rule_ensembles(stack: Any) -> dict[str, Any]:
    """Return the rule ensembles among a stack's learners, one fitted model of each."""
    found = {}
    for name, learner in stack.named_estimators_.items():
        models = getattr(learner, "models", [learner])
        model = getattr(models[0], "model", models[0])
        steps = getattr(model, "steps", None)
        model = steps[-1][1] if steps else model
        if hasattr(model, "rules_"):
            found[name] = model
    return found


def rules_section(stack: Any) -> Section | None:
    """Return the rules of a stack's rule ensembles, None if it has none."""
    found = rule_ensembles(stack)
    if not found:
        return None
    tables = [
        rule_table(model.rules_, f"{shortened(name)}, one of its fold models")
        for name, model in list(found.items())[:MOST_ENSEMBLES]
    ]
    lead = f"{counted(len(found), 'learner')} of the stack can be read as rules."
    return Section("rules", "The rules", lead, tables)
