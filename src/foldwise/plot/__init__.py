"""Pictures of fitted ensembles. Needs matplotlib, which is imported when one is drawn."""

from foldwise.plot.boosting import plot_margins, plot_staged_loss
from foldwise.plot.ensembles import plot_diversity, plot_reliability, plot_variance_curve
from foldwise.plot.linear import plot_coefficients, plot_path, plot_paths_side_by_side

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
