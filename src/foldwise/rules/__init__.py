"""Rule ensembles: small trees read into rules, a lasso that keeps a few, ways to read them."""

from foldwise.rules.interactions import interaction_null
from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor
from foldwise.rules.stability import Stability, rule_stability
from foldwise.rules.text import parse_rule, rule_query, rule_text

__all__ = [
    "RuleFitClassifier",
    "RuleFitRegressor",
    "Stability",
    "interaction_null",
    "parse_rule",
    "rule_query",
    "rule_stability",
    "rule_text",
]
