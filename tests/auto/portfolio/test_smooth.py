import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from foldwise.auto.portfolio import smooth


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_in_blocks_is_scikit_learns(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 8))
    y = X[:, 0] + 3 * random.normal(size=300)
    weight = random.uniform(1, 2, 300) if weighted else None
    expected = RidgeCV(smooth.PENALTIES).fit(X, y, weight)
    monkeypatch.setattr(smooth, "BLOCK_BYTES", 0)
    monkeypatch.setattr(RidgeCV, "fit", None)
    found = smooth.ridge(None).fit(X, y, weight)
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-8)
    assert found.best_score_ == pytest.approx(expected.best_score_)


def test_ridge_in_blocks_takes_penalties_that_are_nearly_tied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    monkeypatch.setattr(smooth, "BLOCK_BYTES", 0)
    monkeypatch.setattr(RidgeCV, "fit", None)
    found = smooth.RidgeInBlocks((1e-9, 2e-9)).fit(X, X[:, 0] + X[:, 1] ** 2)
    assert found.alpha_ in (1e-9, 2e-9)
