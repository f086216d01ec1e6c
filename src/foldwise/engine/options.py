"""From the user's parameters to a run, and many fits without more ado."""

import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import joblib

from foldwise.checks import check_jobs, check_word, unknown_word
from foldwise.engine.budget import Clock, Costs, Task, free_memory
from foldwise.engine.events import Stream, listeners_for
from foldwise.engine.executor import Executor, InProcess, one_thread
from foldwise.engine.processes.futures import Futures, Threads, is_inside
from foldwise.engine.processes.pool import Processes
from foldwise.engine.processes.worker import UnsendableError
from foldwise.engine.run import Run
from foldwise.engine.store import RunStore
from foldwise.errors import invalid_parameter

# Enough parts that no worker waits long for the last, few enough that sending them costs little.
PARTS_A_WORKER = 4


@dataclass(frozen=True)
class RunOptions:
    """How fits are run; the fields are parameters of the estimators.

    Attributes
    ----------
    n_jobs : int or None
        As in scikit-learn.
    executor : None, "processes", "threads", Dask client or address, or Executor
        Where fits take place; None is this process if n_jobs is one, else processes.
    run_dir : str, path or None
        Where finished fits are kept.
    time_budget : float or None
        Seconds.
    callback : callable or None
        Called with each event.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does.
    verbose : int
        0 is silence.
    expected : mapping of str to float
        No parameter of theirs: seconds for each row that owners of tasks are expected to take,
        where that is known before they begin.

    Examples
    --------
    >>> from foldwise.engine import RunOptions
    >>> RunOptions(n_jobs=2, time_budget=600).on_interrupt
    'raise'
    """

    n_jobs: int | None = None
    executor: Any = None
    run_dir: Any = None
    time_budget: float | None = None
    callback: Callable[..., Any] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    expected: Mapping[str, float] = field(default_factory=dict)


def check_options(owner: str, options: RunOptions) -> None:
    """Refuse options that cannot be used.

    Parameters
    ----------
    owner : str
        Who complains.
    options : RunOptions
        What the user gave.

    Examples
    --------
    >>> from foldwise.engine import RunOptions, check_options
    >>> check_options("StackingRegressor", RunOptions(time_budget=-1))
    Traceback (most recent call last):
        ...
    foldwise.errors.InvalidParameterError: StackingRegressor: time_budget must be a number of
    seconds above 0, or None; got -1. Try 600.
    """
    check_word(owner, "on_interrupt", options.on_interrupt, ("raise", "keep"))
    check_jobs(owner, options.n_jobs)
    budget, callback, run_dir = options.time_budget, options.callback, options.run_dir
    number = isinstance(budget, numbers.Real) and not isinstance(budget, bool)
    rules = {
        "time_budget": (
            budget is None or (number and float(budget) > 0),
            "be a number of seconds above 0, or None",
            "Try 600.",
        ),
        "callback": (
            callback is None or callable(callback),
            "be callable with one event, or None",
            "Try callback=print.",
        ),
        "run_dir": (
            run_dir is None or isinstance(run_dir, str | os.PathLike),
            "be a path or None",
            "Try 'my_run'.",
        ),
    }
    for name, (holds, must, fix) in rules.items():
        if not holds:
            raise invalid_parameter(owner, name, must=must, got=getattr(options, name), fix=fix)


def open_run(
    owner: str, options: RunOptions, *, total: int, reserve: float = 0.0, clock: Clock | None = None
) -> Run:
    """Return a run, to be used as a context.

    Parameters
    ----------
    owner : str
        The estimator at work.
    options : RunOptions
        How.
    total : int
        How many fits there will be, about.
    reserve : float, default=0
        Seconds of the budget that fits must leave.
    clock : Clock or None
        A clock that is running already.

    Returns
    -------
    Run
        Not begun.

    Examples
    --------
    >>> with open_run("Stack", RunOptions(), total=3) as run:
    ...     run.executor.capacity
    1
    """
    check_options(owner, options)
    store = None if options.run_dir is None else RunStore(options.run_dir, owner)
    clock = clock or Clock(options.time_budget)
    clock.reserve = reserve
    executor = executor_for(owner, options.executor, options.n_jobs)
    return Run(
        executor,
        clock,
        Stream(owner, total, listeners_for(options.verbose, options.callback)),
        store,
        keep=options.on_interrupt == "keep",
        free_memory=free_memory if isinstance(executor, Processes | Threads) else None,
        costs=Costs(options.expected),
    )


