"""Runs fits: in this process or in several."""

from foldwise.engine.progress import Progress
from foldwise.engine.run import run_jobs

__all__ = ["Progress", "run_jobs"]
