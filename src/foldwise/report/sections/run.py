"""What went wrong, where the time went, and how to get the same model again."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn import config_context

import foldwise
from foldwise.report.blocks import (
    Block,
    Code,
    Column,
    Figure,
    Figures,
    PageTable,
    Prose,
    Section,
    Terms,
)
from foldwise.report.drawing.bars import bars
from foldwise.report.stack_values import BEST, STACK, StackValues
from foldwise.wording import counted, duration, enumerated, percent, shortened

MOST_FAILURES = 20
MOST_BARS = 20
LONGEST_REASON = 300
FEW_ROWS = 30
LONGEST = 20_000
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "lightgbm")


def warnings_section(stack: StackValues, skipped: Mapping[str, str]) -> Section:
    """Return what failed, and what a reader of the score should know."""
    failures = list({**stack.fitted.failures_, **skipped}.items())
    blocks: list[Block] = [Prose(text, warning=True) for text in cautions(stack)]
    if failures:
        shown = failures[:MOST_FAILURES]
        rows = [[shortened(name), shortened(why, LONGEST_REASON)] for name, why in shown]
        columns = [Column("left out"), Column("why")]
        blocks.append(PageTable(columns, rows, left_out=len(failures) - len(rows)))
    lead = "Nothing failed and nothing stands out." if not blocks else ""
    if failures:
        were = "was" if len(failures) == 1 else "were"
        lead = f"{counted(len(failures), 'learner')} failed or {were} left out."
    return Section("warnings", "Failures and warnings", lead, blocks)


def cautions(stack: StackValues) -> list[str]:
    """Return what a reader of the score should know, one sentence each."""
    said, run = [], getattr(stack.fitted, "run_", None)
    if run is not None and run.partial:
        said.append(f"The run was cut short: {run.reason.rstrip('.')}.")
    best = next((s for s in stack.standings if s.model == BEST), None)
    if best is not None and best.gain_error > 0 and best.gain < -best.gain_error:
        said.append(
            "The stack is behind its best single model: use that one alone, add learners that "
            "err elsewhere, or set final_estimator='best'."
        )
    uncovered = int((stack.lattice.fold_of < 0).sum())
    if uncovered and stack.lattice.kind != "single":
        share = percent(uncovered / stack.lattice.n_rows)
        said.append(
            f"{counted(uncovered, 'row')} ({share}) are tested by no split; they have no "
            "out-of-fold prediction and do not enter the score."
        )
    if stack.reading.in_order:
        said.append(
            "Rows are in time order: the score is about the judged periods, and the future may "
            "differ from them."
        )
    labels = stack.target.labels
    if labels is not None:
        counts = np.bincount(stack.target.y, minlength=len(labels))
        rare = [shortened(labels[i], 30) for i in np.flatnonzero(counts < FEW_ROWS)]
        if rare:
            said.append(
                f"{counted(len(rare), 'class has', 'classes have')} fewer than {FEW_ROWS} rows "
                f"({enumerated(rare, 4)}): what is said about them is uncertain."
            )
    return said


def time_section(stack: StackValues) -> Section:
    """Return where the time went."""
    learners = [s for s in stack.standings if s.learns]
    slow = sorted(learners, key=lambda s: -s.fit_seconds - s.predict_seconds)[:MOST_BARS]
    own = next(s for s in stack.standings if s.model == STACK)
    models, spent = [s.model for s in slow], [s.fit_seconds for s in slow]
    drawing = bars(models, spent, title="time spent fitting each learner", show=duration)
    fitting, predicting = duration(own.fit_seconds), duration(own.predict_seconds)
    terms = Terms([("Fitting", fitting), ("Predicting out of fold", predicting)])
    figure = Figure("Fitting, by learner", drawing, "Sum over nodes and processes.")
    lead = f"Fitting all learners at all nodes took {fitting}."
    return Section("time", "Time spent", lead, [terms, Figures([figure])], folded=True)


def reproduce_section(model: Any) -> Section:
    """Return the model's parameters as code, and the versions of what it was made with."""
    with config_context(print_changed_only=True):
        text = model.__repr__(N_CHAR_MAX=LONGEST) if hasattr(model, "get_params") else repr(model)
    versions = [("Python", platform.python_version()), ("foldwise", foldwise.__version__)]
    versions += [(name, version(name)) for name in PACKAGES]
    blocks: list[Block] = [Code(f"{text[:LONGEST]}.fit(X, y)".split("\n")), Terms(versions)]
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    lead = "The same rows, parameters and versions give the same model."
    if "random_state" in parameters and parameters["random_state"] is None:
        lead = (
            "random_state was not set, so another fit deals the rows differently. Set it to get "
            "the same model from the same rows, parameters and versions."
        )
    return Section("reproduce", "How to reproduce", lead, blocks, folded=True)
