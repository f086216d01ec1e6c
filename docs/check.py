"""Check the built site: links, requests to elsewhere, spelling, and how pages look in Chromium.

    python docs/check.py [--pictures FOLDER]    # the folder keeps what the pages look like

Chromium is used where it is installed; where not, that is said.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from spellchecker import SpellChecker

DOCS = Path(__file__).parent
ROOT, SITE = DOCS.parent, DOCS / "_build" / "html"
WIDTHS = (400, 1400)
PAGES_AT_ONCE, FEWEST_LETTERS = 12, 50
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
CODE = re.compile(
    r"\A---\n.*?\n---\n|```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\{[^}]*\}|\]\([^)]*\)|<[^>]*>",
    re.DOTALL,
)
WORD = re.compile(r"[A-Za-z][a-z]{2,}(?:'[a-z]+)?")


class Page(HTMLParser):
    """The anchors of a page, where it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if said.get(name)}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if said.get(LOADS.get(tag, "")) and said.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(said[LOADS[tag]])


def read_site() -> dict[Path, Page]:
    """Return every page of the site."""
    return {path.resolve(): Page(path) for path in sorted(SITE.glob("**/*.html"))}


def outside(link: str) -> bool:
    """Tell whether a link leaves the site."""
    return bool(re.match(r"(?:[a-z]+:)?//|mailto:", link))


def broken_links(site: dict[Path, Page]) -> list[str]:
    """Return the links inside the site that lead nowhere."""
    wrong = []
    for path, page in site.items():
        for link in page.links:
            place, anchor = urldefrag(link)
            if outside(link) or place.startswith("data:"):
                continue
            target = (path.parent / unquote(place)).resolve() if place else path
            known = target in site
            if not (known or target.is_file()) or (
                known and anchor and unquote(anchor) not in site[target].anchors
            ):
                wrong.append(f"{path.relative_to(SITE.resolve())}: {link}")
    return wrong


def requests(site: dict[Path, Page]) -> list[str]:
    """Return what pages and styles would load from elsewhere."""
    found = [
        f"{path.name}: {load}"
        for path, page in site.items()
        for load in page.loads
        if outside(load)
    ]
    for style in SITE.glob("**/*.css"):
        text = style.read_text(encoding="utf-8", errors="replace")
        found += [
            f"{style.name}: {u}" for u in re.findall(r"url\(['\"]?((?:https?:)?//[^)]*)", text)
        ]
    return found


