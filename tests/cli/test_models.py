import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from foldwise import BaggingRegressor, BayesianModelAveragingRegressor, files
from foldwise.cli.models import _typical_rows, harmless, write_predictions
from foldwise.cli.screen import say
from foldwise.errors import FoldwiseWarning
from tests.cli.conftest import CLASSES


def test_predictions_are_those_of_the_model(prices, flats, typed):
    folder, _ = prices
    result = typed("predict", folder, flats, "--interval", 0.8)
    assert result.code == 0, result.err
    told = pd.read_csv(io.StringIO(result.out))
    model = files.load(folder / "model.foldwise")
    table = pd.read_csv(flats)[list(model.feature_names_in_)]
    np.testing.assert_allclose(told["prediction"], model.predict(table), rtol=1e-12)
    assert (told["low"] < told["high"]).all()


def test_intervals_hold_each_value_of_a_column_by_itself(prices, flats, typed, tmp_path):
    folder, table = prices[0], pd.read_csv(flats)
    new = table.head(20)
    new.to_csv(tmp_path / "new.csv", index=False)
    result = typed("predict", folder, tmp_path / "new.csv", "--interval", 0.8, "--by", "lift")
    assert result.code == 0, result.err
    told = pd.read_csv(io.StringIO(result.out))
    model = files.load(folder / "model.foldwise")
    rows = new[list(model.feature_names_in_)]
    low, high = model.predict_interval(rows, 0.8, by=(table["lift"], new["lift"]))
    np.testing.assert_allclose(told["low"], low, rtol=1e-12)
    np.testing.assert_allclose(told["high"], high, rtol=1e-12)
    assert not np.allclose(low, model.predict_interval(rows, 0.8)[0])


def test_what_by_cannot_be_told_from_is_said(prices, flats, typed, tmp_path):
    folder, _ = prices
    alone = typed("predict", folder, flats, "--by", "lift")
    assert alone.code == 2
    assert alone.last == (
        "Error: --by must be given with --interval; got it alone. Add --interval 0.9."
    )
    asked = ("--interval", 0.9, "--by")
    unknown = typed("predict", folder, flats, *asked, "lifts")
    assert unknown.last == (
        "Error: --by must name a column of the table; got 'lifts'. Did you mean 'lift'?"
    )
    file = typed("predict", folder / "model.foldwise", flats, *asked, "lift")
    assert file.last.startswith("Error: --by must be given with the folder that foldwise fit wrote")
    moved = shutil.copytree(folder, tmp_path / "moved")
    said = json.loads((moved / "request.json").read_text("utf-8"))
    other = tmp_path / "other.csv"
    pd.read_csv(flats).head(70).to_csv(other, index=False)
    (moved / "request.json").write_text(json.dumps({**said, "table": str(other)}))
    changed = typed("predict", moved, flats, *asked, "lift")
    assert "must be as it was when the fit" in changed.last


def test_intervals_of_other_models_are_given_where_they_have_some(typed, tmp_path):
    X = pd.DataFrame({"a": np.arange(30.0) % 7, "b": np.arange(30.0)})
    X.to_csv(tmp_path / "x.csv", index=False)
    averaged = BayesianModelAveragingRegressor().fit(X, X["a"] + X["b"] % 3)
    files.save(averaged, tmp_path / "averaged.foldwise")
    files.save(BaggingRegressor(Ridge(), 3).fit(X, X["a"]), tmp_path / "bag.foldwise")
    result = typed("predict", tmp_path / "averaged.foldwise", tmp_path / "x.csv", "--interval", 0.8)
    told = pd.read_csv(io.StringIO(result.out))
    np.testing.assert_allclose(told[["low", "high"]], averaged.predict_interval(X, 0.8))
    bare = typed("predict", tmp_path / "bag.foldwise", tmp_path / "x.csv", "--interval", 0.8)
    assert bare.last == (
        "Error: --interval must be left out for a BaggingRegressor, which has none; got it."
    )


