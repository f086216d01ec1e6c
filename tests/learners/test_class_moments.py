import numpy as np
import pytest

from foldwise.learners import TrainingData
from foldwise.learners import matrix as matrix_module
from foldwise.learners.atoms import atoms_of
from foldwise.learners.class_moments import cell_moments, class_moments
from foldwise.learners.matrix import matrix_of
from learners.lattices import LATTICES


def scatter(x, w):
    mean = w @ x / w.sum()
    return (x - mean).T @ (w[:, None] * (x - mean))


@pytest.mark.parametrize("kind", ["each", "pooled", "diagonal"])
@pytest.mark.parametrize("deal", LATTICES)
def test_moments_of_a_node_are_those_of_its_rows(deal, kind, monkeypatch):
    monkeypatch.setattr(matrix_module, "BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(150, 3)) + 5, rng.integers(0, 3, 150), rng.exponential(size=150)
    y[:20] = 3
    tasks = LATTICES[deal](150)
    atoms = atoms_of([task.train for task in tasks], 150)
    cells = cell_moments(matrix_of(X), TrainingData(X, y, weight, 4), atoms, kind)
    for task, members in zip(tasks, atoms.members, strict=True):
        ours = class_moments(cells, members, kind)
        x, c, w = X[task.train], y[task.train], weight[task.train]
        np.testing.assert_array_equal(ours.classes, np.unique(c))
        each = np.array([scatter(x[c == k], w[c == k]) for k in ours.classes])
        expected = {
            "each": each,
            "pooled": each.sum(axis=0),
            "diagonal": np.diagonal(each, axis1=1, axis2=2),
        }[kind]
        np.testing.assert_allclose(ours.scatter, expected, rtol=1e-11, atol=1e-11)
        means = [np.average(x[c == k], axis=0, weights=w[c == k]) for k in ours.classes]
        np.testing.assert_allclose(ours.mean, means, rtol=1e-12)
        np.testing.assert_allclose(ours.variance, x.var(axis=0), rtol=1e-11)
        np.testing.assert_array_equal(ours.count, np.unique(c, return_counts=True)[1])


def test_a_class_without_weight_has_no_moments():
    data = TrainingData(np.eye(4), np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 1.0, 1.0]), 2)
    atoms = atoms_of([np.arange(4)], 4)
    cells = cell_moments(matrix_of(data.X), data, atoms, "diagonal")
    assert class_moments(cells, atoms.members[0], "diagonal") is None
