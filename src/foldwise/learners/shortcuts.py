"""Which learners know a cheaper way than fitting node by node."""

from collections.abc import Callable, Sequence
from typing import Any

from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

Shortcut = Callable[[Any, TrainingData, Sequence[NodeTask], str], "list[NodeFit] | None"]


def shortcut_for(learner: Any, data: TrainingData) -> Shortcut | None:
    """Return the learner's shortcut, None where it must be fitted node by node."""
    return None
