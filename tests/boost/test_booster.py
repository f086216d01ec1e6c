import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from foldwise import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
)
from foldwise.errors import InvalidDataError

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


def garbage_at(rows, X, y, classes):
    """Put into some rows what no fit could take, or would learn from."""
    X, y = X.copy(), y.astype("<U4" if classes else float)
    X[rows], y[rows] = np.nan, "none" if classes else np.inf
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=8),
        AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=4),
        AdaBoostClassifier(n_estimators=8, early_stopping=True, validation=3),
        GradientBoostingRegressor(n_estimators=6, subsample=0.5, max_features=0.7),
        GradientBoostingRegressor(Ridge(), "huber", n_estimators=6, early_stopping=True),
        GradientBoostingRegressor(n_estimators=6, early_stopping=True, validation=GroupKFold(3)),
        GradientBoostingClassifier(n_estimators=4, early_stopping=True),
        NewtonBoostingRegressor(n_estimators=6, subsample=0.5, loss="absolute"),
        NewtonBoostingRegressor(n_estimators=6, early_stopping=True, refit=None),
        NewtonBoostingClassifier(n_estimators=4, max_bins=8),
    ],
    ids=lambda model: str(model)[:70].replace("\n", ""),
)
@given(st.integers(0, 2**31))
@settings(max_examples=3, deadline=None)
def test_rows_of_weight_zero_change_nothing(model, seed) -> None:
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(70, 4)), is_classifier(model)
    y = X[:, 0] + rng.normal(size=70)
    y = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])] if classes else y
    weight, groups = rng.integers(0, 3, size=70).astype(float), np.arange(70) // 2
    some = weight > 0
    model = clone(model).set_params(random_state=seed)
    X_bad, y_bad = garbage_at(~some, X, y, classes)
    whole = clone(model).fit(X_bad, y_bad, weight, groups)
    part = model.fit(X[some], y[some], weight[some], groups[some])
    ask = "predict_proba" if classes else "predict"
    assert np.array_equal(getattr(whole, ask)(X), getattr(part, ask)(X))


@pytest.mark.parametrize("kind", [NewtonBoostingRegressor, NewtonBoostingClassifier])
@pytest.mark.parametrize("unit", [1 / 64, 4096.0])
def test_the_unit_of_weights_that_are_no_counts_means_nothing(kind, unit) -> None:
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(90, 3)), rng.random(90)
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(float)
    one, two = (kind(n_estimators=10).fit(X, y, w) for w in (weight, unit * weight))
    assert one.predict(X).std() > 0
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("predefined", [False, True])
@pytest.mark.parametrize("kind", [GradientBoostingRegressor, NewtonBoostingRegressor])
def test_splits_given_as_row_numbers_count_the_users_rows(kind, predefined) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y, weight = rng.normal(size=60), rng.integers(0, 3, size=60).astype(float)
    test = np.arange(60) % 4 == 0
    some = weight > 0

    def fitted(X, y, weight, test):
        splits = [(np.flatnonzero(~test), np.flatnonzero(test))]
        validation = PredefinedSplit(np.where(test, 0, -1)) if predefined else splits
        model = kind(n_estimators=30, early_stopping=True, validation=validation, random_state=0)
        return model.fit(X, y, weight)

    whole, part = fitted(X, y, weight, test), fitted(X[some], y[some], weight[some], test[some])
    assert whole.n_estimators_ == part.n_estimators_ < 30
    assert np.array_equal(whole.predict(X), part.predict(X))


def test_a_split_without_weight_on_one_side_is_refused() -> None:
    model = GradientBoostingRegressor(early_stopping=True, validation=[(range(20), range(20, 40))])
    with pytest.raises(InvalidDataError, match="positive weight to fit and to judge"):
        model.fit(X, X[:, 0], np.repeat([1.0, 0.0], 20))


@pytest.mark.parametrize(
    "model", [AdaBoostClassifier(), GradientBoostingClassifier(), NewtonBoostingClassifier()]
)
def test_a_refit_never_adds_more_rounds_than_asked_for(model) -> None:
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model.set_params(n_estimators=6, early_stopping=True, validation=2, random_state=0)
    assert model.set_params(learning_rate=0.1).fit(X, y).n_estimators_ <= 6


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, NewtonBoostingClassifier])
def test_a_label_not_seen_in_fit_has_no_loss(kind) -> None:
    y = np.where(X[:, 0] > 0, "b", "c")
    model = kind(n_estimators=2).fit(X, y)
    assert model.staged_loss(X, y).shape == (2,)
    for unseen in "a", "z":
        with pytest.raises(InvalidDataError, match=f"hold classes seen in fit; got '{unseen}'"):
            model.staged_loss(X, np.append(y[:-1], unseen))
    with pytest.raises(InvalidDataError, match="one entry for each of the 40 rows"):
        model.staged_loss(X, y[:5])
