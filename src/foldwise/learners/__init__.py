"""How one learner is fitted at many nodes: the general way and the shortcuts."""

from foldwise.learners.general import (
    AskedRows,
    Assignment,
    fit_at_node,
    fit_prepared,
    fit_together,
    rows_to_stop_on,
    share_steps,
    steps_of,
)
from foldwise.learners.prepare import (
    PickColumns,
    aligned,
    over_all_classes,
    prepared,
    respond,
    take_rows,
    weight_argument,
)
from foldwise.learners.shortcuts import fit_nodes, register, shortcut_for, takes_long
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

__all__ = [
    "AskedRows",
    "Assignment",
    "NodeFit",
    "NodeTask",
    "PickColumns",
    "TrainingData",
    "aligned",
    "fit_at_node",
    "fit_nodes",
    "fit_prepared",
    "fit_together",
    "over_all_classes",
    "prepared",
    "register",
    "respond",
    "rows_to_stop_on",
    "share_steps",
    "shortcut_for",
    "steps_of",
    "take_rows",
    "takes_long",
    "weight_argument",
]
