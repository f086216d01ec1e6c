"""The reference: a page for every public name, written from ``__all__`` of every room."""

import importlib
import inspect
import pkgutil
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import foldwise

PAGES = Path(__file__).parents[1] / "generated" / "reference"
# Whoever comes first has the page of a name that several rooms export.
FIRST = ["foldwise", "foldwise.losses"]


INDEX = """Reference
=========

Every public name, with its parameters and an example. The estimators and the functions of everyday
are in ``foldwise`` itself; the parts they are made of are public under their rooms.

.. toctree::
   :maxdepth: 1
""".split("\n")


@cache
def rooms() -> dict[str, list[str]]:
    """Return the public names of every room, each name once."""
    found = [m.name for m in pkgutil.walk_packages(foldwise.__path__, "foldwise.") if m.ispkg]
    names: dict[str, list[str]] = {}
    seen: set[int] = set()
    for room in [*FIRST, *(name for name in found if name not in FIRST)]:
        module = importlib.import_module(room)
        public = [n for n in getattr(module, "__all__", ()) if not n.startswith("_")]
        mine = [n for n in public if id(getattr(module, n)) not in seen]
        seen |= {id(getattr(module, n)) for n in mine}
        if mine:
            names[room] = mine
    return names


def objects() -> Iterator[tuple[str, Any]]:
    """Return every public name in full, with what it names."""
    for room, names in rooms().items():
        module = importlib.import_module(room)
        yield from ((f"{room}.{name}", getattr(module, name)) for name in names)


def section(text: str, title: str) -> str:
    """Return a section of a numpydoc docstring."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


@cache
def makers() -> dict[str, list[str]]:
    """Return, for every public class, the public names that give one and have an example."""
    made: dict[str, list[str]] = {}
    classes = [name for name, value in objects() if inspect.isclass(value)]
    for maker, value in objects():
        text = inspect.getdoc(value) or ""
        said = section(text, "Returns") + section(text, "Attributes")
        gives = " ".join(line for line in said.splitlines() if not line.startswith(" "))
        for name in classes if section(text, "Examples") else ():
            if name != maker and re.search(rf"\b{name.rsplit('.', 1)[1]}\b", gives):
                made.setdefault(name, []).append(maker)
    return made


def without_example() -> list[str]:
    """Return the public names with neither an example nor something with one that gives them."""
    return [
        name
        for name, value in objects()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and not section(inspect.getdoc(value) or "", "Examples")
        and name not in makers()
    ]


def write_pages(_: Any, __: Any) -> None:
    """Write one page a room; autosummary writes those of the names."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for room, names in rooms().items():
        about = (importlib.import_module(room).__doc__ or "").strip().splitlines()[0]
        title = "Estimators and main functions" if room == "foldwise" else room
        lines = [title, "=" * len(title), "", f".. module:: {room}", "", about, ""]
        lines += [".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
        _write(PAGES / f"{room}.rst", [*lines, *(f"   {name}" for name in names)])
    known = {name for name, _ in objects()}
    for page in (PAGES / "api").glob("*.rst"):
        if page.stem not in known:
            page.unlink()
    _write(PAGES / "index.rst", INDEX + [f"   {room}" for room in rooms()])


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join([*lines, ""])
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def skip(_: Any, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out members that scikit-learn or Python defines: its own documentation has them."""
    home = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", ""
    )
    return None if str(home).startswith("foldwise") else True


def point_to_makers(_: Any, what: str, name: str, value: Any, options: Any, lines: Any) -> None:
    """Say where an example is of what has none of its own."""
    if what != "class" or any(line.strip() == "Examples" for line in lines):
        return
    found = makers().get(name, [])
    # A name of the same room is meant before one of another room's that is called alike.
    found = [maker for maker in found if maker.startswith(name.rsplit(".", 1)[0])] or found
    if found:
        said = ", ".join(f":obj:`~{maker}`" for maker in found[:3])
        lines += ["", "Examples", "--------", f"See the example of {said}, which gives one.", ""]


def gallery_arguments(_: Any, script: dict[str, Any]) -> list[str]:
    """Have examples that can draw draw: a picture that is open is taken into the gallery."""
    text = Path(script["src_file"]).read_text(encoding="utf-8")
    draws = '"--save"' in text and "write_report" not in text
    return ["--save", str(Path(tempfile.gettempdir()) / "picture.png")] if draws else []


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", point_to_makers, priority=100)
    return {"parallel_read_safe": True}
