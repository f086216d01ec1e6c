"""Pictures of fitted ensembles. Needs matplotlib, which is imported when one is drawn."""

from foldwise.plot.coefficients import plot_coefficients
from foldwise.plot.diversity import plot_diversity
from foldwise.plot.margins import plot_margins
from foldwise.plot.path import plot_path, plot_paths_side_by_side
from foldwise.plot.reliability import plot_reliability
from foldwise.plot.staged import plot_staged_loss
from foldwise.plot.variance import plot_variance_curve

__all__ = [
    "plot_coefficients",
    "plot_diversity",
    "plot_margins",
    "plot_path",
    "plot_paths_side_by_side",
    "plot_reliability",
    "plot_staged_loss",
    "plot_variance_curve",
]
