from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeRegressor

from foldwise import NetRegressor
from foldwise.learners import NodeFit, NodeTask, TrainingData
from foldwise.stack.problem import Entry, checked_layers
from foldwise.stack.table.jobs import Job, do_job, plan_jobs

RNG = np.random.default_rng(0)
DATA = TrainingData(RNG.normal(size=(30, 2)), RNG.normal(size=30))
NODES = [frozenset({0}), frozenset({1}), frozenset({0, 1})]
FOLDS = [np.arange(10), np.arange(10, 20)]


def planned(learners: list[tuple[str, Any]], **how: Any) -> list[Job]:
    (layer,) = checked_layers(
        "S", learners, classify=False, stack_method="auto", weighted=False, reserved=[]
    )
    entries: dict[str, Entry] = {entry.name: entry for entry in layer}
    tasks = {}
    for node in NODES:
        out = np.sort(np.concatenate([FOLDS[i] for i in node]))
        for name in entries:
            tasks[name, node, None] = NodeTask(np.setdiff1d(np.arange(30), out), out, 7)
    cells = {cell: entries[cell[0]].learner for cell in tasks}
    return plan_jobs(entries, cells, DATA, tasks, **how)


def test_every_cell_is_in_one_job() -> None:
    jobs = planned([("ridge", Ridge()), ("tree", DecisionTreeRegressor()), ("lasso", Lasso())])
    cells = [cell for job in jobs for cell in job.cells]
    assert len(cells) == len(set(cells)) == 9


def test_a_shortcut_is_one_job_and_comes_first() -> None:
    jobs = planned([("tree", DecisionTreeRegressor()), ("ridge", Ridge())])
    assert jobs[0].shortcut
    assert jobs[0].names == ("ridge",)
    assert len(jobs[0].cells) == 3
    assert not any(job.shortcut for job in jobs[1:])


def test_learners_that_share_a_first_step_are_fitted_together() -> None:
    learners = [
        ("a", make_pipeline(MinMaxScaler(), Lasso())),
        ("b", make_pipeline(MinMaxScaler(), DecisionTreeRegressor())),
    ]
    assert [job.names for job in planned(learners)] == [("a", "b")] * 3


def test_by_learner_one_is_finished_before_the_next_in_the_users_order() -> None:
    learners = [
        ("b", make_pipeline(MinMaxScaler(), DecisionTreeRegressor())),
        ("a", make_pipeline(MinMaxScaler(), Lasso())),
        ("ridge", Ridge()),
    ]
    jobs = planned(learners, by_learner=True)
    assert [job.names[0] for job in jobs] == ["ridge", "b", "b", "b", "a", "a", "a"]


def test_a_shortcut_that_takes_long_waits_for_its_turn() -> None:
    net = make_pipeline(MinMaxScaler(), NetRegressor())
    learners = [("tree", DecisionTreeRegressor()), ("net", net), ("lasso", Lasso())]
    assert planned(learners)[0].names == ("net",)
    jobs = planned(learners, by_learner=True)
    assert [job.names[0] for job in jobs] == ["tree"] * 3 + ["net"] + ["lasso"] * 3


def test_both_kinds_of_jobs_give_one_result_a_cell() -> None:
    for job in planned([("ridge", Ridge()), ("tree", DecisionTreeRegressor())]):
        fits = do_job(DATA, job)
        assert len(fits) == len(job.cells)
        assert all(isinstance(fit, NodeFit) for fit in fits)


def test_the_size_of_a_job_is_its_rows_times_its_fits() -> None:
    jobs = planned([("ridge", Ridge()), ("tree", DecisionTreeRegressor())])
    assert [job.size for job in jobs] == [20 + 20 + 10, 20, 20, 10]


def test_what_is_watched_is_told_to_take_longer_for_the_same_rows() -> None:
    (job,) = planned([("tree", DecisionTreeRegressor())])[:1]
    watched = replace(job.tasks[0], watched=(job.tasks[0].test,))
    assert replace(job, tasks=(watched,)).size == pytest.approx(1.8 * job.size)
