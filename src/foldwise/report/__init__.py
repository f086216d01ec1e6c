"""A fitted ensemble as one self-contained HTML page."""

from foldwise.report.page import render, write_report

__all__ = ["render", "write_report"]
