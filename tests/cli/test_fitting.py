import json

import pandas as pd
import pytest

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


def test_the_demo_writes_its_report_where_it_is_told(typed, tmp_path):
    result = typed("demo", "-o", tmp_path / "demo.html", "--time", 8, "--json")
    assert result.code == 0, result.err
    assert result.json["n_rows"] == 800
    assert (tmp_path / "demo.html").stat().st_size < 1_000_000