def test_levels_are_those_of_the_rows_that_were_fitted(typed, flats, tmp_path):
    table = pd.read_csv(flats).assign(times=lambda t: (t.index % 4 > 0) * 1.0)
    table.loc[1, "rent"] = None
    table[["size_m2", "lift", "times", "listed", "rent"]].to_csv(tmp_path / "t.csv", index=False)
    out, asked = tmp_path / "out", ("--target", "rent", "--weight", "times", "--preset", "fast")
    fitted = typed("fit", tmp_path / "t.csv", *asked, "--time-column", "listed", "--out", out)
    assert fitted.code == 0, fitted.err
    result = typed("predict", out, tmp_path / "t.csv", "--interval", 0.8, "--by", "lift")
    assert result.code == 0, result.err
    model, told = files.load(out / "model.foldwise"), pd.read_csv(io.StringIO(result.out))
    known = table[(table["times"] > 0) & table["rent"].notna()]
    rows = table[list(model.feature_names_in_)]
    with pytest.warns(FoldwiseWarning, match="no guarantee forward in time"):
        low, _ = model.predict_interval(rows, 0.8, by=(known["lift"], table["lift"]))
    np.testing.assert_allclose(told["low"], low, rtol=1e-12)


def test_columns_may_come_in_any_order_with_others(prices, flats, typed, tmp_path):
    folder, _ = prices
    turned = pd.read_csv(flats).iloc[:9, ::-1].assign(more=1)
    turned.to_csv(tmp_path / "turned.csv", index=False)
    first = typed("predict", folder, flats).out.splitlines()[:10]
    assert typed("predict", folder, tmp_path / "turned.csv").out.splitlines() == first


def test_a_missing_column_is_named(prices, flats, typed, tmp_path):
    pd.read_csv(flats).drop(columns="rooms").to_csv(tmp_path / "t.csv", index=False)
    result = typed("predict", prices[0], tmp_path / "t.csv")
    assert result.code == 1
    assert result.last.startswith(
        "Error: TABLE must have all columns the model was fitted on; got none named 'rooms'."
    )


def test_unseen_and_missing_cells_are_predicted(prices, flats, typed, tmp_path):
    strange = pd.read_csv(flats).head(3).astype(object)
    strange.loc[0] = None
    strange["district"] = "Atlantis"
    strange["listed"] = "never"
    strange.to_csv(tmp_path / "t.csv", index=False)
    result = typed("predict", prices[0], tmp_path / "t.csv")
    assert result.code == 0, result.err
    assert np.isfinite(pd.read_csv(io.StringIO(result.out))["prediction"]).all()


