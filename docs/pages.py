"""Run the code of the pages, and write what it prints into them.

    python docs/pages.py            # every page: what is printed must be what the page says
    python docs/pages.py --write    # write what is printed into the pages; nobody types it in
    python docs/pages.py how_to/groups.md

A page's blocks of ``>>>`` lines run top to bottom in one session, in an empty folder.
"""

import argparse
import contextlib
import doctest
import io
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(>>> .*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PARSER, CHECKER = doctest.DocTestParser(), doctest.OutputChecker()


def pages() -> list[Path]:
    """Return the pages that have code to run."""
    found = sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("[a-z]*/*.md"))
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


def run_page(page: Path, *, write: bool = False) -> list[str]:
    """Return where a page does not say what its code prints, after writing it there if asked."""
    text = page.read_text(encoding="utf-8")
    session: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[str] = []

    def checked(block: re.Match[str]) -> str:
        lines = []
        for example in PARSER.get_examples(block.group(1)):
            raises = example.want.startswith("Traceback")
            got, failed = _printed(example.source, session, raises=raises)
            flags = FLAGS | sum(flag for flag, on in example.options.items() if on)
            same = example.want == got or CHECKER.check_output(example.want, got, flags)
            if failed or not same:
                wrong.append(f"{page.name}: {example.source}says\n{example.want}is\n{got}")
            lines += _as_typed(example.source)
            lines += (example.want if same else got).splitlines()
        return "\n".join(["```python", *lines, "```"])

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        new = BLOCK.sub(checked, text)
    if write and new != text:
        page.write_text(new, encoding="utf-8")
    return wrong


def _printed(source: str, session: dict[str, Any], *, raises: bool) -> tuple[str, bool]:
    """Return what a statement prints, and whether it raised what it was not to."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<page>", "single"), session)
        except Exception as error:
            if not raises:
                traceback.print_exc()
                return out.getvalue(), True
            last = traceback.format_exception_only(error)[-1]
            return "Traceback (most recent call last):\n    ...\n" + last, False
    return out.getvalue(), False


def _as_typed(source: str) -> Iterator[str]:
    first, *others = source.rstrip("\n").split("\n")
    yield f">>> {first}"
    yield from (f"... {line}".rstrip() for line in others)


def main() -> None:
    """Run the pages that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    said = parser.parse_args()
    named = [DOCS / page if (DOCS / page).exists() else page.resolve() for page in said.pages]
    wrong = [text for page in named or pages() for text in run_page(page, write=said.write)]
    print("\n".join(wrong) or "every page says what its code prints")
    sys.exit(bool(wrong) and not said.write)


if __name__ == "__main__":
    main()
