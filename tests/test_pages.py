"""The pages for people who come from elsewhere run as tests; `make docs` runs them all."""

from pathlib import Path

import pytest

from docs._ext.reference import without_company, without_example
from docs.pages import DOCS, pages, run_page

COMING_FROM = sorted((DOCS / "coming_from").glob("*.md"))


@pytest.mark.parametrize("page", [p for p in COMING_FROM if p in pages()], ids=lambda p: p.stem)
def test_a_page_says_what_its_code_prints(page: Path) -> None:
    assert run_page(page) == []


def test_there_are_six_pages_for_those_who_come_from_elsewhere() -> None:
    assert [p.stem for p in COMING_FROM if p in pages()] == [
        "autogluon", "h2o", "imodels", "mlxtend", "r", "scikit_learn",
    ]  # fmt: skip


def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    assert len(run_page(page)) == 1
    assert len(run_page(page, write=True)) == 1
    assert page.read_text(encoding="utf-8") == "```python\n>>> 1 + 1\n2\n```\n"
    assert run_page(page) == []


def test_every_public_name_has_an_example_or_comes_from_what_has_one() -> None:
    assert without_example() == []


def test_every_public_name_says_what_to_see_also() -> None:
    assert without_company() == []
