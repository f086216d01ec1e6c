import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from venn_abers import VennAbers as Peer

from foldwise.combine.calibration import fit_isotonic, fit_venn_abers
from tests.combine.calibration.predictions import breast_cancer


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_is_scikit_learns_isotonic_regression_kept_off_the_ends(weighted) -> None:
    z, y = breast_cancer()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    found = fit_isotonic(z[::2], y[::2], None if weight is None else weight[::2])
    oracle = IsotonicRegression(out_of_bounds="clip")
    oracle.fit(z[::2], y[::2], None if weight is None else weight[::2])
    n = len(y[::2]) if weight is None else weight[::2].sum()
    expected = np.clip(oracle.predict(z), 0.5 / (n + 1), 1 - 0.5 / (n + 1))
    np.testing.assert_allclose(found.predict(z)[:, 1], expected, atol=1e-12)


def test_one_surprise_does_not_cost_an_infinite_loss() -> None:
    z, y = breast_cancer()
    p = fit_isotonic(z, y).predict(np.array([-1e9, 1e9]))
    assert (p > 0).all()
    assert (p < 1).all()


def test_isotonic_never_falls() -> None:
    z, y = breast_cancer()
    assert (np.diff(fit_isotonic(z, 1 - y).predict(np.sort(z))[:, 1]) >= 0).all()


def by_definition(z, y, new, weight=None):
    """Return the two probabilities by fitting with the new row twice."""
    weight = np.ones(len(y)) if weight is None else weight
    found = []
    for label in (0, 1):
        fit = IsotonicRegression()
        fit.fit(np.append(z, new), np.append(y, label), np.append(weight, 1.0))
        found.append(float(fit.predict([new])[0]))
    return found


SCORES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(1, 3)), min_size=1)


@given(SCORES, st.integers(-1, 13))
def test_both_bounds_are_isotonic_fits_with_the_new_row(rows, doubled) -> None:
    z, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    fitted = fit_venn_abers(z, y.astype(int), weight)
    bounds = np.ravel(fitted.bounds(np.array([doubled / 2])))
    np.testing.assert_allclose(bounds, by_definition(z, y, doubled / 2, weight), atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_venn_abers_agrees_with_the_venn_abers_package() -> None:
    z, y = breast_cancer()
    z = np.round(z, 3)
    peer = Peer()
    p = expit(z)
    peer.fit(np.column_stack([1 - p, p])[::2], y[::2])
    _, bounds = peer.predict_proba(np.column_stack([1 - p, p])[1::2])
    lower, upper = fit_venn_abers(z[::2], y[::2]).bounds(z[1::2])
    np.testing.assert_allclose(lower, bounds[:, 0], atol=1e-9)
    np.testing.assert_allclose(upper, bounds[:, 1], atol=1e-9)


def test_the_probability_lies_between_the_bounds_and_off_the_ends() -> None:
    z, y = breast_cancer()
    fitted = fit_venn_abers(z, y)
    lower, upper = fitted.bounds(z)
    p = fitted.predict(z)[:, 1]
    assert (lower <= p).all()
    assert (p <= upper).all()
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(p, upper / (1 - lower + upper))


def test_the_cost_of_many_rows_is_small() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000)
    y = (rng.uniform(size=20_000) < expit(z)).astype(int)
    start = time.process_time()
    fit_venn_abers(z, y)
    assert time.process_time() - start < 2.0
