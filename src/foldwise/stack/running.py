"""How a stack's fits are run: the parameters, and what is told afterwards."""

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from foldwise.engine import Clock, Event, RunOptions, RunSummary, check_options, fingerprint
from foldwise.stack.callbacks import CallbackSupportMixin, FitTasks, with_callbacks
from foldwise.stack.reader import Problem

MOST_SEEDS = np.iinfo(np.int32).max
# Live objects: neither copied nor pickled with a stack.
LIVE = ("executor", "callback")


class RunMixin(CallbackSupportMixin, BaseEstimator):
    """Gives a stack an executor, a run directory, a time budget and signs of life."""

    n_jobs: int | None
    executor: Any
    run_dir: Any
    time_budget: float | None
    callback: Any
    on_interrupt: str
    random_state: Any
    verbose: int

    def _run_options(self) -> RunOptions:
        options = RunOptions(
            n_jobs=self.n_jobs,
            executor=self.executor,
            run_dir=self.run_dir,
            time_budget=self.time_budget,
            callback=self._listener(),
            on_interrupt=self.on_interrupt,
            verbose=int(self.verbose),
        )
        check_options(type(self).__name__, options)
        return options

    def _listener(self) -> Any:
        """Return the user's callback, together with scikit-learn's if there are any."""
        if not getattr(self, "_skl_callbacks", []):
            return self.callback
        tasks, ours = FitTasks(self), self.callback

        def both(event: Event) -> None:
            tasks(event)
            if ours is not None:
                ours(event)

        return both

    def _heard(self, method: Any, *arguments: Any) -> Self:
        """Call a method so that scikit-learn's callbacks, if there are any, are torn down."""
        if getattr(self, "_skl_callbacks", []):
            # Only then: a frame of scikit-learn's would hide the user's line from warnings.
            method = with_callbacks(method)
        return method(self, *arguments)

    def _clock(self) -> Clock:
        return Clock(self.time_budget)

    def _seed_for(self, problem: Problem) -> int:
        """Return a seed; a run that is to be continued draws it from the data."""
        if self.run_dir is not None and self.random_state is None:
            return int(fingerprint(problem.data)[:8], 16) % MOST_SEEDS
        return int(check_random_state(self.random_state).randint(MOST_SEEDS))

    def _set_run(self, summary: RunSummary | None) -> None:
        self.run_ = summary or RunSummary()
        self.partial_ = self.run_.partial

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        for name in LIVE:
            setattr(bare, name, None)
        new = super(RunMixin, bare).__sklearn_clone__()
        for name in LIVE:
            setattr(new, name, getattr(self, name))
        return new


def without_live(state: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's state without what lives in this process only.

    Examples
    --------
    >>> without_live({"executor": object(), "callback": print, "cv": 5})
    {'executor': None, 'callback': None, 'cv': 5}
    >>> without_live({"executor": "threads"})
    {'executor': 'threads'}
    """
    return {
        name: None if name in LIVE and not isinstance(value, str) else value
        for name, value in state.items()
    }
