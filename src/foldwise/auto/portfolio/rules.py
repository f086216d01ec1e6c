"""Models a person can read."""

from typing import Any

from foldwise.auto.portfolio.member import Settings
from foldwise.rules import RuleFitClassifier, RuleFitRegressor


def rules(settings: Settings) -> Any:
    """Return a rule ensemble (Friedman and Popescu 2008)."""
    kind = RuleFitRegressor if settings.facts.regression else RuleFitClassifier
    return kind(n_estimators=settings.trees(200))


def short_rules(settings: Settings) -> Any:
    """Return a list of at most fifteen rules and linear terms."""
    kind = RuleFitRegressor if settings.facts.regression else RuleFitClassifier
    return kind(n_estimators=settings.trees(200), max_terms=15)


def additive_rules(settings: Settings) -> Any:
    """Return rules of one condition each: an additive model of steps and lines."""
    kind = RuleFitRegressor if settings.facts.regression else RuleFitClassifier
    return kind(n_estimators=settings.trees(200), max_conditions=1)
