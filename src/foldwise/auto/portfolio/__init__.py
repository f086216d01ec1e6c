"""The learners that are tried, each with its settings, and which of them suit a problem."""

from foldwise.auto.portfolio.encodings import encoded
from foldwise.auto.portfolio.member import Contender, TableProfile, profile_of
from foldwise.auto.portfolio.members import portfolio

__all__ = ["Contender", "TableProfile", "encoded", "portfolio", "profile_of"]
