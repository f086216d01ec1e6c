"""Shortcuts for nearest neighbours: each row is compared with each atom once.

The nearest rows of a node are among the nearest rows of its atoms, so the neighbours in all
nodes are found by merging the few nearest rows of each atom.
"""

import time
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.learners.moments import EPSILON
from foldwise.learners.prepare import aligned, prepared, take_rows
from foldwise.learners.rows import (
    Atoms,
    Matrix,
    atoms_of,
    holds_codes,
    holds_numbers,
    matrix_of,
    predict_blocks,
)
from foldwise.learners.tasks import NodeFit, Tasks, TrainingData, Tried

EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")
ANGLES = ("cosine", "correlation")
SAFE = 1e-9


def handles_neighbors(learner: Any, data: TrainingData) -> bool:
    """Tell whether the neighbours vote equally or by distance, in a metric known by name."""
    return (
        isinstance(learner.metric, str)
        and learner.metric not in ("precomputed", "nan_euclidean")
        and learner.metric_params is None
        and learner.weights in ("uniform", "distance")
        and isinstance(learner.n_neighbors, Integral)
        and int(learner.n_neighbors) > 0
        and data.sample_weight is None
        and np.asarray(take_rows(data.X, np.arange(1))).dtype == np.float64
        and (holds_codes if hasattr(learner, "predict_proba") else holds_numbers)(data)
    )


def fit_neighbors(learner: Any, data: TrainingData, tasks: Tasks, method: str) -> Tried:
    """Fit KNeighborsClassifier or KNeighborsRegressor at all nodes."""
    matrix = matrix_of(data.X)
    atoms = atoms_of([task.train for task in tasks], len(data.y))
    wanted = learner.n_neighbors + 1
    if matrix is None or atoms is None or not hasattr(learner, method):
        return None
    if 2 * wanted * atoms.n_atoms > len(data.y):
        return None
    start = time.perf_counter()
    search = _AtomSearch(learner, matrix, atoms)
    searched = time.perf_counter()
    if not search.finite:
        return None
    vote = _Vote(learner, data, tasks, method)
    unsure: set[int] = {i for i, task in enumerate(tasks) if len(task.train) < learner.n_neighbors}

    def respond(rows: IntArray, numbers: list[int]) -> list[FloatArray]:
        found, atom = search.nearest(rows, np.any(atoms.members[numbers], axis=0))
        responses = []
        for number in numbers:
            response = None
            if number not in unsure:
                near = found.within(np.flatnonzero(atoms.members[number, atom]), wanted)
                response = vote.of(near, number) if search.is_sure(near) else None
            if response is None:
                unsure.add(number)
                response = np.zeros((len(rows), vote.width))
            responses.append(response)
        return responses

    predictions = predict_blocks(tasks, matrix.shape, respond)
    share = (searched - start) / max(len(tasks), 1)
    asking = (time.perf_counter() - searched) / max(len(tasks), 1)
    fits: list[NodeFit | None] = [None] * len(tasks)
    for number, (task, values) in enumerate(zip(tasks, predictions, strict=True)):
        if number not in unsure:
            start, model = time.perf_counter(), None
            if task.keep_model:
                model = prepared(learner, task.seed)
                model.fit(take_rows(data.X, task.train), data.y[task.train])
            fits[number] = NodeFit(values, model, share + time.perf_counter() - start, asking)
    return fits


@dataclass(frozen=True)
class _Near:
    """Nearest rows, nearest first or (before merging) atom by atom."""

    distance: FloatArray
    row: IntArray

    def at(self, places: IntArray) -> "_Near":
        """Return those at some places of each row."""
        distance = np.take_along_axis(self.distance, places, axis=1)
        return _Near(distance, np.take_along_axis(self.row, places, axis=1))

    def within(self, columns: IntArray, wanted: int) -> "_Near":
        """Return the nearest of some columns."""
        near = _Near(self.distance[:, columns], self.row[:, columns])
        if len(columns) > wanted:
            near = near.at(np.argpartition(near.distance, wanted - 1, axis=1)[:, :wanted])
        return near.at(np.argsort(near.distance, axis=1, kind="stable"))


