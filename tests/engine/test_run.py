import os
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from foldwise.engine import run_jobs


def scaled(shared: np.ndarray, job: int) -> float:
    return float(shared.sum() * job)


def blas_threads(_shared: Any, _job: int) -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def process(_shared: Any, _job: int) -> int:
    return os.getpid()


def broken(_shared: Any, job: int) -> int:
    raise KeyError(job)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_back_in_plan_order(n_jobs: int | None) -> None:
    jobs = [3, 1, 2]
    results = list(run_jobs(scaled, np.ones(4), jobs, n_jobs=n_jobs))
    assert results == [(3, 12.0), (1, 4.0), (2, 8.0)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_wherever_a_job_runs(n_jobs: int) -> None:
    for _, threads in run_jobs(blas_threads, None, [0, 1], n_jobs=n_jobs):
        assert set(threads) == {1}


def test_one_job_at_a_time_runs_in_this_process() -> None:
    assert [pid for _, pid in run_jobs(process, None, [0], n_jobs=None)] == [os.getpid()]


def test_several_run_in_other_processes() -> None:
    assert os.getpid() not in [pid for _, pid in run_jobs(process, None, [0, 1], n_jobs=2)]


def test_a_job_that_is_not_wanted_is_skipped() -> None:
    seen = [job for job, _ in run_jobs(scaled, np.ones(1), [1, 2, 3], wanted=lambda job: job != 2)]
    assert seen == [1, 3]


def test_a_job_is_asked_for_right_before_it_starts() -> None:
    stop: set[int] = set()
    seen = []
    for job, _ in run_jobs(scaled, np.ones(1), [1, 2, 3], wanted=lambda job: job not in stop):
        seen.append(job)
        stop.add(2)
    assert seen == [1, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_job_reaches_the_caller(n_jobs: int) -> None:
    with pytest.raises(KeyError):
        list(run_jobs(broken, None, [7, 8], n_jobs=n_jobs))


def test_no_jobs_give_no_results() -> None:
    assert list(run_jobs(scaled, np.ones(1), [], n_jobs=2)) == []
