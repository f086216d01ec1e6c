import numpy as np
import pandas as pd
import pytest

from foldwise.auto.portfolio.features import CrossedLevels
from foldwise.auto.tables.levels import level_means


def table(n_rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two categories whose product makes the target, one of noise, and one number."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=(n_rows, 3))
    X = pd.DataFrame({"c0": rng.normal(size=n_rows)})
    for j in range(3):
        X[f"k{j}"] = codes[:, j]
    y = np.where((codes[:, 0] + codes[:, 1]) % 2, 1.0, -1.0) + 0.1 * rng.normal(size=n_rows)
    return X, y


def test_a_pair_of_levels_has_the_shrunk_mean_of_its_rows() -> None:
    X, y = table()
    crossed = CrossedLevels().fit(X, y)
    at = [tuple(found.pair) for found in crossed.crossed_].index((0, 1))
    new = crossed.transform(X)
    joint = (X["k0"] * 4 + X["k1"]).to_numpy()
    wanted = level_means(joint, y[:, None], 16)[joint, 0]
    np.testing.assert_allclose(new[f"m{at}"], wanted, atol=1e-12)
    np.testing.assert_allclose(new[f"n{at}"], np.log1p(np.bincount(joint)[joint]), atol=1e-12)


def test_no_training_row_is_told_its_own_target() -> None:
    X, y = table()
    before = CrossedLevels().fit_transform(X, y)
    changed = y.copy()
    changed[7] += 1.0
    after = CrossedLevels().fit_transform(X, changed)
    means = [name for name in before if name.startswith("m")]
    assert means
    assert before[means].iloc[7].equals(after[means].iloc[7])
    assert not before[means].equals(after[means])


def test_levels_never_seen_together_have_the_mean_of_all_and_no_count() -> None:
    X, y = table()
    seen = ~((X["k0"] == 3) & (X["k1"] == 3)).to_numpy()
    crossed = CrossedLevels().fit(X[seen], y[seen])
    at = [tuple(found.pair) for found in crossed.crossed_].index((0, 1))
    new = crossed.transform(X[~seen])
    np.testing.assert_allclose(new[f"m{at}"], y[seen].mean(), atol=1e-12)
    assert (new[f"n{at}"] == 0).all()
    unknown = X[~seen].assign(k0=-1)
    np.testing.assert_allclose(crossed.transform(unknown)[f"m{at}"], y[seen].mean(), atol=1e-12)


def test_categories_of_many_levels_become_numbers_and_others_stay_categories() -> None:
    X, y = table()
    X["k3"] = np.arange(400) % 100
    new = CrossedLevels().fit_transform(X, y)
    assert "k3" not in new
    assert isinstance(new["k0"].dtype, pd.CategoricalDtype)
    assert {"m0", "n0"} <= set(new)


def test_numbers_stand_beside_the_mean_of_their_level() -> None:
    X, y = table()
    crossed = CrossedLevels(n_beside=1).fit(X, y)
    k, _, means = crossed.beside_[0]
    wanted = level_means(X[f"k{k}"].to_numpy(), X[["c0"]].to_numpy(), 4)[:, 0]
    np.testing.assert_allclose(means, wanted)
    np.testing.assert_allclose(crossed.transform(X)["b0"], X["c0"] - wanted[X[f"k{k}"]], atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_have_a_share_each_but_for_the_first_of_two(n_classes: int) -> None:
    X, y = table()
    codes = np.arange(len(y)) % n_classes
    crossed = CrossedLevels(n_crosses=6, quantity=False).fit(X, codes)
    new = crossed.transform(X)
    shares = new[[name for name in new if name.startswith("m0")]].to_numpy()
    if n_classes == 2:
        assert shares.shape[1] == 1
    else:
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
