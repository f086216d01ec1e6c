"""One run: every fit of one call of ``fit``, wherever it takes place."""

import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from threadpoolctl import threadpool_limits

from foldwise.engine.batch import Absorb, Batch
from foldwise.engine.clock import Clock
from foldwise.engine.costs import Costs, Task
from foldwise.engine.events import Stream
from foldwise.engine.executor import Executor, Store
from foldwise.engine.in_process import InProcess


@dataclass(frozen=True)
class RunSummary:
    """What a run did.

    Attributes
    ----------
    fits : int
        Fits done.
    reused : int
        Fits found in the run directory.
    failed : tuple of str
        Learners that failed or were left out.
    seconds : float
        How long it took.
    partial : bool
        Whether something that was asked for is missing for want of time or by Ctrl-C.
    reason : str
        Why, if it is.
    """

    fits: int = 0
    reused: int = 0
    failed: tuple[str, ...] = ()
    seconds: float = 0.0
    partial: bool = False
    reason: str = ""


@dataclass
class Run:
    """Runs plans of tasks: on one executor, in one budget, with one stream of events.

    Parameters
    ----------
    executor : Executor
        Where tasks run.
    clock : Clock
        How long they may.
    stream : Stream
        Who is told.
    store : Store or None
        Where finished results are kept.
    keep : bool
        Whether Ctrl-C ends the fits, but not the run.
    free_memory : callable or None
        Tells how many bytes can still be taken where tasks run.

    Examples
    --------
    >>> results = {}
    >>> tasks = [Task(3, ("a",)), Task(4, ("b",))]
    >>> def absorb(index, result):
    ...     results[index] = result
    ...     return ()
    >>> with Run() as run:
    ...     run.do(lambda shared, job: shared * job, 10, tasks, absorb)
    >>> results, run.fits
    ({0: 30, 1: 40}, 2)
    """

    executor: Executor = field(default_factory=InProcess)
    clock: Clock = field(default_factory=Clock)
    stream: Stream = field(default_factory=Stream)
    store: Store | None = None
    keep: bool = False
    free_memory: Callable[[], int | None] | None = None
    costs: Costs = field(default_factory=Costs)
    dropped: dict[str, str] = field(default_factory=dict)
    reused: int = 0
    fits: int = 0
    interrupted: bool = False
    previewed: bool = False
    reason: str = ""
    _tickets: Any = field(default_factory=itertools.count)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        # More threads change the last bits.
        self._open.enter_context(threadpool_limits(1, user_api="blas"))
        self._open.callback(self.executor.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def by_learner(self) -> bool:
        """Whether learners are to be finished one after the other, because it may end early."""
        return self.keep or self.clock.budget is not None

    def ticket(self) -> int:
        """Return a number that was not given before."""
        return next(self._tickets)

    def do(self, work: Any, shared: Any, tasks: Sequence[Task], absorb: Absorb) -> None:
        """Do all tasks of a plan.

        Parameters
        ----------
        work : callable
            Called as ``work(shared, job)``; picklable by cloudpickle if tasks run elsewhere.
        shared : object
            Handed to every call; placed once.
        tasks : sequence of Task
            What is to be done. Those of an owner that was dropped are not.
        absorb : callable
            Called as ``absorb(index, result)`` with each result, or the exception it ended in,
            in the order they come; returns the owners that have failed by it. What it raises
            ends the run.
        """
        if not tasks:
            return
        batch = Batch(self, tasks, self._counted(tasks, absorb), self.by_learner)
        if self.interrupted:
            batch.drop(batch.alive(), "interrupted")
            return
        self.executor.place(work, shared)
        try:
            batch.run()
        except KeyboardInterrupt:
            if not self.keep:
                raise
            self.interrupted = True
            batch.drop(batch.alive(), "interrupted")

    def _counted(self, tasks: Sequence[Task], absorb: Absorb) -> Absorb:
        def absorbed(index: int, result: Any) -> Any:
            if not isinstance(result, BaseException):
                self.fits += tasks[index].fits
            return absorb(index, result)

        return absorbed

    def summary(self, failed: Sequence[str]) -> RunSummary:
        """Return what the run did, once it is over."""
        return RunSummary(
            self.fits, self.reused, tuple(failed), self.clock.spent, bool(self.reason), self.reason
        )
