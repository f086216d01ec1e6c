import json
import shutil
import time
from types import SimpleNamespace

import pandas as pd
import pytest

from foldwise import files
from foldwise.cli import fitting
from foldwise.cli.model_folder import pending_in, request_in
from tests.cli.flats import make_flats


def test_the_embedded_table_is_what_its_recipe_makes():
    from importlib.resources import files

    embedded = pd.read_csv(files("foldwise.cli") / "data" / "flats.csv")
    made = make_flats()
    assert embedded.shape == made.shape
    pd.testing.assert_series_equal(embedded["rent"], made["rent"])


def test_a_fit_tells_machines_all_there_is(prices):
    _, told = prices
    assert told["task"] == "regression"
    assert told["n_rows"] == 80
    assert told["metric"] == "root_mean_squared_error"
    assert told["score"] > 0
    assert told["score_se"] > 0
    assert {row["model"] for row in told["leaderboard"]} >= {"stack", "best single"}
    kinds = {column["column"]: column["kind"] for column in told["columns"]}
    assert kinds["listing_id"] == "identifier"
    assert "description" not in kinds


def test_a_fit_with_out_keeps_model_report_and_request(prices):
    folder, told = prices
    assert told["written"] == [str(folder / "model.foldwise"), str(folder / "report.html")]
    assert "<script" not in (folder / "report.html").read_text("utf-8")
    assert json.loads((folder / "request.json").read_text("utf-8"))["target"] == "rent"


