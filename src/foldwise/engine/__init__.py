"""Runs fits: in this process or in several, on a budget, with signs of life."""

from foldwise.engine.clock import Clock
from foldwise.engine.costs import Task
from foldwise.engine.describe import RunDescription, StoredFit, describe
from foldwise.engine.events import Event
from foldwise.engine.executor import Executor, Finished
from foldwise.engine.files import write_whole
from foldwise.engine.keys import fingerprint
from foldwise.engine.opening import RunOptions, check_options, open_run
from foldwise.engine.run import Run, RunSummary
from foldwise.engine.store import RunStore

__all__ = [
    "Clock",
    "Event",
    "Executor",
    "Finished",
    "Run",
    "RunDescription",
    "RunOptions",
    "RunStore",
    "RunSummary",
    "StoredFit",
    "Task",
    "check_options",
    "describe",
    "fingerprint",
    "open_run",
    "write_whole",
]
