"""Fitting the table of one deal: layer upon layer, every learner at every node that is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise.errors import invalid_parameter
from foldwise.folds import Block, Lattice, Needs, Node, Reading, Ref, first_folds, upper_blocks
from foldwise.learners import NodeTask, TrainingData, share_steps
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.table.jobs import FitSettings, check_failures, fit_cells
from foldwise.stack.table.read import (
    Cell,
    Layer,
    NodeTable,
    fold_numbers,
    rows_of,
    weights_of,
)
from foldwise.stack.table.tuning import tune_learner


@dataclass(frozen=True)
class Dealt:
    """One deal of the rows."""

    lattice: Lattice  # the folds and their nodes
    reading: Reading  # what is read from which node
    needs: list[Needs]  # what each layer must be fitted at for it, the lowest first


def fit_layers(
    layers: Sequence[Sequence[Entry]],
    problem: StackProblem,
    dealt: Dealt,
    settings: FitSettings,
    known: Sequence[NodeTable],
) -> tuple[Layer, ...]:
    """Fit every learner at every node that something is read from; what is known is taken over."""
    tune = settings.tune
    fitted: list[Layer] = []
    shares = _shares(layers, dealt.needs)
    for level, (entries, needs) in enumerate(zip(layers, dealt.needs, strict=True)):
        table, before = NodeTable(), known[level] if level < len(known) else NodeTable()
        settings.run.clock.slice(shares[level])
        if level == 0:
            tasks = _lowest_tasks([e for e in entries if e.name not in tune], dealt, settings)
            table.take_over(before, tasks)
            fit_cells(table, entries, problem.data, tasks, settings)
            for entry in entries:
                if entry.name in tune and not table.take_over_tuned(before, entry.name):
                    tune_learner(table, entry, problem, dealt.lattice, dealt.reading, settings)
        else:
            first = first_folds(dealt.lattice, len(layers))[level - 1]
            for node in needs.rows:
                table.take_over(before, [(entry.name, node, None) for entry in entries])
                _fit_upper(table, entries, fitted[-1], dealt, needs, node, first, settings)
        if level and all(entry.name in settings.run.dropped for entry in entries):
            # Time ran out above: the layers below are a stack of their own.
            break
        if level == len(layers) - 1:
            _drop_outside_domain(table, entries, problem, dealt.reading, settings)
        fitted.append(Layer(check_failures(table, entries, settings), table, problem))
    settings.run.clock.slice(1.0)
    problem.data.shared.clear()
    _forget_models(fitted[-1], dealt.reading)
    return tuple(fitted)


def _drop_outside_domain(
    table: NodeTable,
    entries: Sequence[Entry],
    problem: StackProblem,
    reading: Reading,
    settings: FitSettings,
) -> None:
    """Drop learners whose predictions the metric cannot score, e.g. negative ones of counts."""
    metric = settings.metric
    if metric is None or not metric.has_domain:
        return
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


def _shares(layers: Sequence[Sequence[Entry]], needs: Sequence[Needs]) -> list[float]:
    """Return the share of the time left that each layer gets, the last all of it."""
    fits = [len(entries) * len(asked.rows) for entries, asked in zip(layers, needs, strict=True)]
    return [fits[level] / max(sum(fits[level:]), 1) for level in range(len(layers))]


def _lowest_tasks(
    entries: Sequence[Entry], dealt: Dealt, settings: FitSettings
) -> dict[Cell, NodeTask]:
    """Return the task of each learner at each node of the lowest layer."""
    needs, kept = dealt.needs[0], dealt.reading.kept
    rows = {node: (dealt.lattice.rows(node), needs.of(node)) for node in needs.rows}
    forward = dealt.lattice.kind == "forward"
    return {
        (e.name, node, None): NodeTask(
            *rows[node], settings.seed_of(e.name, node), node in kept, forward
        )
        for node in needs.rows
        for e in entries
    }


def _fit_upper(
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


def _forget_models(layer: Layer, reading: Reading) -> None:
    """Keep only the models that prediction needs; a tuned learner was fitted at many points."""
    refs = [*reading.deployed, *(ref for j in reading.judgements for ref in j.fresh)]
    layer.table.keep_models({c for e in layer.entries for c in layer.table.cells(e.name, refs)})
    by_node: dict[Node, list[Any]] = {}
    for (_, node, _), model in layer.table.models.items():
        by_node.setdefault(node, []).append(model)
    for models in by_node.values():
        share_steps(models)
