"""How the score was obtained, a check that nothing leaked into it, and the score of each fold."""

from typing import Any

import numpy as np

from foldwise.diagnose import leak_audit
from foldwise.report.blocks import Block, Column, Figure, Figures, PageTable, Prose, Section, Terms
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.stack_values import StackValues
from foldwise.stack.stackers.further import FurtherStacker
from foldwise.wording import counted, decimals_for, metric_name, number, shortened, with_error

KINDS = {
    "partition": "each row is tested once",
    "forward": "forward in time, each fold predicted from earlier rows only",
    "single": "one split (blending): learners see one part, the stacker the other",
}
JUDGES = {
    "choice seen": "the stacker chosen by the folds it is judged on",
    "features seen": "as most libraries do: the stacker alone cross-validated",
    "fit seen": "the stacker on the rows it was trained on",
}
STACKERS = {
    "GreedyStacker": "a mean of learners picked one by one",
    "LassoClassStacker": "logistic lasso on the learners",
    "LassoStacker": "lasso regression on the learners",
    "LogisticRegression": "logistic regression on the learners",
    "OneClass": "the only class there is",
    "PoolStacker": "a weighted pool of logits",
    "RankStacker": "the mean of the learners' ranks",
    "RidgeStacker": "ridge regression on the learners",
}
RULES = {
    "mean": "the plain mean of the learners",
    "best": "the best single learner",
    "nnls": "a weighted mean with non-negative weights",
    "simplex": "a weighted mean, weights summing to one",
    "log_score": "a mean weighted for the log score",
    "weighted_mean": "a mean of the learners with given weights",
}
# Up to which any stacker may be fitted a few times more.
FEW_ROWS = 20_000
DEPLOYED = {
    "folds": "the mean of the models fitted without one fold",
    "refit": "models fitted again on all rows",
    "pairs": "the mean of the models fitted without two folds",
}
MOST_FOLDS = 60
TITLE = "How the score was obtained"


def stacker_name(stacker: Any) -> str:
    """Return what stands on top, in words."""
    if isinstance(stacker, FurtherStacker):
        return f"{stacker_name(stacker.base)}, from which boosting goes on"
    kind = type(stacker).__name__
    rule = getattr(stacker, "rule", None)
    if isinstance(rule, str) and kind not in STACKERS:
        return RULES.get(rule, rule.replace("_", " "))
    return STACKERS.get(kind, kind)


def honesty_section(stack: StackValues) -> Section:
    """Return how rows were dealt, what was fitted, and the audit."""
    fitted, lattice, reading = stack.fitted, stack.lattice, stack.reading
    groups = unjudged = ""
    if stack.groups is not None:
        n_groups = len(np.unique(stack.groups))
        groups = f"{n_groups:,}, each in one fold; standard errors are over groups"
    if reading.unjudged:
        folds = ", ".join(str(fold + 1) for fold in reading.unjudged)
        nothing = "nothing came before" if reading.in_order else "no other fold has rows"
        unjudged = f"fold {folds}: {nothing} to train a stacker on"
    deployed = DEPLOYED.get(reading.predict_with, reading.predict_with)
    if lattice.kind == "single" and reading.predict_with == "folds":
        deployed = "the models fitted without the held-out part"
    pairs = [
        ("Rows", f"{lattice.n_rows:,}, of which {stack.n_judged:,} were judged"),
        ("Folds", f"{lattice.n_folds}, {KINDS[lattice.kind]}"),
        ("Groups", groups),
        ("Repeats", str(len(fitted.deals_))),
        ("Fits of learners", f"{fitted.n_fits_:,}"),
        ("On top", f"{stacker_name(fitted.stacker_)}{_chosen(stack)}"),
        ("New rows get", deployed),
        ("Calibrated by", getattr(getattr(fitted, "calibrator_", None), "method", "")),
        ("Not judged", unjudged),
        ("Corrected", _corrected(stack)),
        ("Heavy tails", getattr(fitted, "score_note_", "")),
    ]
    blocks: list[Block] = [Terms([pair for pair in pairs if pair[1]])]
    if not stack.folds:
        return Section("honesty", TITLE, "Nothing was judged.", blocks)
    lead = (
        "For each fold the whole procedure (learners, stacker and every choice) was repeated "
        "without it, and that stack predicted the fold. The score is over these predictions."
    )
    blocks.append(_audit_prose(stack))
    known = stack.table is not None and stack.table.claims is not None
    if known and (stack.cheap or lattice.n_rows <= FEW_ROWS):
        blocks.append(_gap_table(stack))
    return Section("honesty", TITLE, lead, blocks)


