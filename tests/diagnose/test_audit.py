"""The bootstrap of a selection: on noise, against a loop by hand, and for every form of input."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor
from foldwise.diagnose import OutOfFoldTable, audit
from foldwise.errors import InvalidDataError, InvalidParameterError

RNG = np.random.default_rng(0)


def most_right(predictions: np.ndarray, y: np.ndarray, _: Any) -> int:
    """The best of many by accuracy, quickly."""
    return int((predictions.argmax(axis=2) == y[:, None]).mean(axis=0).argmax())


def test_the_best_of_fifty_guesses_looks_good_and_is_chance() -> None:
    apparent, found = [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        y, guesses = rng.integers(0, 2, 120), rng.integers(0, 2, size=(120, 50))
        one = audit(guesses, y, "accuracy", choose=most_right, n_bootstrap=30, random_state=seed)
        apparent.append(one.apparent)
        found.append(one.score)
        assert one.low < 0.5 < one.high
    error = np.std(found) / np.sqrt(16)
    assert np.mean(apparent) > 0.58
    assert abs(np.mean(found) - 0.5) < 3 * error < 0.05


@pytest.mark.parametrize("grouped", [False, True])
def test_the_number_is_that_of_a_loop_by_hand(grouped: bool) -> None:
    y, weight = RNG.normal(size=40), RNG.uniform(0.5, 2, 40)
    models = y[:, None] + RNG.normal(size=(40, 4)) * [1.0, 1.1, 0.9, 2.0]
    groups = np.arange(40) // 4 if grouped else np.arange(40)
    found = audit(
        models, y, "neg_root_mean_squared_error", sample_weight=weight,
        groups=groups if grouped else None, n_bootstrap=50, random_state=3,
    )  # fmt: skip

    def losses(rows: np.ndarray) -> np.ndarray:
        each = (models[rows] - y[rows, None]) ** 2
        return np.average(each, axis=0, weights=weight[rows])

    rng, best, gaps, scores = np.random.default_rng(3), losses(np.arange(40)).argmin(), [], []
    n = groups.max() + 1
    for _ in range(50):
        drawn = rng.integers(0, n, n)
        rows = np.concatenate([np.flatnonzero(groups == g) for g in drawn])
        left = np.flatnonzero(~np.isin(groups, drawn))
        again = losses(rows).argmin()
        gaps.append(losses(left)[again] - losses(left)[best])
        scores.append(-np.sqrt(losses(left)[again]))
    wanted = -np.sqrt(losses(np.arange(40)).min() + np.mean(gaps))
    assert found.score == pytest.approx(wanted, rel=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(scores, [0.025, 0.975])))
    assert found.models["mean_weight"].sum() == pytest.approx(1)


def test_rows_of_weight_zero_change_nothing() -> None:
    y, models = RNG.normal(size=30), RNG.normal(size=(30, 3))
    more = np.r_[np.ones(30), 0.0]
    one = audit(models, y, sample_weight=np.ones(30), n_bootstrap=20, random_state=0)
    two = audit(np.vstack([models, models[:1] + 99]), np.r_[y, 0.0], sample_weight=more,
                n_bootstrap=20, random_state=0)  # fmt: skip
    assert (one.apparent, one.score, one.low) == (two.apparent, two.score, two.low)


LABELS = np.array(["no", "yes"])[RNG.integers(0, 2, 60)]
SHARES = np.clip((LABELS == "yes") * 0.3 + RNG.uniform(0, 0.7, size=(3, 60)), 0.01, 0.99)
BOTH = {name: np.column_stack([1 - p, p]) for name, p in zip("abc", SHARES, strict=True)}


@pytest.mark.parametrize("choose", ["best", "greedy", "simplex", lambda p, *_: p.shape[1] - 1])
def test_every_form_of_predictions_of_classes_means_the_same(choose: Any) -> None:
    forms: list[Any] = [
        SHARES.T,
        pd.DataFrame(SHARES.T, columns=list("abc")),
        BOTH,
        np.stack(list(BOTH.values()), axis=1),
        OutOfFoldTable.from_arrays(np.stack(list(BOTH.values()), axis=1), LABELS,
                                   classes=["no", "yes"]),
    ]  # fmt: skip
    found = [audit(form, LABELS, choose=choose, n_bootstrap=20, random_state=0) for form in forms]
    assert {one.metric for one in found} == {"log_loss"}
    assert np.ptp([one.score for one in found]) < 1e-12
    assert found[1].models["model"].tolist() == found[2].models["model"].tolist() == list("abc")


def test_labels_are_voted_on_and_numbers_averaged_by_a_function() -> None:
    named = np.where(SHARES.T > 0.5, "yes", "no")
    one = audit(named, LABELS, choose=lambda *_: np.ones(3) / 3, n_bootstrap=20)
    votes = np.where((named == "yes").sum(axis=1) >= 2, "yes", "no")
    assert (one.metric, one.apparent) == ("accuracy", pytest.approx(accuracy_score(LABELS, votes)))
    y, models = RNG.normal(size=30), RNG.normal(size=(30, 3))
    mean = audit(models, y, choose=lambda *_: lambda q: q.mean(axis=1), n_bootstrap=20)
    assert -mean.apparent == pytest.approx(root_mean_squared_error(y, models.mean(axis=1)))


def test_a_stack_brings_its_own_metric_groups_and_nested_score() -> None:
    X = RNG.normal(size=(60, 3))
    y = X[:, 0] + RNG.normal(size=60)
    learners = [("ridge", Ridge()), ("knn", KNeighborsRegressor()), ("nn", KNeighborsRegressor(1))]
    stack = StackingRegressor(learners, cv=3, scoring="neg_mean_absolute_error", random_state=0)
    stack.fit(X, y, groups=np.arange(60) // 5)
    found = audit(stack, n_bootstrap=20, random_state=0)
    best = stack.restack("best")
    assert found.nested == (best.score_, *best.score_interval_)
    assert found.metric == "mean_absolute_error"
    squared = audit(stack, scoring="neg_mean_squared_error", n_bootstrap=20, random_state=0)
    assert squared.nested[0] == stack.restack("best", scoring="neg_mean_squared_error").score_
    table = stack.out_of_fold_table()
    alone = audit(table.predictions[0, :, :, 0], table.y, "neg_mean_absolute_error",
                  groups=np.arange(60) // 5, n_bootstrap=20, random_state=0)  # fmt: skip
    assert (found.score, alone.nested) == (alone.score, None)
    assert found.to_frame()["judged"].tolist()[-1] == "nested, by foldwise"
    assert "Nested, by foldwise: " in repr(found)


def test_the_sentence_says_how_much_better_it_looks() -> None:
    rng = np.random.default_rng(1)
    y, guesses = rng.integers(0, 2, 100), rng.integers(0, 2, size=(100, 9))
    text = repr(audit(guesses, y, "accuracy", n_bootstrap=20, random_state=0))
    assert text.startswith("What was chosen by 'best' from 9 models scores 0.5")
    assert " on the 100 rows it was chosen by (accuracy, greater is better); on others" in text
    assert text.endswith(" better than it is.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": None}, "audit: y must be given with predictions; got None."),
        ({"choose": "bst"}, "audit: choose must be one of .* or a function; got 'bst'"),
        ({"choose": lambda *_: 7}, "return the number of a model, 2 weights or a function"),
        ({"scoring": "rmse"}, "audit: scoring must be the name of a scorer"),
        ({"n_bootstrap": 1}, "audit: n_bootstrap must be"),
        ({"groups": np.zeros(20)}, "leave rows that can be scored when others are drawn"),
        ({"oof": np.full((20, 2), np.nan)}, "predictions must be finite"),
        ({"oof": np.zeros((19, 2))}, "predictions must have 20 rows"),
    ],
)
def test_what_cannot_be_audited_is_an_error(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"oof": np.zeros((20, 2)), "y": np.arange(20.0), **arguments}
    with pytest.raises((InvalidParameterError, InvalidDataError), match=message):
        audit(**given)
