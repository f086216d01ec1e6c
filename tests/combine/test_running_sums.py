import numpy as np
import pytest
from sklearn.metrics import log_loss

from foldwise.combine.running_sums import AnySums, LogSums, SquaredSums

RNG = np.random.default_rng(0)
N, M = 60, 8
CODES = RNG.integers(0, 3, N)
CHANCES = RNG.dirichlet(np.ones(3), size=(N, M)) * 0.7 + 0.3 * np.eye(3)[CODES][:, None]
WEIGHT = RNG.uniform(size=N)
ALL = np.ones(M, dtype=bool)


def brier(mean) -> float:
    return float(np.average((mean - np.eye(3)[CODES]) ** 2, axis=0, weights=WEIGHT).mean())


def logarithmic(mean) -> float:
    return log_loss(CODES, mean, sample_weight=WEIGHT)


@pytest.mark.parametrize(
    ("sums", "loss"),
    [
        (SquaredSums.of(CHANCES, CODES, WEIGHT), brier),
        (LogSums.of(CHANCES, CODES, WEIGHT), logarithmic),
        (LogSums.of(CHANCES, CODES), lambda mean: log_loss(CODES, mean)),
    ],
    ids=["squared", "log", "log without weights"],
)
def test_additions_are_those_of_forming_every_mean(sums, loss) -> None:
    plain = AnySums(CHANCES, loss)
    for model in [3, 1, 3, 7, 0, 5]:
        found, expected = sums.additions(ALL), plain.additions(ALL)
        known = np.isfinite(found)
        np.testing.assert_allclose(found[known], expected[known], rtol=1e-10)
        # What was not looked at is provably not the least.
        assert expected.min() == pytest.approx(found.min(), rel=1e-12)
        assert (expected[~known] >= found.min()).all()
        sums.add(model)
        plain.add(model)


def test_models_that_are_not_allowed_are_never_the_least() -> None:
    allowed = ALL.copy()
    allowed[2] = False
    for sums in (
        SquaredSums.of(CHANCES, CODES),
        LogSums.of(CHANCES, CODES),
        AnySums(CHANCES, brier),
    ):
        assert np.isinf(sums.additions(allowed)[2])
        sums.add(0)
        assert np.isinf(sums.additions(allowed)[2])


def test_sums_among_some_models_start_afresh() -> None:
    some = np.array([1, 4, 6])
    for sums in (
        SquaredSums.of(CHANCES, CODES),
        LogSums.of(CHANCES, CODES),
        AnySums(CHANCES, brier),
    ):
        first = sums.additions(ALL)
        sums.add(0)
        np.testing.assert_allclose(
            sums.among(some).additions(np.ones(3, dtype=bool)), first[some], rtol=1e-12
        )


def test_the_bound_spares_most_of_the_work() -> None:
    rng = np.random.default_rng(1)
    truth = np.clip(rng.beta(4, 2, size=(50, 4000)), 0.01, 1)
    truth[:25] = np.clip(truth[:25] - 0.2, 0.01, 1)
    sums = LogSums(truth, np.full(4000, 1 / 4000))
    for model in (30, 40, 45, 30, 41, 33, 49, 27):
        sums.add(model)
    assert np.isfinite(sums.additions(np.ones(50, dtype=bool))).sum() <= 25


def test_hopeless_probabilities_do_not_underflow() -> None:
    sums = LogSums.of(np.zeros((100, 2)), np.ones(100, dtype=int))
    expected = -np.log(np.finfo(float).eps)
    np.testing.assert_allclose(sums.additions(np.ones(2, dtype=bool)), expected, rtol=1e-12)


def test_a_loss_that_is_not_a_number_never_wins() -> None:
    sums = AnySums(np.zeros((3, 2)), lambda _: np.nan)
    assert np.isinf(sums.additions(np.ones(2, dtype=bool))).all()
