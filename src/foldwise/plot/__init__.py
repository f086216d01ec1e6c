"""Pictures of fitted ensembles; needs matplotlib."""

from foldwise.plot.path import plot_path, plot_paths_side_by_side

__all__ = ["plot_path", "plot_paths_side_by_side"]
