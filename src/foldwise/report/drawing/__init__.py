"""Figures as inline SVG: bars, lines, points and heat maps, on scales with readable ticks."""

from foldwise.report.drawing.bars import bars, histogram
from foldwise.report.drawing.heat import heat
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.drawing.points import cloud, named_points

__all__ = ["Line", "bars", "cloud", "heat", "histogram", "lines", "named_points"]
