"""Tasks as the lattice deals them, and the comparison all shortcut tests make."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from foldwise.learners import NodeFit, NodeTask, TrainingData
from foldwise.learners.general import fit_generally
from foldwise.learners.shortcuts import shortcut_for

# Promise 4: shortcuts agree with the general way to this, relative to the largest number.
RELATIVE = 1e-8


def lattice(splits: Any, depth: int = 2) -> list[NodeTask]:
    """Return the nodes of up to ``depth`` left-out folds, each testing all of these folds."""
    splits = list(splits)
    tasks = []
    for size in range(1, depth + 1):
        for left_out in combinations(splits, size):
            train = left_out[0][0]
            for other, _ in left_out[1:]:
                train = np.intersect1d(train, other)
            test = np.concatenate([test for _, test in left_out])
            if len(train):
                tasks.append(NodeTask(train, test, 0))
    return tasks


def plain(n_rows: int, n_folds: int = 3, depth: int = 2) -> list[NodeTask]:
    folds = KFold(n_folds, shuffle=True, random_state=0)
    return lattice(folds.split(np.zeros(n_rows)), depth)


def grouped(n_rows: int) -> list[NodeTask]:
    groups = np.random.default_rng(0).integers(0, 12, n_rows)
    return lattice(GroupKFold(4).split(np.zeros(n_rows), groups=groups))


def forward(n_rows: int) -> list[NodeTask]:
    return lattice(TimeSeriesSplit(4, gap=2).split(np.zeros(n_rows)), depth=1)


def purged(n_rows: int) -> list[NodeTask]:
    """Contiguous folds, with five rows before and after each taken out of training."""
    rows = np.arange(n_rows)
    splits = []
    for test in np.array_split(rows, 5):
        near = (rows >= test[0] - 5) & (rows <= test[-1] + 5)
        splits.append((rows[~near], test))
    return lattice(splits)


LATTICES = {"plain": plain, "grouped": grouped, "forward": forward, "purged": purged}


def by_shortcut(
    learner: Any, data: TrainingData, tasks: list[NodeTask], method: str = "predict"
) -> list[NodeFit] | None:
    """Return what the shortcut returns; None if it declined all tasks."""
    shortcut = shortcut_for(learner, data)
    return None if shortcut is None else shortcut(learner, data, tasks, method)


def assert_agrees(
    learner: Any,
    data: TrainingData,
    tasks: list[NodeTask],
    method: str = "predict",
    *,
    must_try: bool = True,
    relative: float = RELATIVE,
) -> bool:
    """Compare predictions and models with the general way; tell whether there was a shortcut."""
    fits = by_shortcut(learner, data, tasks, method)
    assert fits is not None or not must_try
    if fits is None:
        return False
    for fit, task in zip(fits, tasks, strict=True):
        general = fit_generally(learner, data, task, method)
        assert fit.predictions.shape == general.predictions.shape
        close(fit.predictions, general.predictions, relative)
        if len(task.test):
            X = rows_of(data.X, task.test)
            close(getattr(fit.model, method)(X), getattr(general.model, method)(X), relative)
        assert_same_attributes(fit.model, general.model)
    return True


def close(ours: Any, theirs: Any, relative: float = RELATIVE) -> None:
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    scale = np.abs(theirs).max(initial=0.0)
    assert np.abs(ours - theirs).max(initial=0.0) <= relative * max(scale, 1e-300)


def rows_of(X: Any, rows: Any) -> Any:
    if isinstance(X, np.ndarray):
        return X[rows]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def assert_same_attributes(ours: Any, theirs: Any) -> None:
    """Compare names and shapes of everything the two models hold."""
    assert type(ours) is type(theirs)
    if hasattr(ours, "steps"):
        for (_, one), (_, other) in zip(ours.steps, theirs.steps, strict=True):
            assert_same_attributes(one, other)
        return
    assert vars(ours).keys() == vars(theirs).keys()
    for name, value in vars(theirs).items():
        if isinstance(value, (np.ndarray, float, int)):
            assert np.shape(getattr(ours, name)) == np.shape(value), name
    if hasattr(theirs, "feature_names_in_"):
        assert list(ours.feature_names_in_) == list(theirs.feature_names_in_)
