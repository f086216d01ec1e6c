"""Figures of fitted ensembles. Needs matplotlib, which is imported when a figure is drawn."""

from foldwise.plot.coefficients import plot_coefficients

__all__ = ["plot_coefficients"]
