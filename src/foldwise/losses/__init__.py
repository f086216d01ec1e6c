"""Every loss once: value, gradient, curvature, link, best constant, and how far to step."""

from foldwise.losses.classes import Exponential, Logistic, Multinomial
from foldwise.losses.loss import CustomLoss, Loss
from foldwise.losses.numbers import Absolute, Huber, Poisson, Quantile, Squared, Tweedie

__all__ = [
    "Absolute",
    "CustomLoss",
    "Exponential",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
]
