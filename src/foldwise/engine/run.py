"""Run jobs in this process or in local processes; results come back in plan order."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import joblib
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    work: Callable[[Any, Job], Result],
    shared: Any,
    jobs: Sequence[Job],
    *,
    n_jobs: int | None = None,
    wanted: Callable[[Job], bool] | None = None,
) -> Iterator[tuple[Job, Result]]:
    """Yield each job with its result, in the order of the jobs.

    Parameters
    ----------
    work : callable
        Called as ``work(shared, job)``. It must be picklable for several processes.
    shared : object
        Handed to every call; arrays in it are memory-mapped, not copied, for processes.
    jobs : sequence
        What is to be done.
    n_jobs : int or None
        As in scikit-learn: None is one, in this process.
    wanted : callable or None
        Asked right before a job starts in this process; False skips the job.

    Yields
    ------
    job, result
        In plan order, so that what is reduced from them has the same bits everywhere.

    Notes
    -----
    BLAS runs on one thread either way: more threads change the last bits. In processes
    every other thread pool has one thread too; in this process learners keep their own.

    Examples
    --------
    >>> list(run_jobs(lambda shared, job: shared + job, 10, [1, 2]))
    [(1, 11), (2, 12)]
    """
    if joblib.effective_n_jobs(n_jobs) == 1:
        with threadpool_limits(1, user_api="blas"):
            for job in jobs:
                if wanted is None or wanted(job):
                    yield job, work(shared, job)
        return
    with joblib.parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
        parallel = Parallel(return_as="generator")
        results = parallel(delayed(work)(shared, job) for job in jobs)
        try:
            yield from zip(jobs, results, strict=True)
        finally:
            with warnings.catch_warnings():
                # joblib warns of work that is thrown away when a caller stops early.
                warnings.simplefilter("ignore")
                results.close()
