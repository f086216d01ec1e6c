"""What must hold for every file of the repository."""

import ast
import importlib
import inspect
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import foldwise
from conftest import needing_posix

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "src" / "foldwise").glob("**/*.py"))
ROOMS = sorted(path.parent for path in MODULES if path.name == "__init__.py")
MOST_LINES = 400
MOST_BODY_LINES = 45


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def lines_besides_docstrings(path: Path) -> int:
    described = sum(
        len(docstring.splitlines())
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (docstring := ast.get_docstring(node, clean=False)) is not None
    )
    return len(path.read_text(encoding="utf-8").splitlines()) - described


def test_every_module_can_be_read_whole() -> None:
    lines = {name_of(path): lines_besides_docstrings(path) for path in MODULES}
    assert {name: n for name, n in lines.items() if n > MOST_LINES} == {}


def test_every_function_can_be_seen_at_once() -> None:
    lines = {
        f"{name_of(path)}: {function.name}": body_lines(function)
        for path in MODULES
        for function in functions(path)
    }
    assert {name: n for name, n in lines.items() if n > MOST_BODY_LINES} == {}


def test_every_module_says_what_it_is() -> None:
    assert [name_of(path) for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def public_objects() -> Iterator[tuple[str, object]]:
    for room in ROOMS:
        module = importlib.import_module(".".join(room.relative_to(ROOT / "src").parts))
        for name in getattr(module, "__all__", ()):
            yield f"{module.__name__}.{name}", getattr(module, name)


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_every_public_name_of_a_room_is_in_all_and_sorted_out(room: Path) -> None:
    module = importlib.import_module(".".join(room.relative_to(ROOT / "src").parts))
    imported = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "").startswith("foldwise")
    }
    public = getattr(module, "__all__", [])
    assert imported <= set(public)
    assert len(set(public)) == len(public)


def test_every_public_name_is_documented_with_its_parameters() -> None:
    bare = []
    for name, value in public_objects():
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        text = inspect.getdoc(value) or ""
        takes = [p for p in inspect.signature(value).parameters if p != "self"]
        sections = ("Parameters\n", "Attributes\n")
        if not text or (takes and not any(section in text for section in sections)):
            bare.append(name)
    assert bare == []


def test_every_documented_parameter_of_an_estimator_can_be_given() -> None:
    # A class that joins two bases with fields has the constructor of one, unless it is decorated.
    for name in foldwise.__all__:
        value = getattr(foldwise, name)
        if not (inspect.isclass(value) and hasattr(value, "get_params")):
            continue
        text = (inspect.getdoc(value) or "").split("Parameters\n----------\n")[1]
        told = re.split(r"\n\w[\w ]*\n-{3,}\n", text)[0]
        lines = [line.split(" : ")[0] for line in told.splitlines() if line[:1].strip()]
        names = [each for line in lines for each in line.split(", ")]
        assert set(names) == set(inspect.signature(value).parameters), name


def test_every_parameter_and_fitted_attribute_of_an_estimator_is_documented() -> None:
    missing = []
    for name in foldwise.__all__:
        value = getattr(foldwise, name)
        if not (inspect.isclass(value) and hasattr(value, "fit")):
            continue
        text = inspect.getdoc(value) or ""
        for parameter in inspect.signature(value).parameters:
            if not re.search(rf"^(\w+, )*{parameter}(, \w+)*( : |$)", text, re.MULTILINE):
                missing.append(f"{name}({parameter})")
    assert missing == []


@pytest.mark.parametrize(
    "name", [n for n in foldwise.__all__ if n.endswith(("Regressor", "Classifier"))]
)
def test_every_public_method_is_documented(name: str) -> None:
    estimator = getattr(foldwise, name)
    own = {
        method: value
        for base in estimator.__mro__
        if base.__module__.startswith("foldwise")
        for method, value in vars(base).items()
        if inspect.isfunction(value) and not method.startswith("_")
    }
    assert [method for method, value in own.items() if not value.__doc__] == []


MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|tmp|home|root|Users|mnt)/\w+")


def test_no_file_names_a_path_of_a_machine() -> None:
    found = []
    for path in tracked_files():
        if path == Path(__file__) or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name_of(path)}: {hit}" for hit in MACHINE_PATHS.findall(text)]
    assert found == []


def test_no_file_says_what_is_to_be_done_later() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    assert [name_of(p) for p in MODULES if words.search(p.read_text(encoding="utf-8"))] == []


def test_windows_is_spared_what_it_cannot_do_and_nothing_else() -> None:
    spared = needing_posix()
    assert "tests/engine/test_survival.py" in spared
    assert "tests/report/test_in_a_browser.py" in spared, "its helper needs it"
    assert "tests/cli/test_help.py" not in spared


def test_what_is_installed_and_what_for_is_said() -> None:
    told = (ROOT / "docs" / "how_to" / "trust.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [re.split(r"[<>=]", name)[0] for name in project["dependencies"]]
    extras = [name for name in project["optional-dependencies"] if name not in ("dev", "docs")]
    assert [name for name in needed + extras if f"`{name}`" not in told] == []
