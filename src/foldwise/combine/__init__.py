"""From predictions to one prediction: pure functions on arrays."""

from foldwise.combine.ridge import ridge_coefficients
from foldwise.combine.weights import best_weights, mean_weights, nnls_weights

__all__ = ["best_weights", "mean_weights", "nnls_weights", "ridge_coefficients"]
