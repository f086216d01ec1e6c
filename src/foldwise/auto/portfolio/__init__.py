"""The learners that are tried, each with its settings, and which of them suit a problem."""

from foldwise.auto.portfolio.member import Contender
from foldwise.auto.portfolio.members import portfolio

__all__ = ["Contender", "portfolio"]
