"""The reference: a page for every public name, written from ``__all__`` of every room."""

import importlib
import inspect
import pkgutil
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import foldwise

PAGES = Path(__file__).parents[1] / "generated" / "reference"
# Whoever comes first has the page of a name that several rooms export.
FIRST = ["foldwise", "foldwise.losses"]
MOST = 6
# What Python says of these is about sets of any kind.
CONSTANTS = {
    "foldwise.folds.EVERYTHING": "The node that leaves no fold out: a fit on all rows.",
    "foldwise.folds.Node": "A node of the lattice: the set of the folds that a fit leaves out.",
}


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


@cache
def objects() -> dict[str, Any]:
    """Return every public name in full, with what it names."""
    return {
        f"{room}.{name}": getattr(importlib.import_module(room), name)
        for room, names in rooms().items()
        for name in names
    }


def section(text: str, title: str) -> str:
    """Return a section of a numpydoc docstring."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


@cache
def makers() -> dict[str, list[str]]:
    """Return, for every public class, the public names that give one and have an example."""
    made: dict[str, list[str]] = {}
    classes = [name for name, value in objects().items() if inspect.isclass(value)]
    for maker, value in objects().items():
        text = inspect.getdoc(value) or ""
        said = section(text, "Returns") + section(text, "Attributes")
        gives = " ".join(line for line in said.splitlines() if not line.startswith(" "))
        for name in classes if section(text, "Examples") else ():
            if name != maker and re.search(rf"\b{name.rsplit('.', 1)[1]}\b", gives):
                made.setdefault(name, []).append(maker)
    # A name of the same room is meant before one of another room's that is called alike.
    rooms = {name: f"{name.rsplit('.', 1)[0]}." for name in made}
    return {n: [m for m in found if m.startswith(rooms[n])] or found for n, found in made.items()}


@cache
def speaks_of(name: str) -> set[str]:
    """Return the words in backticks of a docstring, and those it says to see also."""
    text = inspect.getdoc(objects()[name]) or ""
    return {*re.findall(r"(\w+)`", text), *re.findall(r"(\w+) :", section(text, "See Also"))}


def related(name: str) -> list[str]:
    """Return what to see also: the twin, who speaks of whom, what gives it, its neighbours."""
    known, short = objects(), name.rsplit(".", 1)[1]
    # A constant has the room that exports it for its home.
    ours = {n: str(getattr(value, "__module__", "")) for n, value in known.items()}
    homes = {n: home if home.startswith("foldwise") else n for n, home in ours.items()}
    room = homes[name].rsplit(".", 1)[0]
    ends = {"Regressor": "Classifier", "Classifier": "Regressor"}
    found = [f"foldwise.{short.replace(end, twin)}" for end, twin in ends.items() if end in short]
    found += [other for other in known if other.rsplit(".", 1)[1] in speaks_of(name)]
    found += makers().get(name, [])
    found += [other for other in known if homes[other] == homes[name]]
    found += [other for other in known if short in speaks_of(other)]
    found = [other for other in dict.fromkeys(found) if other in known and other != name]
    near = [other for other in known if homes[other].startswith(room) and other != name]
    alone = len(found) < (2 if name.count(".") == 1 else 1)
    return list(dict.fromkeys(found + near * alone))[:MOST]


def pages_about(name: str) -> list[str]:
    """Return the pages and the examples that speak of a name or import it."""
    docs, short = PAGES.parents[1], name.rsplit(".", 1)[1]
    imported = rf"from foldwise[\w.]* import (\([^)]*|[^\n(]*)\b{short}\b"
    ours = re.compile(rf"foldwise[\w.]*\.{short}`|{imported}")
    files = {f"/{p.relative_to(docs).with_suffix('')}": p for p in sorted(docs.glob("[a-z]*/*.md"))}
    scripts = sorted((docs.parent / "examples").glob("*/*.py"))
    files |= {f"/gallery/{p.parent.name}/{p.stem}": p for p in scripts}
    found = [page for page, path in files.items() if ours.search(path.read_text(encoding="utf-8"))]
    return [page for page in found if "/generated" not in page][:MOST]


def without_company() -> list[str]:
    """Return the public names that send nobody anywhere else."""
    return [name for name in objects() if not related(name)]


def without_example() -> list[str]:
    """Return the public names with neither an example nor something with one that gives them."""
    return [
        name
        for name, value in objects().items()
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
    for page in (PAGES / "api").glob("*.rst"):
        if page.stem not in objects():
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


def point_elsewhere(_: Any, what: str, name: str, value: Any, options: Any, lines: Any) -> None:
    """Give what has none the example of what gives it, and everything something to see also."""
    if name not in objects():
        return
    if name in CONSTANTS:
        lines[:] = [CONSTANTS[name]]
    text, maker = "\n".join(lines), makers().get(name, ["foldwise.folds.Lattice"])[0]
    if what != "function" and not section(text, "Examples"):
        example = section(inspect.getdoc(objects()[maker]) or "", "Examples").splitlines()
        lines += ["", "Examples", "--------", f"Of :obj:`~{maker}`:", "", *example]
    own = lines.index("See Also") + 2 if "See Also" in lines else None
    said = section(text, "See Also")
    others = [n for n in related(name) if n.rsplit(".", 1)[1] not in said]
    entries = [f"{other} : {summary(other)}" for other in others]
    if own is None:
        lines += ["", "See Also", "--------", *entries, ""]
    else:
        lines[own:own] = entries


def summary(name: str) -> str:
    """Return the first sentence about a name."""
    about = CONSTANTS.get(name) or inspect.getdoc(objects()[name]) or ""
    return about.split("\n\n")[0].replace("\n", " ")


def point_to_pages(_: Any, what: str, name: str, value: Any, options: Any, lines: Any) -> None:
    """Say which pages and examples use a name."""
    pages = pages_about(name) if name in objects() else []
    if pages:
        lines += ["", ".. rubric:: Used in", "", ", ".join(f":doc:`{page}`" for page in pages), ""]


def gallery_arguments(_: Any, script: dict[str, Any]) -> list[str]:
    """Have examples that can draw draw: a picture that is open is taken into the gallery."""
    text = Path(script["src_file"]).read_text(encoding="utf-8")
    draws = '"--save"' in text and "write_report" not in text
    return ["--save", str(Path(tempfile.gettempdir()) / "picture.png")] if draws else []


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip)
    # numpydoc, which makes sections of what it finds, comes between the two.
    app.connect("autodoc-process-docstring", point_elsewhere, priority=100)
    app.connect("autodoc-process-docstring", point_to_pages, priority=900)
    return {"parallel_read_safe": True}
