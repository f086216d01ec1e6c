"""Diversity, decompositions, model values, a leak audit, and an audit of anybody's choice."""

from foldwise.diagnose.audit import Audit, audit
from foldwise.diagnose.decomposition import (
    Ambiguity,
    BiasVarianceDiversity,
    ambiguity,
    bias_variance_diversity,
)
from foldwise.diagnose.diversity import Diversity, ErrorCorrelation, diversity, error_correlation
from foldwise.diagnose.importance import PermutationImportance, permutation_importance
from foldwise.diagnose.leak import LeakAudit, leak_audit
from foldwise.diagnose.row_effects import RowEffects, row_effects
from foldwise.diagnose.shapley import exact_shapley, sampled_shapley
from foldwise.diagnose.table import Claim, OutOfFoldTable
from foldwise.diagnose.value import ModelValues, model_values

__all__ = [
    "Ambiguity",
    "Audit",
    "BiasVarianceDiversity",
    "Claim",
    "Diversity",
    "ErrorCorrelation",
    "LeakAudit",
    "ModelValues",
    "OutOfFoldTable",
    "PermutationImportance",
    "RowEffects",
    "ambiguity",
    "audit",
    "bias_variance_diversity",
    "diversity",
    "error_correlation",
    "exact_shapley",
    "leak_audit",
    "model_values",
    "permutation_importance",
    "row_effects",
    "sampled_shapley",
]
