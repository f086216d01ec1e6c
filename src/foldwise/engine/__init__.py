"""Runs fits: in this process or in several, on a budget, with signs of life."""

from foldwise.engine.clock import Clock
from foldwise.engine.costs import Task
from foldwise.engine.events import Event
from foldwise.engine.executor import Executor, Finished, Store, TaskEndedError, TaskLostError
from foldwise.engine.opening import RunOptions, check_options, open_run
from foldwise.engine.run import Run, RunSummary

__all__ = [
    "Clock",
    "Event",
    "Executor",
    "Finished",
    "Run",
    "RunOptions",
    "RunSummary",
    "Store",
    "Task",
    "TaskEndedError",
    "TaskLostError",
    "check_options",
    "open_run",
]
