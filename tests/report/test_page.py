import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from foldwise import (
    BaggingRegressor,
    CalibratedClassifier,
    RuleFitRegressor,
    StackingClassifier,
    StackingRegressor,
    write_report,
)
from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.report import render
from foldwise.report.page import model_sections, sections_of
from tests.report.conftest import REGRESSORS, classes, friedman
from tests.report.hostile import hostile_page
from tests.report.reading import read

MOST_BYTES = 1_000_000
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_a_page_is_well_formed_small_and_closed_to_the_world(stack: Any) -> None:
    page = render(stack)
    reader = read(page)
    assert len(page.encode()) < MOST_BYTES
    assert "script" not in reader.tags
    assert ("meta", "content", CONTENT_POLICY) in reader.attributes
    assert not [a for a in reader.attributes if a[1].startswith("on")]
    links = [value for _, name, value in reader.attributes if name in ("href", "src")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert "nan" not in reader.text.lower().split()
    assert len(set(reader.ids)) == len(reader.ids)
    assert {link[1:] for link in links if link.startswith("#")} <= set(reader.ids)


def test_sections_come_in_the_order_of_the_reader(regression: StackingRegressor) -> None:
    reader = read(render(regression))
    assert reader.ids == [
        "answer", "leaderboard", "honesty", "learners", "quality", "coverage", "columns", "folds",
        "warnings", "data", "time", "reproduce",
    ]  # fmt: skip


def test_a_report_is_written_whole_or_not_at_all(
    regression: StackingRegressor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_report(regression, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_without_time_leaves_out_what_takes_long(regression: StackingRegressor) -> None:
    hurried = render(regression, time_budget=1e-3)
    assert "Left out: asking the model often enough" in hurried
    assert "Value to the stack" not in hurried
    assert render(regression, time_budget=1e6) == render(regression)


def test_the_same_model_gives_the_same_page(binary: StackingClassifier) -> None:
    assert render(binary) == render(binary)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_hostile_names_are_text_and_nothing_else(kind: str) -> None:
    page = hostile_page(kind)
    reader = read(page)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert reader.tags.count("h1") == 1
    assert not [a for a in reader.attributes if a[1].startswith("on")]
    assert str(1234 * 5678) not in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert len(page.encode("utf-8")) < 200_000
    assert "<script>window.hacked=1</script>" in reader.text


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csr_array])
def test_rows_of_any_make_can_be_given(make: Any) -> None:
    X, y = friedman(90)
    table = make(X.to_numpy())
    stack = StackingRegressor([("r", Ridge()), ("s", Ridge(50.0))], cv=3, random_state=0)
    assert "What the predictions rest on" in render(stack.fit(table, y), table, y)


def test_lists_are_rows_too() -> None:
    X, y = friedman(60)
    stack = StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X.to_numpy(), y)
    assert 'id="columns"' in render(stack, X.to_numpy()[:20].tolist(), y[:20].tolist())


def test_after_pickling_the_columns_need_rows() -> None:
    X, y = friedman(90)
    stack = StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(stack))
    assert 'id="columns"' not in render(again)
    assert 'id="columns"' in render(again, X, y)


def test_columns_passed_through_are_no_hindrance() -> None:
    X, y = friedman(90)
    stack = StackingRegressor(REGRESSORS, Ridge(), passthrough=True, cv=3, random_state=0)
    stack.fit(X, y)
    assert 'id="learners"' in render(stack)
    assert 'id="learners"' in render(pickle.loads(pickle.dumps(stack)))


def test_several_targets_layers_and_a_constant_target_have_a_report() -> None:
    X, y = friedman(90)
    two = StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X, np.column_stack([y, -y]))
    assert "Target 2" in render(two)
    layers = StackingRegressor([REGRESSORS, REGRESSORS[:1]], cv=4, random_state=0)
    with pytest.raises(InvalidParameterError):
        layers.fit(X, y)
    layers = StackingRegressor(
        [REGRESSORS, [("top", Ridge()), ("other", Ridge(9.0))]], cv=4, random_state=0
    )
    assert "Leaderboard" in render(layers.fit(X, y))
    flat = StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X, np.ones(90))
    assert "Leaderboard" in render(flat)


def test_the_file_is_written_and_its_path_returned(
    regression: StackingRegressor, tmp_path: Path
) -> None:
    path = write_report(regression, str(tmp_path / "r.html"), title="Töpfe & Deckel")
    assert path == tmp_path / "r.html"
    text = path.read_text(encoding="utf-8")
    assert "<title>Töpfe &amp; Deckel</title>" in text


def test_other_models_have_a_shorter_report() -> None:
    X, y = friedman(60)
    page = render(LinearRegression().fit(X, y), X, y)
    assert read(page).ids == ["answer", "quality", "columns", "known", "data", "reproduce"]


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "dia", "dok", "lil"])
def test_sparse_rows_of_any_format_may_be_given(form: str) -> None:
    X, y = friedman(210)
    rows = sparse.csr_matrix(np.floor(X.to_numpy()))
    model = Ridge().fit(rows, y)
    assert read(render(model, rows.asformat(form), y)).text == read(render(model, rows, y)).text


