"""The time a run may take."""

import time
from dataclasses import dataclass, field


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
