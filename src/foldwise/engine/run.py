"""One run: every fit of one call of ``fit``, wherever it takes place."""

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from foldwise.engine.budget import Clock, Costs, Task
from foldwise.engine.events import Stream
from foldwise.engine.executor import (
    Executor,
    Finished,
    InProcess,
    TaskEndedError,
    TaskLostError,
    give_back,
    one_thread,
)
from foldwise.engine.store import RunStore
from foldwise.wording import memory, rough_duration

RETRIES = 2
# A fit is taken for hung when it takes this many times what it should, and this long.
HUNG_TIMES, HUNG_SECONDS = 10.0, 30.0
TICK_SECONDS = 1.0
# What is free must be this many times what one more task is expected to take.
ROOM = 1.25
LONG_WORK_SECONDS = 10.0

Absorb = Callable[[int, Any], Iterable[str]]


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
    store : RunStore or None
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
    store: RunStore | None = None
    keep: bool = False
    free_memory: Callable[[], int | None] | None = None
    costs: Costs = field(default_factory=Costs)
    dropped: dict[str, str] = field(default_factory=dict)
    reused: int = 0
    fits: int = 0
    interrupted: bool = False
    previewed: bool = False
    reason: str = ""
    tickets: Iterator[int] = field(default_factory=itertools.count)
    _limits: Any = None

    def __enter__(self) -> Self:
        # More threads change the last bits.
        self._limits = one_thread("blas")
        self._limits.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.executor.close()
        finally:
            self._limits.__exit__(None, None, None)
            # What fits left in pieces is wanted by what is made of them.
            give_back()

    @property
    def by_learner(self) -> bool:
        """Whether learners are to be finished one after the other, because it may end early."""
        return self.keep or self.clock.budget is not None

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
        batch = Batch(self, tasks, absorb)
        if self.interrupted:
            batch.drop(batch.alive(), "interrupted")
            return
        self.executor.place(work, shared, self.clock.left())
        try:
            while batch.pending or batch.at_work:
                batch.give_up()
                batch.fill()
                if batch.at_work:
                    for finished in self.executor.wait(batch.patience()):
                        batch.take(finished)
                    batch.preview()
        except KeyboardInterrupt:
            if not self.keep:
                raise
            self.interrupted = True
            batch.drop(batch.alive(), "interrupted")

    def summary(self, failed: Sequence[str]) -> RunSummary:
        """Return what the run did, once it is over."""
        return RunSummary(
            self.fits, self.reused, tuple(failed), self.clock.spent, bool(self.reason), self.reason
        )


