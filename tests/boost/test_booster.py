import logging

import numpy as np
import pytest

from foldwise import AdaBoostClassifier, GradientBoostingRegressor, NewtonBoostingRegressor

X = np.random.default_rng(0).normal(size=(40, 2))


def test_every_round_can_be_told(caplog) -> None:
    caplog.set_level(logging.INFO, "foldwise")
    AdaBoostClassifier(n_estimators=3, verbose=2).fit(X, np.arange(40) % 2)
    begin, *rounds, end = caplog.messages
    assert begin == "AdaBoostClassifier: 3 rounds to do"
    assert [line.split(",")[0] for line in rounds] == [
        f"AdaBoostClassifier: {m}/3 rounds" for m in (1, 2, 3)
    ]
    assert end.startswith("AdaBoostClassifier: 3 rounds done in")


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, NewtonBoostingRegressor])
def test_silence_is_silent(kind, caplog) -> None:
    caplog.set_level(logging.INFO, "foldwise")
    kind(n_estimators=3).fit(X, X[:, 0])
    assert not caplog.messages


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, NewtonBoostingRegressor])
def test_groups_stay_whole_and_reach_the_users_splitter_as_they_are(kind) -> None:
    names = np.repeat(["a", "b", "c", "d"], 10)
    seen = []

    class ByName:
        def split(self, X, y, groups):
            seen.append(set(groups))
            yield np.flatnonzero(groups != "a"), np.flatnonzero(groups == "a")

    model = kind(n_estimators=3, early_stopping=True, validation=ByName())
    model.fit(X, X[:, 0], groups=names)
    assert seen == [{"a", "b", "c", "d"}]
