"""Runs a search step by step: signs of life, a time limit, and Ctrl-C."""

import sys
import time
from collections.abc import Iterable

from foldwise.errors import warn
from foldwise.wording import rough_duration

FIRST_LINE = 2.0


def drive(
    shares: Iterable[float],
    owner: str,
    *,
    verbose: int = 0,
    time_limit: float | None = None,
) -> bool:
    """Run a search to its end, or until time or patience runs out."""
    start = time.monotonic()
    said = start
    try:
        for share in shares:
            now = time.monotonic()
            if verbose and now - said > FIRST_LINE:
                said = now
                sys.stderr.write(line(owner, share, now - start) + "\n")
            if time_limit is not None and now - start > time_limit:
                warn(
                    f"{owner}: stopped after {time_limit:g} seconds with the best models so far. "
                    "Raise time_limit to search on."
                )
                return False
    except KeyboardInterrupt:
        warn(f"{owner}: interrupted; the best models so far are kept. Fit again to search on.")
        return False
    return True


def line(owner: str, share: float, seconds: float) -> str:
    """Return one line of progress.

    Examples
    --------
    >>> line("BestSubsetRegressor", 0.25, 10)
    'BestSubsetRegressor: 25.0 % of the subsets decided in 10 s, about 30 s left'
    """
    left = f", about {rough_duration(seconds * (1 - share) / share)} left" if share > 0 else ""
    return f"{owner}: {100 * share:.1f} % of the subsets decided in {rough_duration(seconds)}{left}"
