"""Choosing and judging the stacker, its calibration and its threshold."""
