"""A table and a target -> a good stack, unattended."""

from foldwise.auto.classifier import AutoStackClassifier
from foldwise.auto.regressor import AutoStackRegressor

__all__ = ["AutoStackClassifier", "AutoStackRegressor"]
