"""AdaBoost, gradient boosting over any learner, Newton boosted trees, and their losses."""

from foldwise.boost.adaboost import AdaBoostClassifier
from foldwise.boost.gradient_classifier import GradientBoostingClassifier
from foldwise.boost.gradient_regressor import GradientBoostingRegressor
from foldwise.boost.newton_classifier import NewtonBoostingClassifier
from foldwise.boost.newton_regressor import NewtonBoostingRegressor
from foldwise.boost.samme import BoostingPath
from foldwise.losses import (
    Absolute,
    CustomLoss,
    Exponential,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)

__all__ = [
    "Absolute",
    "AdaBoostClassifier",
    "BoostingPath",
    "CustomLoss",
    "Exponential",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
]
