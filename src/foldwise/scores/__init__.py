"""Metrics, what they are compared on, and their standard errors."""

from foldwise.scores.metric import Evaluation, Metric, Target, as_metric
from foldwise.scores.response import Response

__all__ = ["Evaluation", "Metric", "Response", "Target", "as_metric"]
