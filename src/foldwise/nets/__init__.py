"""Neural learners that train at every node at once; needs the extra ``neural`` (torch)."""

from foldwise.nets.estimators import NetClassifier, NetRegressor

__all__ = ["NetClassifier", "NetRegressor"]
