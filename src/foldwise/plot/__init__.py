"""Pictures of fitted ensembles; needs matplotlib."""

from foldwise.plot.margins import plot_margins
from foldwise.plot.staged import plot_staged_loss
from foldwise.plot.variance import plot_variance_curve

__all__ = ["plot_margins", "plot_staged_loss", "plot_variance_curve"]
