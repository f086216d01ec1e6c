"""AdaBoost, gradient boosting over any learner, Newton boosted trees, and their losses."""

from foldwise.boost.adaboost import AdaBoostClassifier
from foldwise.boost.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from foldwise.boost.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
from foldwise.boost.samme import BoostingPath
from foldwise.losses.classes import Exponential, Logistic, Multinomial
from foldwise.losses.loss import CustomLoss, Loss
from foldwise.losses.numbers import Absolute, Huber, Poisson, Quantile, Squared, Tweedie

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
