"""What an estimator knows after fitting, whatever it is: coefficients, losses, models, rules."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from foldwise.report.blocks import Block, Column, Figure, Figures, PageTable, Section, Terms
from foldwise.report.drawing.bars import bars
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.stack_values import StackValues
from foldwise.wording import counted, number, percent, shortened

MOST_BARS = 20
MOST_ROWS = 15
MOST_TABLE_COLUMNS = 8
MOST_RULES = 40
MOST_ENSEMBLES = 3
MOST_CLASSES = 4
LONGEST_RULE = 200
TERMS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "n_estimators_": ("Learners", lambda v: f"{v:,}"),
    "n_trees_": ("Trees kept", lambda v: f"{v:,}"),
    "n_trees_grown_": ("Trees grown", lambda v: f"{v:,}"),
    "n_leaves_": ("Leaves kept", lambda v: f"{v:,}"),
    "speedup_": ("Faster to predict than all trees", lambda v: f"{v:.1f} times"),
    "n_candidates_": ("Rules tried", lambda v: f"{v:,}"),
    "lambda_": ("Penalty chosen", number),
    "best_score_": ("Best criterion", number),
    "candidates_": ("Searched over", str),
    "complete_": ("Search complete", lambda v: "yes" if v else "no, cut short"),
    "n_features_in_": ("Columns", lambda v: f"{v:,}"),
}
BARS = {
    "feature_importances_": ("Importance", "What the model itself says of its columns."),
    "inclusion_probability_": ("Inclusion probability", "How likely each column matters."),
    "selection_frequency_": ("Selection frequency", "In which share of the folds it was chosen."),
}
TABLES = {"best_by_size_": "The best of each size", "models_": "The most probable models"}


def model_section(model: Any) -> Section | None:
    """Return what a fitted estimator knows about itself."""
    terms = [
        (title, show(getattr(model, name)))
        for name, (title, show) in TERMS.items()
        if getattr(model, name, None) is not None
    ]
    figures = [*_coefficients(model), *_bars(model), *_curves(model)]
    blocks: list[Block] = [Terms(terms)] if terms else []
    blocks += [Figures(figures)] if figures else []
    blocks += [
        frame_table(getattr(model, name), title)
        for name, title in TABLES.items()
        if isinstance(getattr(model, name, None), pd.DataFrame)
    ]
    return Section("known", "What the model knows", "", blocks) if blocks else None


def _names(model: Any, count: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != count:
        return [f"x{i}" for i in range(count)]
    return [str(name) for name in names]


def _coefficients(model: Any) -> list[Figure]:
    coefs = np.asarray(getattr(model, "coef_", np.empty(0)), dtype=np.float64)
    coefs = coefs[0] if coefs.ndim == 2 and len(coefs) == 1 else coefs
    if coefs.ndim != 1 or not np.count_nonzero(coefs):
        return []
    spread = np.asarray(getattr(model, "coef_sd_", np.full(len(coefs), np.nan)))
    order = np.argsort(-np.abs(coefs), kind="stable")[:MOST_BARS]
    order = order[coefs[order] != 0]
    names = [_names(model, len(coefs))[i] for i in order]
    drawing = bars(names, coefs[order], spread[order], title="coefficients")
    kept = f"{np.count_nonzero(coefs)} of {len(coefs)} are not zero"
    more = ", lines are standard deviations" if np.isfinite(spread).any() else ""
    return [Figure("Coefficients", drawing, f"In units of the columns; {kept}{more}.")]


def _bars(model: Any) -> list[Figure]:
    figures = []
    for name, (title, caption) in BARS.items():
        values = np.asarray(getattr(model, name, np.empty(0)), dtype=np.float64)
        if values.ndim == 1 and len(values):
            order = np.argsort(-values, kind="stable")[:MOST_BARS]
            names = [_names(model, len(values))[i] for i in order]
            drawing = bars(names, values[order], title=title, show=percent)
            figures.append(Figure(title, drawing, caption))
    return figures


def _curves(model: Any) -> list[Figure]:
    figures = []
    path = getattr(model, "path_", None)
    loss = getattr(model, "cv_loss_", getattr(path, "cv_loss", None))
    if loss is not None:
        error = getattr(model, "cv_se_", getattr(path, "cv_se", None))
        figures.append(_loss_figure(np.asarray(loss), error, getattr(model, "index_", None)))
    rounds = getattr(model, "train_loss_", None)
    if rounds is not None and len(rounds) > 1:
        curve, axes = [Line(rounds, dots=False)], ("learners", "training loss")
        title = "training loss by number of learners"
        drawing = lines(range(1, len(rounds) + 1), curve, axes=axes, title=title)
        figures.append(Figure("Training loss", drawing, "On the rows it was fitted on."))
    return figures


def _loss_figure(loss: Any, error: Any, index: Any) -> Figure:
    half = np.zeros(len(loss)) if error is None else np.asarray(error, dtype=np.float64)
    line = Line(loss, low=loss - half, high=loss + half, dots=False)
    chosen = np.where(np.arange(len(loss)) == (-1 if index is None else index), loss, np.nan)
    axes = "step along the path, from strong to weak penalty", "held-out loss"
    both, title = [line, Line(chosen, tone=2)], "held-out loss along the path"
    drawing = lines(range(1, len(loss) + 1), both, axes=axes, title=title)
    caption = "With its standard error; the dot is what was chosen. Its lowest point is no score."
    return Figure("Held-out loss", drawing, caption)


def frame_table(frame: pd.DataFrame, title: str) -> PageTable:
    """Return the first rows and columns of a data frame as a table."""
    shown = frame.iloc[:MOST_ROWS, :MOST_TABLE_COLUMNS]
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in shown.dtypes]
    columns = [
        Column(shortened(str(name).replace("_", " "), 30), "number" if is_number else "text")
        for name, is_number in zip(shown.columns, numeric, strict=True)
    ]
    rows = [
        [
            number(float(cell)) if is_number else shortened(_words(cell), 120)
            for cell, is_number in zip(row, numeric, strict=True)
        ]
        for row in shown.itertuples(index=False)
    ]
    return PageTable(columns, rows, title=title, left_out=len(frame) - len(shown))


def _words(cell: Any) -> str:
    if isinstance(cell, list | tuple):
        return ", ".join(str(c) for c in cell) or "none"
    return str(cell)


def rule_table(rules: pd.DataFrame, title: str = "") -> PageTable:
    """Return a rule list, the most important first."""
    coefs = [name for name in rules.columns if str(name).startswith("coef")][:MOST_CLASSES]
    adds = [shortened(str(name).replace("coef_", "adds to "), 30) for name in coefs]
    titles = [*[text.replace("coef", "adds") for text in adds], "holds for", "importance"]
    columns = [Column("rule"), *[Column(title, "number") for title in titles]]
    rows = [
        [
            shortened(row["rule"], LONGEST_RULE),
            *[number(float(row[name])) for name in coefs],
            percent(float(row["support"])) if row["kind"] == "rule" else "slope",
            number(float(row["importance"])),
        ]
        for row in rules.head(MOST_RULES).to_dict("records")
    ]
    left_out = len(rules) - len(rows)
    return PageTable(columns, rows, title=title, wide=True, shown=15, left_out=left_out)


def rules_section(rules: pd.DataFrame) -> Section:
    """Return the rules of a rule ensemble."""
    lead = f"The model is a sum of {counted(len(rules), 'term')}, the most important first."
    return Section("rules", "The rules", lead, [rule_table(rules)])


def rule_ensembles(learners: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule ensembles among a stack's learners, one fitted model of each."""
    found = {}
    for name, learner in learners.items():
        models = getattr(learner, "models", [learner])
        model = getattr(models[0], "model", models[0])
        steps = getattr(model, "steps", None)
        model = steps[-1][1] if steps else model
        if hasattr(model, "rules_"):
            found[name] = model
    return found


def stack_rules_section(stack: StackValues) -> Section | None:
    """Return the rules of a stack's rule ensembles, None if it has none."""
    found = rule_ensembles(stack.fitted.named_estimators_)
    if not found:
        return None
    tables = [
        rule_table(model.rules_, f"{shortened(name)}, one of its fold models")
        for name, model in list(found.items())[:MOST_ENSEMBLES]
    ]
    lead = f"{counted(len(found), 'learner')} of the stack can be read as rules."
    return Section("rules", "The rules", lead, tables)