def test_classes_that_are_formulas_are_written_as_text(kinds, hostile, typed, tmp_path):
    folder, _ = kinds
    out = tmp_path / "p.csv"
    result = typed("predict", folder, hostile, "--proba", "--interval", 0.9, "-o", out)
    assert result.code == 0, result.err
    told = pd.read_csv(out)
    shares = told[[f"probability of {c}" for c in sorted(CLASSES)]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
    assert set(told["prediction"]) <= {"'=1+1", "'@[bold]b", "ünï"}
    assert not told["set"].str.startswith(("=", "@")).any()


def test_parquet_keeps_the_classes_as_they_are(kinds, hostile, typed, tmp_path):
    out = tmp_path / "p.parquet"
    assert typed("predict", kinds[0], hostile, "-o", out).code == 0
    assert set(pd.read_parquet(out)["prediction"]) <= set(CLASSES)


def test_who_reads_the_first_line_only_sees_no_error(prices, flats):
    command = [sys.executable, "-m", "foldwise.cli", "predict", str(prices[0]), str(flats)]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.stderr == b""


def test_standard_output_that_is_full_is_said(monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="No space left on device: 'standard output'"):
        say("a")
    say("b")


def test_a_folder_that_is_not_there_is_misuse(prices, flats, typed, tmp_path):
    result = typed("predict", prices[0], flats, "-o", tmp_path / "no" / "p.csv")
    assert result.code == 2
    assert result.last.endswith(f"Make it with: mkdir -p {tmp_path / 'no'}")


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_predictions_are_written_whole_or_not_at_all(name, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    out = tmp_path / name
    out.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=name):
        write_predictions(pd.DataFrame({"prediction": [1.0]}), out)
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_probabilities_of_a_quantity_are_misuse(prices, flats, typed):
    result = typed("predict", prices[0], flats, "--proba")
    assert result.code == 2
    assert result.last == (
        "Error: --proba must be left out for a model of a quantity; got it. Use --interval."
    )


def test_the_table_is_not_written_over(prices, flats, typed):
    result = typed("predict", prices[0], flats, "-o", flats)
    assert result.code == 2
    assert "-o must not be the table itself" in result.last


def test_a_model_that_is_not_there_is_misuse(typed, flats, tmp_path):
    result = typed("predict", tmp_path / "nothing", flats)
    assert result.code == 2
    assert result.last.startswith("Error: MODEL must be there; got ")


def test_a_damaged_model_is_refused_in_one_sentence(prices, flats, typed, tmp_path):
    content = bytearray((prices[0] / "model.foldwise").read_bytes())
    content[len(content) // 2] ^= 255
    (tmp_path / "bad.foldwise").write_bytes(content)
    result = typed("predict", tmp_path / "bad.foldwise", flats)
    assert result.code == 1
    assert "nobody foresaw" not in result.err


def test_numbers_are_never_marked():
    frame = harmless(pd.DataFrame({"a": [-1.0, 2.0], "b": ["-x", "y"]}))
    assert frame["a"].tolist() == [-1.0, 2.0]
    assert frame["b"].tolist() == ["'-x", "y"]


def test_the_leaderboard_is_that_of_the_fit(typed, prices):
    folder, told = prices
    result = typed("leaderboard", folder, "--json")
    assert result.code == 0, result.err
    assert result.json == {"leaderboard": told["leaderboard"]}
    assert "root mean squared error" in typed("leaderboard", folder).out


def test_the_report_is_written_again(typed, prices, tmp_path):
    out = tmp_path / "again.html"
    result = typed("report", prices[0], "-o", out)
    assert result.code == 0, result.err
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "<h1><bdi>rent, from flats.csv<" in out.read_text("utf-8")


def test_effects_add_up_to_the_prediction(typed, prices, flats):
    result = typed("explain", prices[0], flats, "--row", 3, "--json")
    assert result.code == 0, result.err
    told = result.json
    added = told["base"] + sum(column["adds"] for column in told["columns"])
    assert added == pytest.approx(told["prediction"])


@pytest.mark.parametrize("n_rows", [5, 500, 5000])
def test_rows_compared_with_have_the_average_of_the_table(n_rows):
    X = pd.DataFrame({"a": np.random.default_rng(0).lognormal(0, 1.0, n_rows)})
    rows = _typical_rows(lambda X: X["a"].to_numpy(), X)
    assert len(rows) == 100
    assert rows["a"].mean() == pytest.approx(X["a"].mean(), rel=0.05)


@pytest.mark.parametrize("row", [0, 81])
def test_a_row_that_is_not_there_is_misuse(row, typed, prices, flats):
    result = typed("explain", prices[0], flats, "--row", row)
    assert result.code == 2
    assert result.last == f"Error: --row must be 1 to 80, the table's rows; got {row}."


def test_a_row_alone_cannot_be_compared(typed, prices, flats, tmp_path):
    pd.read_csv(flats).head(1).to_csv(tmp_path / "one.csv", index=False)
    result = typed("explain", prices[0], tmp_path / "one.csv", "--row", 1)
    assert result.code == 2
    assert result.last == (
        "Error: TABLE must have other rows to compare the row with; got one row. Put it into a "
        "table of such rows, as that of the fit."
    )


def test_a_class_is_explained_by_its_probability(typed, kinds, hostile):
    result = typed("explain", kinds[0], hostile, "--row", 1)
    assert result.code == 0, result.err
    assert result.out.startswith("Probability of ")
