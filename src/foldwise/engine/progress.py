"""Signs of life on long work: lines on the logger "foldwise"."""

import logging
import time

logger = logging.getLogger("foldwise")


class Progress:
    """Counts finished fits and says how long the rest will take.

    Parameters
    ----------
    owner : str
        Who is at work.
    n_fits : int
        How many fits there will be.
    verbose : int
        0 says nothing; otherwise a line a finished fit, at most ten a second. A handler is
        added to the logger "foldwise" if nobody else listens.

    Examples
    --------
    >>> Progress("StackingRegressor", 10, verbose=0).step("ridge")
    """

    def __init__(self, owner: str, n_fits: int, verbose: int) -> None:
        self.owner, self.n_fits, self.verbose = owner, n_fits, verbose
        self.done, self.start, self.last = 0, time.perf_counter(), 0.0
        if verbose and not logger.hasHandlers():
            logger.addHandler(logging.StreamHandler())
        if verbose:
            logger.setLevel(logging.INFO)
            logger.info("%s: %d fits to do", owner, n_fits)

    def step(self, what: str, n: int = 1) -> None:
        """Say that something is finished.

        Parameters
        ----------
        what : str
            What was fitted.
        n : int, default=1
            How many fits it was.
        """
        self.done += n
        now = time.perf_counter()
        if not self.verbose or (now - self.last < 0.1 and self.done < self.n_fits):
            return
        self.last = now
        spent = now - self.start
        left = spent / self.done * max(self.n_fits - self.done, 0)
        logger.info(
            "%s: %d/%d fits, %s, %.0f s, about %.0f s left",
            self.owner,
            self.done,
            self.n_fits,
            what,
            spent,
            left,
        )
