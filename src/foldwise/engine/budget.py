"""What a run may take and what its tasks will: time, counted down, and costs, learnt on the way."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Clock:
    """Counts the time of a run down.

    Parameters
    ----------
    budget : float or None, default=None
        Seconds in all; None is without end.
    reserve : float, default=0
        Seconds of them that fits must leave for what comes after.

    Examples
    --------
    >>> Clock().left()
    inf
    >>> 8.9 < Clock(10.0, reserve=1.0).left() <= 9.0
    True
    """

    budget: float | None = None
    reserve: float = 0.0
    start: float = field(default_factory=time.monotonic)
    _until: float = float("inf")

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def left(self) -> float:
        """Return the seconds fits may still take, of the slice that was cut off last."""
        if self.budget is None:
            return float("inf")
        end = self.start + self.budget - self.reserve
        return min(end, self._until) - time.monotonic()

    def slice(self, share: float) -> None:
        """Cut off a share of what is left, for the fits that come next."""
        self._until = float("inf")
        if share < 1.0:
            self._until = time.monotonic() + share * self.left()


ENDLESS = Clock()
# What is expected errs by a factor of two.
EXPECTED_SHARE = 0.5


@dataclass(frozen=True)
class Task:
    """A part of a plan.

    Attributes
    ----------
    job : object
        What the work is called with; of a task ``after`` others, a function that returns it.
    owners : tuple of str
        Whose it is: learners. It is skipped once all of them have failed.
    fits : int
        How many fits it is.
    size : float
        What its cost is in proportion to, within an owner: rows times fits.
    after : tuple of int
        Which tasks of the plan, of the same owners, must be done before.

    Examples
    --------
    >>> from foldwise.engine import Task
    >>> task = Task("what the work is called with", ("ridge",), fits=15, size=15 * 800.0)
    >>> task.owners, task.fits
    (('ridge',), 15)
    """

    job: object
    owners: tuple[str, ...]
    fits: int = 1
    size: float = 1.0
    after: tuple[int, ...] = ()


@dataclass
class Costs:
    """Seconds and bytes of tasks by owner, in proportion to their size.

    ``expected``: Seconds of some owners for each unit of size, before anything of theirs was done.
    """

    expected: Mapping[str, float] = field(default_factory=dict)
    _spent: dict[tuple[str, ...], list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0.0, 0.0, 0.0])
    )
    highest: int = 0

    def learn(self, task: Task, seconds: float, memory: int) -> None:
        """Remember what a task took."""
        spent = self._spent[task.owners]
        spent[0] += task.size
        spent[1] += seconds
        spent[2] = max(spent[2], memory / task.size)
        self.highest = max(self.highest, memory)

    def rate(self, owners: tuple[str, ...]) -> float | None:
        """Return the seconds a task takes for each unit of its size, None if not known."""
        if owners not in self._spent:
            return None
        size, seconds, _ = self._spent[owners]
        return seconds / size

    def least_rate(self, owner: str) -> float | None:
        """Return what a unit takes, or before anything was done what it takes at the least."""
        rate = self.rate((owner,))
        if rate is not None or owner not in self.expected:
            return rate
        return EXPECTED_SHARE * max(self._late(), 1.0) * self.expected[owner]

    def _late(self) -> float:
        """Return how many times as long as expected the work done has taken."""
        alone = [(owners[0], spent) for owners, spent in self._spent.items() if len(owners) == 1]
        known = [(owner, spent) for owner, spent in alone if owner in self.expected]
        expected = sum(self.expected[owner] * size for owner, (size, _, _) in known)
        return sum(seconds for _, (_, seconds, _) in known) / expected if expected else 1.0

    def seconds(self, task: Task) -> float | None:
        """Return how long a task will take, None if nothing like it was done."""
        rate = self.rate(task.owners)
        return None if rate is None else rate * task.size

    def memory(self, task: Task) -> float | None:
        """Return how many bytes a task will need, None if nothing like it was done."""
        return self._spent[task.owners][2] * task.size if task.owners in self._spent else None

    def total(self, tasks: Sequence[Task]) -> float | None:
        """Return how long tasks will take together; unknown ones as others, on average."""
        if not self._spent:
            return None
        known = [(task, self.seconds(task)) for task in tasks]
        size = sum(spent[0] for spent in self._spent.values())
        rate = sum(spent[1] for spent in self._spent.values()) / size
        return sum(rate * t.size if seconds is None else seconds for t, seconds in known)


def free_memory() -> int | None:
    """Return the bytes that can still be taken on this machine, None if it does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    free = next((1024 * int(x.split()[1]) for x in lines if x.startswith("MemAvailable")), None)
    limit, used = _number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory.current")
    if free is not None and limit is not None and used is not None:
        free = min(free, max(limit - used, 0))
    return free


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None
