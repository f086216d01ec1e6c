"""Signs of life of a long fit, through the logger named "foldwise"."""

import logging
import time

LOGGER = logging.getLogger("foldwise")
SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Reports how far a loop has come.

    Lines go to ``logging.getLogger("foldwise")``. If nothing listens there, a handler that
    writes to standard error is added, because the caller asked for lines.

    ``verbose``: 0: silent. 1: a line at the start and every two seconds. 2: a line a step.

    Examples
    --------
    >>> progress = Progress("AdaBoostClassifier", 50, verbose=0)
    >>> progress.step(1)
    """

    def __init__(self, owner: str, total: int, verbose: int) -> None:
        self.owner = owner
        self.total = total
        self.verbose = verbose
        self._start = self._last = time.monotonic()
        if verbose:
            if not LOGGER.hasHandlers():
                LOGGER.addHandler(logging.StreamHandler())
            LOGGER.setLevel(logging.INFO)
            LOGGER.info("%s: 0 of %d", owner, total)

    def step(self, done: int, note: str = "") -> None:
        """Say that ``done`` steps are done, if it is time to."""
        if not self.verbose:
            return
        now = time.monotonic()
        if self.verbose < 2 and now - self._last < SECONDS_BETWEEN_LINES and done < self.total:
            return
        self._last = now
        left = (now - self._start) / max(done, 1) * (self.total - done)
        LOGGER.info("%s: %d of %d, %.0f s left%s", self.owner, done, self.total, left, note)
