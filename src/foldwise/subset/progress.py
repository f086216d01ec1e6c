"""Runs a search step by step: signs of life, a time limit, and Ctrl-C."""

import time
from collections.abc import Iterable

from foldwise.engine import progress
from foldwise.errors import warn


def drive(
    shares: Iterable[float], owner: str, *, verbose: int = 0, time_limit: float | None = None
) -> bool:
    """Run a search to its end, or until time or patience runs out."""
    start = time.monotonic()
    try:
        with progress(owner, 1.0, verbose, "subsets") as told:
            for share in shares:
                told.reach(share)
                if time_limit is not None and time.monotonic() - start > time_limit:
                    break
            else:
                return True
    except KeyboardInterrupt:
        warn(f"{owner}: interrupted; the best models so far are kept. Fit again to search on.")
        return False
    warn(
        f"{owner}: stopped after {time_limit:g} seconds with the best models so far. "
        "Raise time_limit to search on."
    )
    return False
