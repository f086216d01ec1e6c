import numpy as np
from scipy.special import expit, logit

from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import (
    LARGEST,
    against_the_rest,
    both,
    columns_of,
    margins_of,
    probabilities_of,
)


def test_one_column_is_the_log_odds_of_the_second_class() -> None:
    z = np.array([-3.0, 0.0, 2.0])
    np.testing.assert_allclose(probabilities_of(z)[:, 1], expit(z), rtol=1e-15)
    np.testing.assert_array_equal(probabilities_of(z), probabilities_of(z[:, None]))
    np.testing.assert_allclose(probabilities_of(columns_of(z)), probabilities_of(z), rtol=1e-15)


def test_both_tails_keep_their_digits() -> None:
    given = probabilities_of(np.array([-40.0, 40.0]))
    np.testing.assert_allclose(given[:, [0, 1]].min(axis=1), np.exp(-40.0), rtol=1e-12)


def test_infinite_logits_are_bounded() -> None:
    assert margins_of(np.array([np.inf, -np.inf])).tolist() == [LARGEST, -LARGEST]
    assert np.isfinite(columns_of(np.array([[0.0, -np.inf, 1.0]]))).all()


def test_columns_are_centred() -> None:
    columns = columns_of(np.random.default_rng(0).normal(size=(20, 4)))
    np.testing.assert_allclose(columns.sum(axis=1), 0.0, atol=1e-14)


def test_one_class_against_the_rest_is_the_logit_of_its_probability() -> None:
    logits = np.random.default_rng(0).normal(size=(20, 4))
    p = probabilities_of(logits)
    for code in range(4):
        np.testing.assert_allclose(against_the_rest(logits, code), logit(p[:, code]), rtol=1e-9)


def test_two_columns_and_weights() -> None:
    np.testing.assert_array_equal(both(np.array([0.25])), [[0.75, 0.25]])
    assert row_weights(2).tolist() == [1.0, 1.0]
