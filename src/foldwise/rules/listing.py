"""Rule lists to read: a data frame, plain text, and one self-contained HTML page."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from foldwise.isle.data import Columns
from foldwise.rules.explain import term_importances, term_texts
from foldwise.rules.fitting import RuleModel
from foldwise.rules.text import rule_query

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #222; }
h1 { font-size: 1.3rem; } p { color: #555; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #e4e4e4; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
code { font: 13px/1.4 ui-monospace, monospace; }
.bar { height: .7rem; background: #2a6fb0; border-radius: 2px; } .bar.neg { background: #c4572e; }
@media (prefers-color-scheme: dark) {
  body { background: #181a1b; color: #ddd; } p { color: #aaa; }
  th, td { border-color: #333; }
}
"""


def rule_frame(model: RuleModel, columns: Columns, outputs: Sequence[Any]) -> pd.DataFrame:
    """Return the terms as a table, the most important first.

    Columns "rule" (text), "kind" ("rule" or "linear"), "coef" (for several classes one
    "coef_<class>" each; of linear terms in units of the column), "support", "importance",
    "n_conditions" and "query" (for ``DataFrame.query``; empty for linear terms).
    """
    n_rules, n_lines = len(model.rules), len(model.linear)
    coefs = np.hstack([model.rule_coefs, model.slopes])
    names = ["coef"] if len(coefs) == 1 else [f"coef_{output}" for output in outputs]
    queries = [*(rule_query(rule, columns) for rule in model.rules), *[""] * n_lines]
    frame = pd.DataFrame(
        {
            "rule": pd.Series(term_texts(model, columns), dtype=object),
            "kind": pd.Series(["rule"] * n_rules + ["linear"] * n_lines, dtype=object),
            **dict(zip(names, coefs, strict=True)),
            "support": np.concatenate([model.supports, np.ones(n_lines)]),
            "importance": term_importances(model),
            "n_conditions": [*map(len, model.rules), *[0] * n_lines],
            "query": pd.Series(queries, dtype=object),
        }
    )
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def rules_text(frame: pd.DataFrame, intercepts: Sequence[float], n_terms: int | None) -> str:
    """Return the rule list as plain text."""
    coefs = [name for name in frame.columns if name.startswith("coef")]
    head = " ".join(f"{value:+10.4g}" for value in intercepts)
    lines = [f"{head}  intercept"]
    for _, row in frame.head(len(frame) if n_terms is None else n_terms).iterrows():
        numbers = " ".join(f"{row[name]:+10.4g}" for name in coefs)
        where = f"  [{row['support']:.0%} of rows]" if row["kind"] == "rule" else ""
        lines.append(f"{numbers}  {row['rule']}{where}")
    hidden = len(frame) - len(lines) + 1
    return "\n".join(lines + ([f"... and {hidden} more"] if hidden > 0 else []))


def rules_html(frame: pd.DataFrame, intercepts: Sequence[float], title: str) -> str:
    """Return the rule list as one HTML page without scripts or outside references."""
    coefs = [name for name in frame.columns if name.startswith("coef")]
    longest = max(frame["importance"].max(), 1e-300) if len(frame) else 1.0
    rows = "".join(_html_row(row, coefs, longest) for _, row in frame.iterrows())
    heads = "".join(f'<th class="n">{escape(name)}</th>' for name in coefs)
    shown = ", ".join(f"{value:.4g}" for value in intercepts)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>"
        f"<p>{len(frame)} terms; intercept {shown}. A rule adds its coefficient to the rows it "
        "selects; a linear term adds its coefficient times the column's distance from its mean.</p>"
        f'<table><tr><th>term</th>{heads}<th class="n">rows</th><th>importance</th></tr>'
        f"{rows}</table></html>"
    )


def _html_row(row: Any, coefs: Sequence[str], longest: float) -> str:
    numbers = "".join(f'<td class="n">{row[name]:+.4g}</td>' for name in coefs)
    support = f"{row['support']:.1%}" if row["kind"] == "rule" else ""
    sign = " neg" if len(coefs) == 1 and row[coefs[0]] < 0 else ""
    width = 100 * row["importance"] / longest
    return (
        f"<tr><td><code>{escape(row['rule'])}</code></td>{numbers}"
        f'<td class="n">{support}</td><td style="width:20%">'
        f'<div class="bar{sign}" style="width:{width:.1f}%"></div></td></tr>'
    )
