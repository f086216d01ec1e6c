"""Neural learners that train at every node at once; needs the extra ``neural`` (torch)."""

from foldwise.learners import register
from foldwise.nets.estimators import NetClassifier, NetRegressor, at_all_nodes

__all__ = ["NetClassifier", "NetRegressor"]

for _net in (NetRegressor, NetClassifier):
    register(_net, lambda *_: True, at_all_nodes, behind="anything")