def _corrected(stack: StackValues) -> str:
    """Say what was done about judged models having seen fewer rows."""
    done = getattr(stack.fitted, "score_correction_", None)
    if done is None or not stack.folds:
        return ""
    before = number(stack.metric.natural(stack.fitted.score_uncorrected_))
    return f"{'no' if done.kind == 'none' else f'from {before}'}: {done.reason}"


def _gap_table(stack: StackValues) -> PageTable:
    metric, audit = stack.metric, leak_audit(stack.table)
    own = with_error(metric.natural(audit.score), audit.score_se)
    rows = [["honest: everything repeated without the fold, uncorrected", own, ""]]
    for claim in audit.claims:
        value = number(metric.natural(claim.score), decimals_for(audit.score_se))
        gap = with_error(claim.gap, claim.gap_se)
        rows.append([JUDGES.get(claim.name, claim.name), value, gap])
    titles = (metric_name(metric.name), "looks better by")
    columns = [Column("judged"), *[Column(title, "number") for title in titles]]
    note = (
        "A negative difference is chance, or comes from judging one model a fold where the mean "
        "of several is deployed."
    )
    title = "What less careful judging would say"
    return PageTable(columns, rows, title=title, note=note, strong=0)


def _audit_prose(stack: StackValues) -> Prose:
    audit = stack.audit
    if audit.clean:
        return Prose(
            f"Leak audit: for each learner, the {counted(audit.n_reads, 'prediction')} that "
            "judging rests on were traced to the rows their model was fitted on. None came from a "
            "model that had seen the row or the judged fold, and no group stands on both sides."
        )
    return Prose(
        f"Leak audit: {counted(audit.n_seen, 'prediction')} of {audit.n_reads:,} came from a model "
        f"that had seen the row or its fold, and {counted(audit.n_shared_groups, 'group')} stand "
        "on both sides of a judged fold. The score may be too good; check the splits given as cv.",
        warning=True,
    )


def _chosen(stack: StackValues) -> str:
    own = stacker_name(stack.fitted.stacker_)
    names = [stacker_name(fold.stacker) for fold in stack.folds]
    others = sorted(set(names) - {own})
    if not others:
        return ""
    return (
        f" (also chosen without the fold in {names.count(own)} of {len(names)} judged folds; "
        f"elsewhere {shortened(', '.join(others))})"
    )


def folds_section(stack: StackValues) -> Section | None:
    """Return the score of each judged fold and the stacker chosen without it."""
    if not stack.folds:
        return None
    values = [fold.value for fold in stack.folds]
    rows = [
        [fold.name, f"{fold.n_rows:,}", number(fold.value), stacker_name(fold.stacker)]
        for fold in stack.folds
    ]
    name = metric_name(stack.metric.name)
    columns = [Column("fold"), Column("rows", "number"), Column(name, "number"), Column("stacker")]
    names = [fold.name.replace(" of repeat ", "/") for fold in stack.folds]
    level, axes = stack.metric.natural(stack.fitted.score_), ("fold", name)
    drawing = lines(names, [Line(values)], axes=axes, title="score of each fold", level=level)
    figure = Figure("Fold by fold", drawing, "The dashed line is the score over all folds.")
    spread = f"{name} runs from {number(min(values))} to {number(max(values))} over the folds."
    table = PageTable(columns, rows[:MOST_FOLDS], left_out=max(0, len(rows) - MOST_FOLDS))
    return Section("folds", "Fold by fold", spread, [Figures([figure]), table], folded=True)