class _AtomSearch:
    """One search structure for each atom."""

    def __init__(self, learner: Any, matrix: Matrix, atoms: Atoms) -> None:
        self.learner, self.matrix, self.rows = learner, matrix, atoms.rows()
        norms = [np.einsum("ij,ij->i", block, block).max() for _, block in matrix.blocks()]
        self.largest = float(np.max(norms))
        self.finite = bool(np.isfinite(self.largest))
        self.structures: list[Any] = []
        names = ("n_neighbors", "algorithm", "leaf_size", "metric", "p", "n_jobs")
        how = {name: getattr(learner, name) for name in names}
        if self.finite:
            self.structures = [NearestNeighbors(**how).fit(matrix.take(r)) for r in self.rows]

    def nearest(self, rows: IntArray, needed: BoolArray) -> tuple[_Near, IntArray]:
        """Return one more than the wanted nearest rows of each needed atom, and their atoms."""
        X = self.matrix.take(rows)
        distances, found, atoms = [], [], []
        for atom in np.flatnonzero(needed):
            inside = self.rows[atom]
            wanted = min(self.learner.n_neighbors + 1, len(inside))
            distance, index = self.structures[atom].kneighbors(X, wanted)
            distances.append(distance)
            found.append(inside[index])
            atoms.append(np.full(wanted, atom))
        return _Near(np.hstack(distances), np.hstack(found)), np.concatenate(atoms)

    def is_sure(self, near: _Near) -> bool:
        """Tell whether rounding can change neither who the neighbours are nor their weights."""
        k, metric = self.learner.n_neighbors, self.learner.metric
        euclidean = metric in EUCLIDEAN or (metric == "minkowski" and self.learner.p == 2)
        distance = near.distance**2 if euclidean and metric != "sqeuclidean" else near.distance
        # Squared distances come from |x|² + |y|² − 2xy, angles from 1 − xy: with errors of
        # the size of the largest term. All others are sums of positive terms.
        if euclidean:
            error = np.full(len(distance), 16 * EPSILON * self.largest)
        elif metric in ANGLES:
            error = np.full(len(distance), 16 * EPSILON)
        else:
            error = 16 * EPSILON * distance[:, k - 1]
        if distance.shape[1] > k and (distance[:, k] - distance[:, k - 1] <= 2 * error).any():
            return False
        if self.learner.weights == "uniform" or not (euclidean or metric in ANGLES):
            return True
        return bool((error <= SAFE * distance[:, 0]).all())


class _Vote:
    """What the neighbours say."""

    def __init__(self, learner: Any, data: TrainingData, tasks: Tasks, method: str) -> None:
        self.learner, self.data, self.method, self.tasks = learner, data, method, tasks
        self.classifies = hasattr(learner, "predict_proba")
        self.y = data.y if self.classifies else data.y.reshape(len(data.y), -1)
        n_classes = int(data.n_classes or 0)
        labels = self.classifies and method == "predict"
        self.width = 1 if labels else n_classes if self.classifies else self.y.shape[1]
        self.seen = [np.unique(data.y[task.train]) for task in tasks] if self.classifies else []

    def of(self, near: _Near, number: int) -> FloatArray | None:
        """Return the response for a task, None if a vote is too close to call."""
        k = self.learner.n_neighbors
        row, weight = near.row[:, :k], self._weights(near.distance[:, :k])
        if not self.classifies:
            y = self.y[row]
            values: FloatArray = np.einsum("ij,ijk->ik", weight, y) / weight.sum(axis=1)[:, None]
            return values
        seen, n_classes = self.seen[number], int(self.data.n_classes or 0)
        votes = np.zeros((len(row), n_classes))
        np.add.at(votes, (np.arange(len(row))[:, None], self.y[row]), weight)
        if self.method == "predict":
            first, second = np.sort(votes, axis=1)[:, :-3:-1].T if n_classes > 1 else (votes, 0)
            close = (first - second <= SAFE * first) & (first != second)
            if close.any() or (self.learner.weights == "distance" and (first == second).any()):
                return None
            return np.argmax(votes, axis=1).astype(np.float64)[:, None]
        votes = votes[:, seen] / votes.sum(axis=1, keepdims=True)
        return aligned(votes, seen, n_classes, len(self.tasks[number].train), self.method)

    def _weights(self, distance: FloatArray) -> FloatArray:
        if self.learner.weights == "uniform":
            return np.ones_like(distance)
        with np.errstate(divide="ignore"):
            weight = 1.0 / distance
        endless = np.isinf(weight)
        return np.where(endless.any(axis=1, keepdims=True), endless, weight)