def executor_for(owner: str, wanted: Any, n_jobs: int | None) -> Executor:
    """Return where fits take place."""
    if isinstance(wanted, futures.Executor):
        if is_inside(wanted):
            # A stack inside a stack: it would wait for a thread that waits for it.
            return InProcess()
        n_workers = None if n_jobs is None else joblib.effective_n_jobs(n_jobs)
        return Futures(wanted, n_workers, owner)
    several = joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
    if wanted is None:
        several = joblib.effective_n_jobs(n_jobs)
        return InProcess() if several == 1 else Processes(several)
    if wanted == "processes":
        return Processes(several)
    if wanted == "threads":
        return Threads(several)
    home = type(wanted).__module__.split(".")[0]
    if home == "distributed" or (isinstance(wanted, str) and "://" in wanted):
        from foldwise.engine.dask.executor import DaskExecutor

        return DaskExecutor(wanted, owner)
    known = ("processes", "threads", "tcp://127.0.0.1:8786")
    must = (
        "be None, 'processes', 'threads', a Dask client or address, or an Executor "
        "of concurrent.futures"
    )
    raise unknown_word(owner, "executor", wanted, known, must)


def fit_many(
    function: Callable[[Any, Any], Any],
    shared: Any,
    items: Sequence[Any],
    *,
    n_jobs: int | None,
    told: Stream | None = None,
    threads: bool = False,
) -> list[Any]:
    """Return ``[function(shared, item) for item in items]``, done by several workers.

    Parameters
    ----------
    function : callable
        Called as ``function(shared, item)``; picklable by cloudpickle.
    shared : object
        Handed to every call; sent to each worker once, large arrays mapped from one file.
    items : sequence
        What differs from call to call: seeds, for example.
    n_jobs : int or None
        As in scikit-learn; None or 1 is this process.
    told : Stream or None
        Told of each call that is done; see :func:`foldwise.engine.progress`.
    threads : bool, default=False
        Use threads instead of processes, for learners that release Python's lock.

    Returns
    -------
    list
        In the order of the items, the same bits whatever ``n_jobs`` is. What a call raises is
        raised here; a worker that dies has its items done again by another.

    Examples
    --------
    >>> from foldwise.engine import progress
    >>> with progress("Bagging", 3, verbose=0) as told:
    ...     fit_many(pow, 2, [1, 2, 3], n_jobs=None, told=told)
    [2, 4, 8]
    """
    stream = told or Stream(total=len(items))
    workers = joblib.effective_n_jobs(n_jobs)
    if workers == 1:
        results = []
        # More threads change the last bits.
        with one_thread("blas"):
            for item in items:
                results.append(function(shared, item))
                stream.advance()
        return results
    size = max(1, -(-len(items) // (PARTS_A_WORKER * workers)))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    done: dict[int, list[Any]] = {}

    def absorb(index: int, result: Any) -> tuple[str, ...]:
        if isinstance(result, BaseException):
            raise result
        for part in result:
            if isinstance(part, UnsendableError):
                raise part
        done[index] = result
        return ()

    with Run(Threads(workers) if threads else Processes(workers), stream=stream) as run:
        tasks = [Task(part, ("",), len(part), len(part)) for part in parts]
        run.do(partial(_each, function), shared, tasks, absorb)
    return [result for index in range(len(parts)) for result in done[index]]


def _each(function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]) -> list[Any]:
    return [function(shared, item) for item in items]
