"""The report as a browser sees it. Skipped, and said so, where there is no Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldwise import StackingRegressor, write_report
from tests.report.browser import Browser, chromium
from tests.report.conftest import REGRESSORS, friedman
from tests.report.hostile import hostile_page

WIDTHS = (1280, 390)

pytestmark = pytest.mark.skipif(
    chromium() is None,
    reason="NO CHROMIUM: the report was not looked at in a browser; install the package chromium",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def check(browser: Browser, path: Path) -> None:
    for width in WIDTHS:
        browser.open(path, width=width)
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.complaints() == []
        assert [url for url in browser.requests() if not url.startswith("data:")] == [path.as_uri()]
        across = browser.evaluate("document.documentElement.scrollWidth")
        assert across <= width, f"scrolls at {width}: {wide(browser, width)}"


def wide(browser: Browser, width: int) -> Any:
    return browser.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > "
        f"{width} && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 100)).slice(0, 3)"
    )


def test_no_error_no_request_no_scrolling(browser: Browser, stack: Any, tmp_path: Path) -> None:
    check(browser, write_report(stack, tmp_path / "report.html"))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_hostile_names_run_nothing_and_break_nothing(
    browser: Browser, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile_page(kind), encoding="utf-8")
    check(browser, path)
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate("typeof window.hacked") == "undefined"
    assert browser.evaluate("document.querySelectorAll('main > details').length") >= 8
    assert browser.evaluate("document.dir") == ""


OUTSIDE = """
[...document.querySelectorAll('svg')].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const own = text.getBoundingClientRect();
    return own.left < box.left - 3 || own.right > box.right + 3;
  }).map(text => text.textContent);
})
"""


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_no_text_leaves_its_figure(browser: Browser, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile_page(kind), encoding="utf-8")
    browser.open(path, width=1280)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate(OUTSIDE) == []


def test_large_and_small_numbers_stay_in_their_figure(browser: Browser, tmp_path: Path) -> None:
    for i, unit in enumerate((1e-7, 1e12)):
        X, y = friedman(60)
        stack = StackingRegressor(REGRESSORS, cv=3, random_state=0).fit(X * unit, -unit * y)
        browser.open(write_report(stack, tmp_path / f"{i}.html"), width=1280)
        assert browser.evaluate(OUTSIDE) == []


def test_text_in_figures_is_readable_on_a_phone(
    browser: Browser, multiclass: Any, tmp_path: Path
) -> None:
    browser.open(write_report(multiclass, tmp_path / "report.html"), width=390)
    least = browser.evaluate(
        "Math.min(...[...document.querySelectorAll('details[open] svg text')].map(t => "
        "t.getBoundingClientRect().height))"
    )
    assert least >= 10


def luminance(browser: Browser, selector: str, what: str) -> float:
    colour = browser.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{what}")
    red, green, blue = (int(part) for part in colour[4:-1].split(","))
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4)
              for c in (red, green, blue)]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(
    browser: Browser, regression: Any, scheme: str, tmp_path: Path
) -> None:
    browser.open(write_report(regression, tmp_path / "r.html"), width=1280, scheme=scheme)
    paper = luminance(browser, "details.section", "backgroundColor")
    assert (paper > 0.5) == (scheme == "light")
    for selector, what in ((".lead", "color"), (".note", "color"), ("svg text", "fill")):
        text = luminance(browser, selector, what)
        contrast = (max(text, paper) + 0.05) / (min(text, paper) + 0.05)
        assert contrast >= 4.5, f"{selector}: WCAG AA asks for 4.5"


def test_printing_shows_what_is_folded(browser: Browser, regression: Any, tmp_path: Path) -> None:
    path = write_report(regression, tmp_path / "report.html")
    shown = "document.querySelector('#reproduce pre').checkVisibility()"
    browser.open(path, width=1280)
    assert not browser.evaluate(shown)
    browser.open(path, width=700, media="print")
    assert browser.evaluate(shown)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 700


def test_contents_lead_to_sections(browser: Browser, regression: Any, tmp_path: Path) -> None:
    browser.open(write_report(regression, tmp_path / "report.html"), width=1280)
    lost = browser.evaluate(
        "[...document.querySelectorAll('nav a')].filter(a => !document.querySelector("
        "a.getAttribute('href'))).length"
    )
    assert lost == 0
