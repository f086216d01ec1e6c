"""How the score was obtained, and a check that nothing leaked into it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.diagnose import LeakAudit, OutOfFoldTable, leak_audit
from foldwise.report.blocks import Block, Column, Facts, Prose, Section, Table
from foldwise.report.wording import metric_name, stacker_name
from foldwise.stack.fit import FittedStack
from foldwise.wording import counted, decimals_for, number, percent, shortened, with_error

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
FEW_ROWS = 20_000
"""Up to which any stacker may be fitted a few times more."""
DEPLOYED = {
    "folds": "the mean of the models fitted without one fold",
    "refit": "models fitted again on all rows",
    "pairs": "the mean of the models fitted without two folds",
}


@dataclass(frozen=True)
class RowAudit:
    """What was looked at, and what was found."""

    n_reads: int  # how many predictions used for judging were traced to the rows their model saw
    n_seen: int  # how many of them came from a model that had seen the row or the judged fold
    n_shared_groups: int  # how many groups stand on both sides of a judged fold

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return self.n_seen == 0 and self.n_shared_groups == 0


def audit_rows(deal: FittedStack) -> RowAudit:
    """Trace every prediction used for judging to the rows its model was fitted on."""
    n_reads = n_seen = n_shared = 0
    unit = deal.top.problem.data.groups
    for judgement in deal.reading.judgements:
        held = np.zeros(deal.lattice.n_rows, dtype=bool)
        held[judgement.test.rows] = True
        for block in (*judgement.train, judgement.test):
            for node in {ref.node for ref in block.refs}:
                saw = np.zeros(deal.lattice.n_rows, dtype=bool)
                saw[deal.lattice.rows(node)] = True
                n_reads += len(block.rows)
                n_seen += len(block.rows) if (saw & held).any() else int(saw[block.rows].sum())
        trained = np.concatenate([block.rows for block in judgement.train])
        n_seen += int(held[trained].sum())
        if unit is not None:
            n_shared += len(np.intersect1d(unit[trained], unit[judgement.test.rows]))
    return RowAudit(n_reads, n_seen, n_shared)


def honesty_section(stack: Any, table: OutOfFoldTable | None) -> Section:
    """Return how rows were dealt, what was fitted, and the audit."""
    deal = stack.deals_[0]
    reading, lattice = deal.reading, deal.lattice
    judged = sum(len(j.test.rows) for j in reading.judgements)
    pairs = [
        ("Rows", f"{lattice.n_rows:,}, of which {judged:,} were judged"),
        ("Folds", f"{lattice.n_folds}, {KINDS[lattice.kind]}"),
        ("Groups", _groups(deal)),
        ("Repeats", str(len(stack.deals_))),
        ("Fits of learners", f"{stack.n_fits_:,}"),
        ("On top", f"{stacker_name(stack.stacker_)}{_chosen(stack)}"),
        ("New rows get", _deployed(deal)),
    ]
    calibration = getattr(getattr(stack, "calibrator_", None), "method", None)
    if calibration is not None:
        pairs.append(("Calibrated by", str(calibration)))
    if reading.unjudged:
        folds = ", ".join(str(fold + 1) for fold in reading.unjudged)
        pairs.append(("Not judged", f"fold {folds}: nothing came before to train a stacker on"))
    blocks: list[Block] = [Facts([pair for pair in pairs if pair[1]])]
    if not reading.judgements:
        return Section("honesty", "How the score was obtained", "Nothing was judged.", blocks)
    lead = (
        "For each fold the whole procedure (learners, stacker and every choice) was repeated "
        "without it, and that stack predicted the fold. The score is over these predictions."
    )
    blocks.append(_audit_prose(stack))
    if table is not None and (is_cheap(stack.stacker_) or lattice.n_rows <= FEW_ROWS):
        blocks.append(_gap_table(leak_audit(table), stack))
    return Section("honesty", "How the score was obtained", lead, blocks)


def is_cheap(stacker: Any) -> bool:
    """Tell whether a stacker is a weighted mean or linear, so that fitting it costs little."""
    return hasattr(stacker, "weights_") or hasattr(stacker, "coef_")


def _gap_table(audit: LeakAudit, stack: Any) -> Table:
    metric = stack._metric
    own = with_error(metric.natural(audit.score), audit.score_se)
    rows = [["honest: everything repeated without the fold", own, ""]]
    rows += [
        [JUDGES.get(c.name, c.name), number(metric.natural(c.score), decimals_for(audit.score_se)),
         with_error(c.gap, c.gap_se)]
        for c in audit.claims
    ]  # fmt: skip
    columns = [
        Column("judged"),
        Column(metric_name(metric.name), "number"),
        Column("looks better by", "number"),
    ]
    note = (
        "A negative difference is chance, or comes from judging one model a fold where the mean "
        "of several is deployed."
    )
    return Table(columns, rows, title="What less careful judging would say", note=note, strong=0)


def _audit_prose(stack: Any) -> Prose:
    audits = [audit_rows(deal) for deal in stack.deals_]
    n_reads = sum(audit.n_reads for audit in audits)
    if all(audit.clean for audit in audits):
        return Prose(
            f"Leak audit: for each learner, the {counted(n_reads, 'prediction')} that judging "
            "rests on were traced to the rows their model was fitted on. None came from a model "
            "that had seen the row or the judged fold, and no group stands on both sides."
        )
    n_seen = sum(audit.n_seen for audit in audits)
    n_groups = sum(audit.n_shared_groups for audit in audits)
    return Prose(
        f"Leak audit: {counted(n_seen, 'prediction')} of {n_reads:,} came from a model that had "
        f"seen the row or its fold, and {counted(n_groups, 'group')} stand on both sides of a "
        "judged fold. The score may be too good; check the splits given as cv.",
        warning=True,
    )


def _deployed(deal: FittedStack) -> str:
    mode = deal.reading.predict_with
    if deal.lattice.kind == "single" and mode == "folds":
        return "the models fitted without the held-out part"
    return DEPLOYED.get(mode, mode)


def _groups(deal: FittedStack) -> str:
    unit = deal.top.problem.data.groups
    if unit is None:
        return ""
    return f"{len(np.unique(unit)):,}, each in one fold; standard errors are over groups"


def _chosen(stack: Any) -> str:
    folds = [fold for deal in stack.deals_ for fold in deal.verdict.folds]
    same = [fold for fold in folds if stacker_name(fold.stacker) == stacker_name(stack.stacker_)]
    if not folds or len(same) == len(folds):
        return ""
    return (
        f" (the same was chosen without the fold in {percent(len(same) / len(folds))} of the "
        f"judged folds; elsewhere {shortened(_others(folds, stack))})"
    )


def _others(folds: Any, stack: Any) -> str:
    names = {stacker_name(fold.stacker) for fold in folds} - {stacker_name(stack.stacker_)}
    return ", ".join(sorted(names))
