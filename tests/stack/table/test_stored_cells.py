from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor
from foldwise.engine import describe
from foldwise.stack.table.jobs import about

X, Y = make_regression(60, 4, noise=10, random_state=0)
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor()), ("lasso", Lasso())]
N = 6


class Counted(DecisionTreeRegressor):
    """Writes a line to a file each time it is fitted; a class that changed would be another."""

    def __init__(self, log: str = "") -> None:
        super().__init__()
        self.log = log

    def fit(self, *args: Any, **kwargs: Any) -> "Counted":
        with Path(self.log).open("a") as stream:
            stream.write("fitted\n")
        return super().fit(*args, **kwargs)


def fitted(run_dir: Path, learners: Any = None, **options: Any) -> StackingRegressor:
    options = {"cv": 3, "random_state": 0, "final_estimator": "nnls", **options}
    return StackingRegressor(learners or LEARNERS, run_dir=run_dir, **options).fit(X, Y)


def counts(stack: StackingRegressor) -> tuple[int, int, int]:
    return stack.run_.fits, stack.run_.reused, stack.n_fits_


def test_the_same_call_again_fits_nothing_and_has_the_same_bits(tmp_path: Path) -> None:
    first, again = fitted(tmp_path), fitted(tmp_path)
    assert counts(first) == (3 * N, 0, 3 * N)
    assert counts(again) == (0, 3 * N, 3 * N)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    plain = StackingRegressor(LEARNERS, "nnls", cv=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X), again.predict(X))
    assert plain.score_ == again.score_


def test_nothing_that_is_stored_is_fitted_again(tmp_path: Path) -> None:
    log, run_dir = tmp_path / "log", tmp_path / "run"
    learners = [("counted", Counted(str(log))), ("lasso", Lasso())]

    def n_fits() -> int:
        return len(log.read_text().splitlines())

    fitted(run_dir, learners)
    assert n_fits() == N
    fitted(run_dir, learners)
    fitted(run_dir, [*learners, ("ridge", Ridge())])
    assert n_fits() == N
    one = next(fit for fit in describe(run_dir).fits if fit.about["learner"] == "counted")
    (run_dir / "results" / f"{one.key}.fit").unlink()
    fitted(run_dir, learners)
    assert n_fits() == N + 1


@pytest.mark.parametrize(
    ("change", "n_new"),
    [
        ({"final_estimator": "mean"}, 0),
        ({"scoring": "neg_mean_absolute_error"}, 0),
        ({"n_jobs": 2}, 0),
        ({"learners": [*LEARNERS, ("forest", RandomForestRegressor(2))]}, N),
        ({"learners": [("ridge", Ridge(2.0)), *LEARNERS[1:]]}, N),
        ({"learners": LEARNERS[1:]}, 0),
        ({"random_state": 1}, 3 * N),
    ],
    ids=["stacker", "metric", "executor", "one more", "other parameter", "one less", "seed"],
)
def test_a_change_refits_what_it_must_and_no_more(
    tmp_path: Path, change: dict[str, Any], n_new: int
) -> None:
    fitted(tmp_path)
    assert fitted(tmp_path, **change).run_.fits == n_new


def test_other_rows_other_targets_and_weights_are_other_fits(tmp_path: Path) -> None:
    fitted(tmp_path)
    stack = StackingRegressor(LEARNERS, "nnls", cv=3, random_state=0, run_dir=tmp_path)
    for data in ((X + 1, Y), (X, Y + 1), (X, Y, np.linspace(1, 2, 60))):
        assert stack.fit(*data).run_.reused == 0


def test_without_a_seed_the_same_call_continues_too(tmp_path: Path) -> None:
    first = fitted(tmp_path, random_state=None)
    again = fitted(tmp_path, random_state=None)
    assert counts(again) == (0, 3 * N, 3 * N)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))


@pytest.mark.parametrize(
    "options",
    [
        {"predict_with": "refit"},
        {"n_repeats": 2},
        {"tune": {"tree": {"max_depth": [1, 2]}}},
        {"learners": [LEARNERS[:2], LEARNERS[2:]], "cv": 4},
    ],
    ids=["refit", "repeats", "tuned", "layers"],
)
def test_every_kind_of_stack_can_be_continued(tmp_path: Path, options: dict[str, Any]) -> None:
    first, again = fitted(tmp_path, **options), fitted(tmp_path, **options)
    assert again.run_.fits == 0
    assert again.n_fits_ == first.n_fits_
    np.testing.assert_array_equal(first.predict(X), again.predict(X))


def test_a_shortcut_that_was_stored_in_part_gives_the_same_bits(tmp_path: Path) -> None:
    first = fitted(tmp_path)
    ridge = [fit for fit in describe(tmp_path).fits if fit.about["learner"] == "ridge"]
    for fit in ridge[:2]:
        (tmp_path / "results" / f"{fit.key}.fit").unlink()
    again = fitted(tmp_path)
    assert counts(again) == (2, 3 * N - 2, 3 * N)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))


def test_a_learner_added_later_is_stored_and_found(tmp_path: Path) -> None:
    stack = fitted(tmp_path, LEARNERS[:2])
    assert stack.add("lasso", Lasso()).run_.fits == N
    assert stack.add("lasso", Lasso()).run_.fits == 0
    assert fitted(tmp_path).run_.fits == 0


def test_a_cell_is_told_in_words_of_json() -> None:
    assert about(("tree", frozenset({2, 1}), None)) == {"learner": "tree", "node": [1, 2]}
    assert about(("tree", frozenset(), 3)) == {"learner": "tree", "node": [], "point": 3}