def test_errors_say_what_to_do(regression: StackingRegressor, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError) as error:
        write_report(regression, tmp_path / "no" / "report.html")
    assert str(error.value) == (
        "write_report: path must be a file in a folder that exists; got "
        f"{tmp_path / 'no' / 'report.html'}. Use 'report.html'."
    )
    with pytest.raises(InvalidParameterError) as error:
        render(regression, X=[[1.0]])
    assert str(error.value) == (
        "write_report: X and y must be given together; got X alone. Give both, or neither."
    )
    with pytest.raises(InvalidDataError) as error:
        render(regression, X=friedman(10)[0], y=[1.0, 2.0])
    assert str(error.value) == (
        "write_report: y must have as many rows as X, and at least one; got 2 for 10. "
        "Give the targets of these rows."
    )
    with pytest.raises(NotFittedError):
        render(StackingRegressor(REGRESSORS))


def dummies(count: int) -> list[tuple[str, Any]]:
    return [(f"learner number {i}", DummyRegressor(strategy="constant", constant=i / 9))
            for i in range(count)]  # fmt: skip


def test_two_hundred_thousand_rows_fit_in_a_megabyte() -> None:
    y = np.random.default_rng(0).normal(size=200_000)
    X = np.column_stack([y + 0.5, y * 2])
    stack = StackingRegressor([("r", Ridge()), *dummies(1)], "mean", cv=3, random_state=0)
    assert len(render(stack.fit(X, y)).encode()) < MOST_BYTES


def test_fifty_learners_two_thousand_columns_fit_in_a_megabyte() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(60, 2000)), columns=[f"{i} " + "n" * 190 for i in range(2000)]
    )
    stack = StackingRegressor(dummies(50), "mean", cv=3, random_state=0)
    page = render(stack.fit(X, X.iloc[:, 3]))
    assert len(page.encode()) < MOST_BYTES
    assert "1,960 more are not listed." in page


def test_a_hundred_classes_fit_in_a_megabyte() -> None:
    rng = np.random.default_rng(0)
    y = np.array([f"a class with a name {i}" for i in range(100)])[np.arange(400) % 100]
    X = rng.normal(size=(400, 3))
    learners = [("bayes", GaussianNB()), *[(f"d{i}", DummyClassifier()) for i in range(10)]]
    stack = StackingClassifier(learners, "mean", cv=3, random_state=0).fit(X, y)
    assert len(render(stack).encode()) < MOST_BYTES


def test_a_classifier_on_polars_with_words_has_a_report() -> None:
    X, y = classes(2)
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])})
    stack = StackingClassifier([("bayes", GaussianNB())], cv=3, random_state=0).fit(frame, y)
    assert "probability of kind 1" in render(stack)


def test_a_stack_and_another_model_have_their_own_sections(regression: StackingRegressor) -> None:
    assert sections_of(regression, None, None, False)[1].key == "leaderboard"
    other = LinearRegression().fit(*friedman())
    assert sections_of(other, None, None, False)[1].key == "known"


def test_a_model_that_holds_a_stack_is_reported_as_one(regression: StackingRegressor) -> None:
    holder = SimpleNamespace(stack_=regression, skipped_={"slow": "no time"})
    found = {s.key: s for s in sections_of(holder, None, None, False)}
    assert found["warnings"].blocks[-1].rows == [["slow", "no time"]]


def test_a_calibrated_classifier_is_reported_with_the_score_it_has() -> None:
    X, y = classes(2)
    model = CalibratedClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y)
    found = {s.key: s for s in sections_of(model, None, None, False)}
    said = f"{-model.score_:.2f} ± {model.score_se_:.2f}"
    assert found["answer"].blocks[0].tiles[0].value == said
    assert "Calibrated by" in dict(found["honesty"].blocks[0].pairs)


def keys(sections: list) -> list[str]:
    return [section.key for section in sections]


def test_given_classes_are_scored_by_log_loss() -> None:
    X, y = classes(3)
    model = LogisticRegression().fit(X, y)
    sections = model_sections(model, X, y)
    loss = log_loss(y, model.predict_proba(X))
    tile = sections[0].blocks[0].tiles[0]
    assert tile.label == "log-loss on the rows given"
    assert float(tile.value.split()[0]) == pytest.approx(loss, abs=5e-3)
    assert "honest only if the model never saw them" in sections[0].lead
    assert keys(sections) == ["answer", "quality", "columns", "known", "data", "reproduce"]


def test_without_rows_and_without_a_score_of_its_own_a_model_says_what_to_do() -> None:
    sections = model_sections(LinearRegression().fit(*friedman()), None, None)
    assert sections[0].blocks[0].text == (
        "This LinearRegression does not judge itself. Give rows it has not seen as X and y, or "
        "stack it: a stack's score is honest."
    )
    assert keys(sections) == ["answer", "known", "reproduce"]


def test_bagging_shows_its_out_of_bag_score() -> None:
    model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(*friedman(80))
    tile = model_sections(model, None, None)[0].blocks[0].tiles[0]
    assert tile.label == "Out-of-bag R²"
    assert tile.value.startswith(f"{model.oob_score_:.2f}")


def test_a_rule_ensemble_lists_its_rules() -> None:
    model = RuleFitRegressor(n_estimators=5, cv=3, random_state=0).fit(*friedman(80))
    assert "rules" in keys(model_sections(model, None, None))
