import pytest

from tests.cli.conftest import HOSTILE


def test_inspect_shows_every_column(typed, flats):
    result = typed("inspect", flats, "--target", "rent")
    assert result.code == 0, result.err
    assert "80 rows, 13 columns. Read as utf-8, commas between fields." in result.out
    assert "Target 'rent': a quantity." in result.out
    assert "listing_id" in result.out
    assert "identifier" in result.out


def test_inspect_shows_names_as_they_are(typed, hostile):
    assert HOSTILE in typed("inspect", hostile).out


def test_inspect_tells_machines_the_same(typed, flats):
    told = typed("inspect", flats, "--target", "rent", "--json").json
    assert told["task"] == "regression"
    assert told["read_as"] == {"encoding": "utf-8", "delimiter": ",", "decimal": "."}
    assert len(told["columns"]) == 12


def test_the_leaderboard_is_that_of_the_fit(typed, prices):
    folder, told = prices
    result = typed("leaderboard", folder, "--json")
    assert result.code == 0, result.err
    assert [row["model"] for row in result.json] == [row["model"] for row in told["leaderboard"]]
    assert "root mean squared error" in typed("leaderboard", folder).out


def test_the_report_is_written_again(typed, prices, tmp_path):
    out = tmp_path / "again.html"
    result = typed("report", prices[0], "-o", out)
    assert result.code == 0, result.err
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_effects_add_up_to_the_prediction(typed, prices, flats):
    result = typed("explain", prices[0], flats, "--row", 3, "--json")
    assert result.code == 0, result.err
    told = result.json
    added = told["base"] + sum(column["adds"] for column in told["columns"])
    assert added == pytest.approx(told["prediction"])


@pytest.mark.parametrize("row", [0, 81])
def test_a_row_that_is_not_there_is_misuse(row, typed, prices, flats):
    result = typed("explain", prices[0], flats, "--row", row)
    assert result.code == 2
    assert result.last == f"Error: --row must be 1 to 80, the table's rows; got {row}."


def test_a_class_is_explained_by_its_probability(typed, kinds, hostile):
    result = typed("explain", kinds[0], hostile, "--row", 1)
    assert result.code == 0, result.err
    assert result.out.startswith("Probability of ")
