"""Per-fold results, failures and warnings, and time spent."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from foldwise.report.bars import bars
from foldwise.report.blocks import Block, Column, Facts, Figure, Figures, Prose, Section, Table
from foldwise.report.curves import Line, lines
from foldwise.report.standings import BEST, STACK, Standing
from foldwise.report.wording import metric_name, stacker_name
from foldwise.wording import counted, duration, enumerated, number, percent, shortened

MOST_FAILURES = 20
MOST_BARS = 20
LONGEST_REASON = 300
FEW_ROWS = 30


def folds_section(stack: Any) -> Section | None:
    """Return the score of each judged fold and the stacker chosen without it."""
    metric, n_repeats = stack._metric, len(stack.deals_)
    judged = [
        (repeat, judgement, fold)
        for repeat, deal in enumerate(stack.deals_)
        for judgement, fold in zip(deal.reading.judgements, deal.verdict.folds, strict=True)
    ]
    if not judged:
        return None
    values = [metric.natural(float(score)) for score in stack.fold_scores_]
    rows = [
        [
            str(fold.fold + 1) if n_repeats == 1 else f"{fold.fold + 1} of repeat {repeat + 1}",
            f"{len(judgement.test.rows):,}",
            number(value),
            stacker_name(fold.stacker),
        ]
        for (repeat, judgement, fold), value in zip(judged, values, strict=True)
    ]
    name = metric_name(metric.name)
    columns = [Column("fold"), Column("rows", "number"), Column(name, "number"), Column("stacker")]
    drawing = lines(
        [row[0].replace(" of repeat ", "/") for row in rows],
        [Line(values)],
        x_title="fold",
        y_title=name,
        title="score of each fold",
        level=metric.natural(stack.score_),
    )
    figure = Figure("Fold by fold", drawing, "The dashed line is the score over all folds.")
    spread = f"{name} runs from {number(min(values))} to {number(max(values))} over the folds."
    table = Table(columns, rows[:60], left_out=max(0, len(rows) - 60))
    return Section("folds", "Fold by fold", spread, [Figures([figure]), table], folded=True)


def warnings_section(
    stack: Any, standings: Sequence[Standing], skipped: Mapping[str, str] = MappingProxyType({})
) -> Section:
    """Return what failed, and what a reader of the score should know."""
    failures = list({**stack.failures_, **skipped}.items())
    blocks: list[Block] = [Prose(text, warning=True) for text in cautions(stack, standings)]
    if failures:
        rows = [
            [shortened(name), shortened(reason, LONGEST_REASON)]
            for name, reason in failures[:MOST_FAILURES]
        ]
        blocks.append(
            Table(
                [Column("left out"), Column("why")],
                rows,
                left_out=len(failures) - len(rows),
            )
        )
    lead = "Nothing failed and nothing stands out." if not blocks else ""
    if failures:
        lead = f"{counted(len(failures), 'learner')} failed or was left out."
        lead = lead if len(failures) == 1 else lead.replace("was", "were")
    return Section("warnings", "Failures and warnings", lead, blocks)


def cautions(stack: Any, standings: Sequence[Standing]) -> list[str]:
    """Return what a reader of the score should know, one sentence each."""
    deal, said = stack.deals_[0], []
    run = getattr(stack, "run_", None)
    if run is not None and run.partial:
        said.append(f"The run was cut short: {run.reason.rstrip('.')}.")
    by_name = {s.model: s for s in standings}
    best = by_name.get(BEST)
    if best is not None and best.gain_error > 0 and best.gain < -best.gain_error:
        said.append(
            "The stack is behind its best single model: use that one alone, add learners that "
            "err elsewhere, or set final_estimator='best'."
        )
    uncovered = int((deal.lattice.fold_of < 0).sum())
    if uncovered and deal.lattice.kind != "single":
        said.append(
            f"{counted(uncovered, 'row')} ({percent(uncovered / deal.lattice.n_rows)}) are tested "
            "by no split; they have no out-of-fold prediction and do not enter the score."
        )
    if deal.reading.in_order:
        said.append(
            "Rows are in time order: the score is about the judged periods, and the future may "
            "differ from them."
        )
    labels = deal.top.problem.labels
    if labels is not None:
        counts = np.bincount(deal.top.problem.data.y, minlength=len(labels))
        rare = [shortened(labels[i], 30) for i in np.flatnonzero(counts < FEW_ROWS)]
        if rare:
            noun = "class has" if len(rare) == 1 else "classes have"
            said.append(
                f"{len(rare)} {noun} fewer than {FEW_ROWS} rows ({enumerated(rare, 4)}): what is "
                "said about them is uncertain."
            )
    return said


def time_section(standings: Sequence[Standing]) -> Section:
    """Return where the time went."""
    learners = sorted(
        (s for s in standings if s.learns), key=lambda s: -s.fit_seconds - s.predict_seconds
    )
    stack = next(s for s in standings if s.model == STACK)
    slow = learners[:MOST_BARS]
    drawing = bars(
        [s.model for s in slow],
        [s.fit_seconds for s in slow],
        title="time spent fitting each learner",
        show=duration,
    )
    facts = Facts(
        [
            ("Fitting", duration(stack.fit_seconds)),
            ("Predicting out of fold", duration(stack.predict_seconds)),
        ]
    )
    lead = f"Fitting all learners at all nodes took {duration(stack.fit_seconds)}."
    figure = Figure("Fitting, by learner", drawing, "Sum over nodes and processes.")
    return Section("time", "Time spent", lead, [facts, Figures([figure])], folded=True)
