"""Estimators whose constructors have the parameters of a base class and some more."""

from typing import Any

from sklearn.base import BaseEstimator


class KeepsParameters(BaseEstimator):
    """An estimator that can store the arguments of its constructor under their names."""

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Store the arguments of a constructor, given its local names."""
        # Not by the signature: a subclass may have parameters of its own.
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)
