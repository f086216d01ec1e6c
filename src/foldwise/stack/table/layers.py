"""What upper layers need: learners fitted on those below, whose answers the metric can score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise.errors import invalid_parameter
from foldwise.folds import Block, Lattice, Needs, Node, Reading, Ref, upper_blocks
from foldwise.learners import NodeTask, TrainingData
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.table.jobs import FitSettings, fit_cells
from foldwise.stack.table.read import Cell, Layer, NodeTable, fold_numbers, rows_of, weights_of


@dataclass(frozen=True)
class Dealt:
    """One deal of the rows."""

    lattice: Lattice  # the folds and their nodes
    reading: Reading  # what is read from which node
    needs: list[Needs]  # what each layer must be fitted at for it, the lowest first


def drop_outside_domain(
    table: NodeTable,
    entries: Sequence[Entry],
    problem: StackProblem,
    reading: Reading,
    settings: FitSettings,
) -> None:
    """Drop learners whose predictions the metric cannot score, e.g. negative ones of counts."""
    metric = settings.metric
    assert metric is not None
    blocks = [judgement.test for judgement in reading.judgements] or list(reading.final)
    target = problem.target(rows_of(blocks), fold_numbers(blocks))
    for entry in [e for e in entries if e.name not in table.failures]:
        response = Layer((entry,), table, problem).features(blocks).alone(0)
        reason = metric.outside(response, target)
        if reason is not None and settings.on_error == "raise":
            must = f"be able to score what {entry.name!r} predicts"
            fix = "Use a learner that stays inside, or on_error='drop'."
            raise invalid_parameter(settings.owner, "scoring", must=must, got=reason, fix=fix)
        if reason is not None:
            table.drop(entry.name, f"to predict what {metric.name} can score: {reason}")


def fit_upper(
    table: NodeTable,
    entries: Sequence[Entry],
    below: Layer,
    dealt: Dealt,
    needs: Needs,
    node: Node,
    first: int,
    settings: FitSettings,
) -> None:
    """Fit a layer's learners at one node, on features of the layer below."""
    cells: list[Cell] = [(entry.name, node, None) for entry in entries]
    if all(table.has(cell) for cell in cells):
        return
    blocks, asked = upper_blocks(dealt.lattice, node, first), needs.of(node)
    parts = [below.features(blocks).matrix]
    if len(asked):
        parts.append(below.features((Block(asked, (Ref(node),)),)).matrix)
    everything, rows = below.problem.data, np.concatenate([rows_of(blocks), asked])
    n_train = len(rows) - len(asked)
    weight = weights_of(blocks, everything.sample_weight)
    data = TrainingData(
        stacked_rows(parts),
        everything.y[rows],
        None if weight is None else np.concatenate([weight, np.zeros(len(asked))]),
        everything.n_classes,
        None if everything.groups is None else everything.groups[rows],
    )
    train, test, keep = np.arange(n_train), np.arange(n_train, len(rows)), dealt.reading.kept
    forward = dealt.lattice.kind == "forward"
    tasks = {
        c: NodeTask(train, test, settings.seed_of(c[0], node), node in keep, forward) for c in cells
    }
    fit_cells(table, entries, data, tasks, settings)
    for cell in cells:
        if cell in table.predictions:
            table.predictions[cell] = (asked, table.predictions[cell][1])


def stacked_rows(parts: Sequence[Any]) -> Any:
    """Return matrices or frames of the same columns one below the other."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return pd.concat(parts, axis=0, ignore_index=True)
