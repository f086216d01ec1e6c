import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from foldwise.combine import rank_mean
from foldwise.stack.stackers.means import AverageStacker, RankStacker

RNG = np.random.default_rng(0)
LABELS = np.array(["a", "b"])


def test_a_tied_vote_goes_to_the_more_probable_class() -> None:
    members = np.array([[[0.9], [0.45]], [[0.55], [0.1]]])
    response = AverageStacker("majority_vote", None, LABELS).respond(members)
    assert response.values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert response.labels.tolist() == [1, 0]


def test_the_majority_wins_against_sure_minorities() -> None:
    members = np.array([[[0.51], [0.51], [0.0]]])
    assert AverageStacker("majority_vote", None, LABELS).respond(members).labels.tolist() == [1]
    assert AverageStacker("median", None, LABELS).respond(members).labels.tolist() == [1]


def test_one_and_two_columns_are_the_same_for_two_classes() -> None:
    one = RNG.uniform(size=(9, 5, 1))
    two = np.concatenate([1 - one, one], axis=2)
    for rule in ("median", "trimmed_mean", "geometric_mean", "majority_vote"):
        stacker = AverageStacker(rule, None, LABELS)
        np.testing.assert_allclose(stacker.respond(one).values, stacker.respond(two).values)


def test_mean_ranks_keep_their_order_as_probabilities() -> None:
    members = RNG.uniform(size=(200, 3, 1))
    y = (members.mean(axis=1)[:, 0] + 0.2 * RNG.normal(size=200) > 0.5).astype(int)
    response = RankStacker(None, LABELS).fit(members, y).respond(members)
    ranks = rank_mean(members[:, :, 0]).predict(members[:, :, 0])
    assert spearmanr(response.values[:, 1], ranks).statistic == pytest.approx(1.0, abs=1e-4)
    assert response.values[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


def test_mean_ranks_of_numbers_become_quantiles_of_the_target() -> None:
    y = np.exp(RNG.normal(size=150))
    members = (np.log(y)[:, None] + 0.3 * RNG.normal(size=(150, 3)))[:, :, None]
    given = RankStacker().fit(members, y).respond(members).values[:, 0]
    at = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(np.quantile(given, at), np.quantile(y, at), rtol=0.05)
    ranks = rank_mean(members[:, :, 0]).predict(members[:, :, 0])
    assert spearmanr(given, ranks).statistic == pytest.approx(1.0, abs=1e-3)
    assert np.abs(rankdata(given) - rankdata(y)).mean() < 20
