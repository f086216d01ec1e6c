"""AdaBoost, gradient boosting over any learner, Newton boosted trees, and their losses."""

from foldwise.boost.adaboost import AdaBoostClassifier
from foldwise.boost.gradient_classifier import GradientBoostingClassifier
from foldwise.boost.gradient_regressor import GradientBoostingRegressor
from foldwise.boost.loss import CustomLoss, Loss
from foldwise.boost.newton_classifier import NewtonBoostingClassifier
from foldwise.boost.newton_regressor import NewtonBoostingRegressor

__all__ = [
    "AdaBoostClassifier",
    "CustomLoss",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Loss",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
]
