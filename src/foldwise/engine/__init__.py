"""Runs fits: in this process or in several, on a budget, with signs of life."""

from foldwise.engine.budget import Clock, Task
from foldwise.engine.events import Event, Stream, progress
from foldwise.engine.executor import Executor, Finished
from foldwise.engine.files import write_whole
from foldwise.engine.fingerprint import fingerprint
from foldwise.engine.options import RunOptions, check_options, fit_many, open_run
from foldwise.engine.run import Run, RunSummary
from foldwise.engine.store import RunDescription, RunStore, StoredFit, describe

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
    "Stream",
    "Task",
    "check_options",
    "describe",
    "fingerprint",
    "fit_many",
    "open_run",
    "progress",
    "write_whole",
]