def misspelt() -> list[str]:
    """Return words of the pages that no dictionary and no list of ours knows."""
    known = SpellChecker()
    known.word_frequency.load_words((DOCS / "words.txt").read_text(encoding="utf-8").split())
    found = []
    pages = [
        *DOCS.glob("*.md"),
        *DOCS.glob("[a-z]*/*.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]
    for page in pages:
        if "generated" in page.parts or "_build" in page.parts:
            continue
        text = CODE.sub(" ", page.read_text(encoding="utf-8"))
        words = {word.lower().removesuffix("'s") for word in WORD.findall(text)}
        found += [f"{page.name}: {word}" for word in sorted(known.unknown(words))]
    return found


def unsaid_numbers() -> list[str]:
    """Return the numbers of README that the example beside them did not print in the gallery."""
    found = []
    for row in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        for script in re.findall(r"`examples/(\S+)\.py`", row):
            printed = (DOCS / "gallery" / f"{script}.rst").read_text(encoding="utf-8")
            printed = printed.partition("sphx-glr-script-out")[2]
            found += [f"{script}: {n}" for n in re.findall(r"\d+\.\d+", row) if n not in printed]
    return found


def common_misspellings() -> list[str]:
    """Return what codespell finds in prose, docstrings and examples."""
    where = ["docs", "examples", "src", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "make.py"]
    skip = "--skip=*/_build/*,*/generated/*,*/gallery/*,*.csv,*.svg,*.png"
    ran = subprocess.run(
        [sys.executable, "-m", "codespell_lib", skip, "-L", "coo,mape,categor", *where],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ran.stdout.splitlines()


FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
    # Whatever a page asks for elsewhere fails here, and is logged.
    "--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files",
)  # fmt: skip
MEASURE = """<script>addEventListener("load", () => {
  const lines = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument.documentElement;
    // A part of the page may scroll by itself, which hides that it is too wide.
    const parts = [...page.querySelectorAll("main, .bd-content, .bd-article-container, article")];
    const wide = parts.map((e) => Math.floor(e.getBoundingClientRect().left) + e.scrollWidth);
    const far = Math.max(page.scrollWidth, ...wide);
    return [frame.src, frame.width, far, page.innerText.length].join(" ");
  });
  document.getElementById("found").textContent = lines.join("\\n");
})</script><pre id="found"></pre>"""


def chromium(*words: str) -> subprocess.CompletedProcess[str] | None:
    """Run Chromium where there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            command = [name, *FLAGS, *words]
            return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return None


def opened(site: dict[Path, Page]) -> list[str]:
    """Open every page in Chromium at two widths; return what is wider than it or fails."""
    pages = list(site)
    parts = [pages[start : start + PAGES_AT_ONCE] for start in range(0, len(pages), PAGES_AT_ONCE)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(opened_at_once, parts))
    if None in found:
        print("Chromium is not installed: no page was opened.")
        return []
    return [line for lines in found for line in lines or ()]


def opened_at_once(pages: list[Path]) -> list[str] | None:
    """Open a few pages, each in a frame of one sheet; None where there is no Chromium."""
    frames = [
        f'<iframe src="{path.as_uri()}" width="{width}" height="900"></iframe>'
        for path in pages
        for width in WIDTHS
    ]
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "sheet.html"
        sheet.write_text("<!DOCTYPE html>" + "".join(frames) + MEASURE, encoding="utf-8")
        profile = f"--user-data-dir={folder}/profile"
        ran = chromium("--virtual-time-budget=20000", profile, "--dump-dom", sheet.as_uri())
    if ran is None:
        return None
    lines = re.findall(r"(file://\S+\.html) (\d+) (\d+) (\d+)", ran.stdout)
    wrong = [f"{frames[0]}: measured {len(lines)} of {len(frames)}"] * (len(lines) != len(frames))
    wrong += [
        f"{page} at {width}: {wide} wide, {letters} letters"
        for page, width, wide, letters in lines
        if int(wide) > int(width) or int(letters) < FEWEST_LETTERS
    ]
    return wrong + [line for line in ran.stderr.splitlines() if "ERR_NAME" in line]


def photographed(site: dict[Path, Page], folder: Path) -> None:
    """Keep a picture of every page that was written by hand, at two widths."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in site:
        name = str(path.relative_to(SITE.resolve())).removesuffix(".html")
        if not (DOCS / f"{name}.md").exists() and not name.startswith("generated/benchmarks"):
            continue
        for width in WIDTHS:
            picture = folder / f"{name.replace('/', '_')}_{width}.png"
            chromium(f"--window-size={width},2400", f"--screenshot={picture}", path.as_uri())


def main() -> None:
    """Run every check; end with 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path)
    pictures = parser.parse_args().pictures
    site = read_site()
    failed = {
        "broken links": broken_links(site),
        "requests to elsewhere": requests(site),
        "unknown words (if right, add them to docs/words.txt)": misspelt(),
        "misspellings": common_misspellings(),
        "numbers of README that its examples do not print": unsaid_numbers(),
        "pages that do not open or are too wide": opened(site),
    }
    if pictures is not None:
        photographed(site, pictures)
    for what, found in failed.items():
        print(f"{what}: {len(found) or 'none'}", *found[:40], sep="\n  ")
    sys.exit(any(failed.values()))


if __name__ == "__main__":
    main()