def test_a_fit_without_out_writes_nothing(typed, flats, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = [name for name in make_flats(2).columns if name not in ("size_m2", "rent", "rooms")]
    dropped = [word for name in columns for word in ("--drop", name)]
    options = ("--preset", "fast", "--time", 30, *dropped)
    result = typed("fit", flats, "--target", "rent", *options)
    assert result.code == 0, result.err
    assert list(tmp_path.iterdir()) == []
    assert "Nothing was written. Give --out DIR to keep the model and its report." in result.err
    assert "Honest score: root mean squared error" in result.out
    assert "lower is better" in result.out
    assert "80 rows, 2 columns: 2 number." in result.err
    assert "was left, since every learner is fitted and more than 1 deal" in result.out


def test_hostile_names_and_classes_do_no_harm(kinds):
    folder, told = kinds
    assert told["task"] == "classification"
    assert "<b>" not in (folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("--target", "rant"),
            2,
            "Error: --target must name a column of the table; got 'rant'. Did you mean 'rent'?",
        ),
        (
            ("--target", "rent", "--drop", "rent"),
            2,
            "Error: target, groups, weight and drop must name different columns; got 'rent' more "
            "than once. Use each column for one thing.",
        ),
        (
            ("--target", "currency"),
            1,
            "Error: target 'currency' must differ between rows; got EUR in every row. There is "
            "nothing to learn from one value: name another column.",
        ),
        (
            ("--target", "rent", "--metric", "rmsee"),
            2,
            "Error: --metric must be None, the name of a metric or a scorer; got 'rmsee'. "
            "Did you mean 'rmse'?",
        ),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_options(words, code, message, typed, flats):
    result = typed("fit", flats, *words)
    assert result.last == message
    assert result.code == code


def test_a_folder_of_other_files_is_not_touched(typed, flats):
    result = typed("fit", flats, "--target", "rent", "--out", flats.parent)
    assert result.code == 2
    assert "--out must be a new or empty folder, or one made by foldwise" in result.last


def test_resume_needs_a_folder_of_ours(typed, tmp_path):
    result = typed("resume", tmp_path)
    assert result.code == 2
    assert "which has no request.json. Run foldwise fit with --out first." in result.last


FINISHED = ("model.foldwise", "report.html", "request.json")


def contents(folder):
    return [(folder / name).read_bytes() for name in FINISHED if (folder / name).exists()]


@pytest.fixture
def finished(prices, tmp_path):
    """A finished folder of one's own, but for the run."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in FINISHED:
        shutil.copy(prices[0] / name, folder)
    return folder


@pytest.fixture
def fits_at_once(prices, monkeypatch):
    """Fits that take no time: the model is there already."""
    model = files.load(prices[0] / "model.foldwise")
    monkeypatch.setattr(fitting, "fit_model", lambda *_, **__: model)


@pytest.mark.usefixtures("fits_at_once")
def test_a_finished_model_is_replaced_only_by_force(typed, flats, finished):
    before = contents(finished)
    result = typed("fit", flats, "--target", "rooms", "--out", finished)
    assert result.code == 2
    assert result.last == (
        f"Error: --out must be a folder without a model; got {finished}, which holds one of "
        "'rent'. Name another, or replace it with --force."
    )
    assert contents(finished) == before
    result = typed("fit", flats, "--target", "rooms", "--out", finished, "--force")
    assert result.code == 0, result.err
    assert request_in(finished)[0].target == "rooms"
    assert {path.name for path in finished.iterdir()} == {*FINISHED, "run"}
    assert not list((finished / "run").iterdir())


def test_nothing_finished_is_touched_before_the_new_model_is_complete(
    typed, flats, finished, prices, monkeypatch
):
    before = contents(finished)
    model = files.load(prices[0] / "model.foldwise")

    def fit(*_, **__):
        assert contents(finished) == before
        return model

    def report(*_, **__):
        assert contents(finished) == before
        raise OSError(28, "No space left on device", "report.html")

    monkeypatch.setattr(fitting, "fit_model", fit)
    monkeypatch.setattr(fitting, "report_in_time", report)
    result = typed("fit", flats, "--target", "rooms", "--out", finished, "--force")
    assert result.code == 1
    assert result.last == "Error: report.html: no space left on device. Make room."
    assert request_in(finished)[0].target == "rooms"
    assert not (finished / "report.html").exists()


def test_a_fit_that_fails_leaves_a_finished_folder_as_it_was(typed, flats, finished):
    before = contents(finished)
    words = ("--target", "rooms", "--metric", "rmsee", "--out", finished, "--force")
    assert typed("fit", flats, *words).code == 2
    assert contents(finished) == before
    assert pending_in(finished)[0].target == "rent"


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.usefixtures("fits_at_once")
def test_ctrl_c_while_the_report_is_written_keeps_the_model(typed, flats, tmp_path, monkeypatch):
    folder = tmp_path / "new"
    monkeypatch.setattr(fitting, "report_in_time", interrupted)
    result = typed("fit", flats, "--target", "rent", "--out", folder)
    assert result.code == 1
    *_, kept, last = result.err.strip().splitlines()
    assert kept == (
        f"Written: {folder}/model.foldwise, without a report. To have one: foldwise report {folder}"
    )
    assert last == "Error: Interrupted."
    assert typed("report", folder).code == 0


@pytest.fixture
def unfinished(typed, flats, tmp_path, monkeypatch):
    """A fit that was interrupted after a result, and its table."""
    table, folder = tmp_path / "t.csv", tmp_path / "begun"
    shutil.copy(flats, table)
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "fit_model", interrupted)
        result = typed("fit", table, "--target", "rent", "--out", folder)
    assert result.last == (
        f"Error: Interrupted before there was a model. Continue with: foldwise resume {folder}"
    )
    (folder / "run" / "results").mkdir()
    (folder / "run" / "results" / "a.fit").touch()
    return table, folder


@pytest.mark.usefixtures("fits_at_once")
def test_another_fit_in_the_folder_of_an_unfinished_one_needs_force(typed, unfinished):
    table, folder = unfinished
    result = typed("fit", table, "--target", "rooms", "--out", folder)
    assert result.code == 2
    assert "another was begun (target was 'rent', is 'rooms')" in result.last
    assert typed("fit", table, "--target", "rent", "--out", folder, "--time", 9).code == 0


@pytest.mark.usefixtures("fits_at_once")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.iloc[1:], "79 rows, 80 before"),
        (
            lambda table: table.rename(columns={"rooms": "rums"}),
            "column 'rums' is new, column 'rooms' is gone",
        ),
        (lambda table: table.assign(rent=1 + table["rent"]), "other cells in the same rows"),
    ],
)
def test_a_run_is_not_continued_on_another_table(typed, unfinished, change, said):
    table, folder = unfinished
    change(pd.read_csv(table)).to_csv(table, index=False)
    for words in (("resume", folder), ("fit", table, "--target", "rent", "--out", folder)):
        result = typed(*words)
        assert result.code == 1
        assert (
            f"must be as it was when the fit in {folder} began; got changes: {said}" in result.last
        )
    assert not (folder / "model.foldwise").exists()
    words = ("fit", table, "--target", "rent", "--out", folder, "--force")
    assert typed(*words).code == 0


@pytest.mark.usefixtures("fits_at_once")
def test_a_fit_killed_at_its_very_beginning_can_be_typed_again(typed, flats, tmp_path):
    (tmp_path / "out" / "run").mkdir(parents=True)
    assert typed("fit", flats, "--target", "rent", "--out", tmp_path / "out").code == 0


def test_a_request_that_is_not_ours_is_said(typed, finished):
    said = json.loads((finished / "request.json").read_text("utf-8"))
    (finished / "request.json").write_text(json.dumps({**said, "table": 5}), "utf-8")
    result = typed("resume", finished)
    assert result.code == 1
    assert "request.json must be as foldwise wrote it; got something else." in result.last


def test_the_time_asked_for_covers_model_file_and_report(
    typed, flats, tmp_path, prices, monkeypatch
):
    model = files.load(prices[0] / "model.foldwise")
    given = []

    class Slow:
        def __init__(self, time_budget, **_):
            given.append(time_budget)

        def _fit_or_restore(self, *_, **__):
            time.sleep(0.3)
            return model

    def report(*_, time_budget, **__):
        given.append(time_budget)
        raise OSError(28, "enough", "report.html")

    monkeypatch.setattr("foldwise.auto.AutoStackRegressor", Slow)
    monkeypatch.setattr("foldwise.report.write_report", report)
    typed("fit", flats, "--target", "rent", "--out", tmp_path / "new", "--time", 40)
    assert given[0] == pytest.approx(35.0)
    assert 0 < given[1] < 39.7


@pytest.mark.parametrize(
    ("said", "seconds", "deals", "time_column", "kind"),
    [
        ("", 55.0, 1, None, "partition"),
        ("another deal of the rows would not have been finished", 40.0, 1, None, "partition"),
        ("rows in time are dealt only once", 40.0, 1, "day", "forward"),
        ("a single split is not repeated", 40.0, 1, None, "single"),
        (
            "more than 4 deals of the rows would only slow predictions down",
            40,
            4,
            None,
            "partition",
        ),
    ],
)
def test_a_fit_says_why_it_left_time(said, seconds, deals, time_column, kind, monkeypatch):
    monkeypatch.setattr("foldwise.stack.parameters.MOST_REPEATS", 4)
    deal = SimpleNamespace(lattice=SimpleNamespace(kind=kind))
    stack = SimpleNamespace(deals_=[deal] * deals)
    model = SimpleNamespace(time_budget=60.0, partial_=False, stack_=stack, time_column=time_column)
    why = fitting.why_time_was_left(fitting.Fitted(model, None, [], seconds))
    assert why == (said and f"The rest of 60 s was left, since every learner is fitted and {said}.")
    model.partial_ = True
    assert fitting.why_time_was_left(fitting.Fitted(model, None, [], seconds)) == ""


def test_the_demo_writes_its_report_where_it_is_told(typed, tmp_path):
    result = typed("demo", "-o", tmp_path / "demo.html", "--time", 8, "--json")
    assert result.code == 0, result.err
    assert result.json["n_rows"] == 800
    assert (tmp_path / "demo.html").stat().st_size < 1_000_000
