import numpy as np
import pytest

from foldwise.scores.metric import as_metric
from foldwise.stack.stackers.greedy import GreedyStacker

RNG = np.random.default_rng(0)
Y = RNG.normal(size=80)
MEMBERS = (Y[:, None] + RNG.normal(size=(80, 5)))[:, :, None]


@pytest.mark.parametrize("n_bags", [0, 6])
def test_points_of_a_grid_share_a_path_and_are_each_what_they_would_be_alone(n_bags: int) -> None:
    settings = [(n, s, r) for n in (3, 20) for s in (0.0, 0.5) for r in (True, False)]
    points = [
        GreedyStacker(n_steps=n, shrinkage=s, replace=r, n_bags=n_bags, random_state=1)
        for n, s, r in settings
    ]
    together = GreedyStacker().fit_points(MEMBERS, Y, None, points)
    for (n, s, r), found in zip(settings, together, strict=True):
        alone = GreedyStacker(n_steps=n, shrinkage=s, replace=r, n_bags=n_bags, random_state=1)
        np.testing.assert_allclose(found.weights_, alone.fit(MEMBERS, Y).weights_, rtol=1e-12)


def test_several_targets_are_picked_for_one_by_one() -> None:
    both = np.concatenate([MEMBERS, MEMBERS[:, ::-1]], axis=2)
    found = GreedyStacker().fit(both, np.column_stack([Y, Y])).weights_
    alone = GreedyStacker().fit(MEMBERS, Y).weights_
    np.testing.assert_allclose(found, [alone, alone[::-1]])


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "f1"])
def test_any_scorer_can_be_selected_for(scoring: str) -> None:
    y = (Y > 0).astype(int)
    labels = np.array([0, 1])
    metric = as_metric(scoring, owner="S", classify=True, has_probabilities=True)
    members = 1 / (1 + np.exp(-MEMBERS))
    found = GreedyStacker(metric, labels, n_steps=10).fit(members, y)
    alone = [GreedyStacker(metric, labels, n_steps=1).fit(members[:, [m]], y) for m in range(5)]
    score = -found._loss(y, None)(np.einsum("nmt,m->nt", members, found.weights_))
    each = [-a._loss(y, None)(members[:, m]) for m, a in enumerate(alone)]
    assert score >= max(each)
