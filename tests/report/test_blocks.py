from typing import get_args

import pytest

from foldwise.report.blocks import (
    Block,
    Code,
    Column,
    Figure,
    Figures,
    PageTable,
    Prose,
    Section,
    Terms,
    Tile,
    Tiles,
)
from foldwise.report.page import page
from tests.report.reading import read

COLUMNS = [Column("first"), Column("second", "number")]
EACH: list[tuple[Block, list[str]]] = [
    (Prose("a paragraph"), ["a paragraph"]),
    (Tiles([Tile("what", "12", "which means")]), ["what", "12", "which means"]),
    (Figures([Figure("a figure", "", "see this")]), ["a figure", "see this"]),
    (PageTable(COLUMNS, [["row", "7"]], note="below"), ["first", "second", "row", "7", "below"]),
    (Terms([("term", "said of it")]), ["term", "said of it"]),
    (Code(["model.fit(X, y)"]), ["model.fit(X, y)"]),
]


@pytest.mark.parametrize(("block", "words"), EACH, ids=lambda value: type(value).__name__)
def test_the_page_shows_all_that_a_block_says(block: Block, words: list[str]) -> None:
    shown = read(page("title", [Section("answer", ""), Section("s", "S", "", [block])], "kind"))
    assert [word for word in words if word not in shown.text] == []


def test_every_block_is_looked_at_here() -> None:
    assert {type(block) for block, _ in EACH} == set(get_args(Block))


def test_rows_beyond_the_shown_ones_are_folded_away_and_those_left_out_are_counted() -> None:
    rows = [[f"row {i}", "0"] for i in range(5)]
    table = PageTable(COLUMNS, rows, shown=3, left_out=1200)
    shown = read(page("title", [Section("answer", "", "", [table])], "kind")).text
    assert "2 more rows" in shown
    assert "1,200 more are not listed." in shown
    assert all(f"row {i}" in shown for i in range(5))