class Batch:
    """One plan of tasks on its way: submits them, takes what comes back, gives up what is late."""

    def __init__(self, home: Run, tasks: Sequence[Task], absorb: Absorb) -> None:
        self.home, self.tasks, self.absorb = home, tasks, absorb
        self.pending = list(range(len(tasks)))
        # The size of what each owner has not begun: counted anew after every fit of ten thousand,
        # it would take longer than small fits.
        self.waiting: defaultdict[str, float] = defaultdict(float)
        for task in tasks:
            self.count(task, 1)
        self.at_work: dict[int, int] = {}
        self.losses: Counter[int] = Counter()
        self.failed: set[str] = set()

    def gone(self, owner: str) -> bool:
        """Tell whether nothing more is wanted of an owner."""
        return owner in self.failed or owner in self.home.dropped

    def count(self, task: Task, sign: int) -> None:
        """Add what a task's owners wait for, or (-1) take it away."""
        for owner in task.owners:
            self.waiting[owner] += sign * task.size

    def fill(self) -> None:
        """Submit tasks while there is room."""
        while self.pending and len(self.at_work) < self.home.executor.capacity:
            index = self.choose()
            if index is None or self.must_wait(index):
                return
            self.pending.remove(index)
            ticket = next(self.home.tickets)
            self.at_work[ticket] = index
            task = self.tasks[index]
            self.count(task, -1)
            job: Any = task.job
            self.home.executor.submit(ticket, job() if task.after else job)

    def choose(self) -> int | None:
        """Return the task to begin next: unknown ones first, then the longest."""
        tasks, costs = self.tasks, self.home.costs
        if self.failed or self.home.dropped:
            self.pending = [
                i for i in self.pending if not all(self.gone(owner) for owner in tasks[i].owners)
            ]
        open_ = {*self.pending, *self.at_work.values()}
        all_ready = (i for i in self.pending if open_.isdisjoint(tasks[i].after))
        if self.home.by_learner or self.home.executor.capacity == 1:
            return next(all_ready, None)
        ready = list(all_ready)
        if not ready:
            return None
        begun = {tasks[i].owners for i in self.at_work.values()}
        rates = {owners: costs.rate(owners) for owners in {tasks[i].owners for i in ready}}
        for index in ready:
            if rates[tasks[index].owners] is None and tasks[index].owners not in begun:
                return index
        return max(ready, key=lambda i: ((rates[tasks[i].owners] or 0) * tasks[i].size, -i))

    def must_wait(self, index: int) -> bool:
        """Tell whether a task must be alone, or wait for memory."""
        if not self.at_work:
            return False
        if any(self.losses[i] for i in [index, *self.at_work.values()]):
            return True
        need = self.home.costs.memory(self.tasks[index])
        if need is None or self.home.free_memory is None:
            return False
        free = self.home.free_memory()
        return free is not None and free < ROOM * need

    def patience(self) -> float | None:
        """Return how long to wait before looking at the clock again."""
        left = self.home.clock.left()
        return None if left == float("inf") else min(max(left, 0.0), TICK_SECONDS)

    def take(self, finished: Finished) -> None:
        """Deal with a task that is over."""
        if finished.ticket not in self.at_work:
            return
        index = self.at_work.pop(finished.ticket)
        task, error = self.tasks[index], finished.error
        if isinstance(error, TaskEndedError):
            return
        if isinstance(error, TaskLostError):
            self.losses[index] += 1
            if self.losses[index] <= RETRIES:
                self.pending.insert(0, index)
                self.count(task, 1)
                return
            error = TaskLostError(f"{error}; {RETRIES + 1} times, at last alone")
        if error is None:
            self.home.fits += task.fits
            self.home.costs.learn(task, finished.seconds, finished.memory)
        failed = set(self.absorb(index, finished.result if error is None else error))
        self.failed |= failed
        self.tell(task, finished.seconds, failed, error)

    def tell(
        self, task: Task, seconds: float, failed: set[str], error: BaseException | None
    ) -> None:
        """Say what was fitted and what failed."""
        stream, names = self.home.stream, ", ".join(task.owners)
        if error is not None:
            stream.tell("failed", names, fits=task.fits, took=seconds, reason=str(error))
            return
        left = self.left(task.fits) if stream.listeners else None
        stream.tell("fitted", names, fits=task.fits, took=seconds, left=left)
        for name in sorted(failed):
            stream.tell("failed", name, reason="see failures_")

    def left(self, untold: int = 0) -> float | None:
        """Return the seconds to go, about, in this batch and after it.

        ``untold``: Fits that are done, but not yet counted.
        """
        stream, costs = self.home.stream, self.home.costs
        tasks = [self.tasks[i] for i in [*self.pending, *self.at_work.values()]]
        here = costs.total(tasks)
        if here is None:
            return None
        done = stream.done + untold
        later = stream.total - done - sum(task.fits for task in tasks)
        spent = time.monotonic() - stream.start
        after = max(later, 0) * spent / max(done, 1)
        return here / self.home.executor.capacity + after

    def preview(self) -> None:
        """Say what all will cost, once every learner at hand was tried and it is much."""
        if self.home.previewed or not self.home.stream.listeners:
            return
        unknown = any(self.home.costs.seconds(self.tasks[i]) is None for i in self.pending)
        left = self.left()
        if unknown or left is None:
            return
        self.home.previewed = True
        if left < LONG_WORK_SECONDS:
            return
        stream, room = self.home.stream, self.home.costs.highest * self.home.executor.capacity
        bytes_ = f", {memory(room)}" if room else ""
        stream.tell(
            "planned", f"{stream.total:,d} fits, about {rough_duration(left)}{bytes_}", left=left
        )

    def give_up(self) -> None:
        """Drop what cannot be finished in time."""
        left = self.home.clock.left()
        if left == float("inf"):
            return
        if left <= 0:
            self.drop(self.alive(), "time budget: not finished in time")
            return
        self.end_hung()
        for owner in sorted(name for name in self.waiting if not self.gone(name)):
            rate = self.home.costs.least_rate(owner) or 0.0
            seconds = rate * self.waiting[owner] / self.home.executor.capacity
            if seconds > left and self.has_others(owner):
                reason = f"about {rough_duration(seconds)} more needed, {rough_duration(left)} left"
                self.drop({owner}, f"time budget: {reason}")

    def alive(self) -> set[str]:
        """Return the owners that still have something to do."""
        unfinished = [self.tasks[i] for i in [*self.pending, *self.at_work.values()]]
        owners = {owner for task in unfinished for owner in task.owners}
        return {owner for owner in owners if not self.gone(owner)}

    def has_others(self, owner: str) -> bool:
        """Tell whether anything is left to combine without an owner."""
        return any(not self.gone(name) for name in self.waiting if name != owner)

    def end_hung(self) -> None:
        """End fits that take many times as long as those before."""
        if not self.home.executor.kills:
            return
        for ticket, since in self.home.executor.running().items():
            if ticket not in self.at_work:
                continue
            task, took = self.tasks[self.at_work[ticket]], time.monotonic() - since
            expected = self.home.costs.seconds(task)
            if expected is not None and took > max(HUNG_SECONDS, HUNG_TIMES * expected):
                reason = (
                    f"hung: {rough_duration(took)} where {rough_duration(expected)} was expected"
                )
                self.drop(set(task.owners), f"time budget: {reason}")

    def drop(self, owners: set[str], reason: str) -> None:
        """Leave owners out, and end what they have at work."""
        for owner in sorted(owners):
            self.home.dropped[owner] = reason
            self.home.stream.tell("dropped", owner, reason=reason)
        for ticket, index in list(self.at_work.items()):
            if all(self.gone(owner) for owner in self.tasks[index].owners):
                del self.at_work[ticket]
                self.home.executor.cancel(ticket, reason)
