"""How one learner is fitted at many nodes: the general way and the shortcuts."""

from foldwise.learners.nodes import fit_nodes
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

__all__ = ["NodeFit", "NodeTask", "TrainingData", "fit_nodes"]
