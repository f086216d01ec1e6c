"""Forests: many trees on random parts, averaged."""

from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from foldwise.auto.portfolio.member import Settings


def extra_trees(settings: Settings) -> Any:
    """Return extremely randomised trees (Geurts et al. 2006)."""
    if settings.facts.regression:
        return ExtraTreesRegressor(settings.trees(200), max_features=0.5)
    return ExtraTreesClassifier(settings.trees(200), max_features=0.5, min_samples_leaf=2)


def random_forest(settings: Settings) -> Any:
    """Return a random forest (Breiman 2001)."""
    if settings.facts.regression:
        return RandomForestRegressor(settings.trees(200), max_features=1 / 3, min_samples_leaf=2)
    return RandomForestClassifier(
        settings.trees(200), criterion="entropy", max_features=0.5, min_samples_leaf=3
    )
