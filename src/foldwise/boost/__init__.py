"""AdaBoost, gradient boosting over any learner, Newton boosted trees, and their losses."""

from foldwise.boost.adaboost import AdaBoostClassifier
from foldwise.boost.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from foldwise.boost.loss import CustomLoss, Loss

__all__ = [
    "AdaBoostClassifier",
    "CustomLoss",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Loss",
]
