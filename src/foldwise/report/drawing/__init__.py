"""Figures as inline SVG: bars, lines, points and heat maps, on scales with readable ticks."""
