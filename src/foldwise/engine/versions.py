"""Versions of what is installed, and what is a user's own."""

import importlib.metadata
import importlib.util
import platform
import sys
from functools import cache
from pathlib import Path

LIBRARIES = ("foldwise", "numpy", "scipy", "scikit-learn", "pandas", "lightgbm")


@cache
def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that every fit depends on."""
    found = {name: _installed(name) for name in LIBRARIES}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: v for name, v in found.items() if v is not None}}


def differences(theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """Return in words which versions differ."""
    names = [*ours, *(name for name in theirs if name not in ours)]
    pairs = [(name, theirs.get(name, "none"), ours.get(name, "none")) for name in names]
    return [f"{name} {old} is now {new}" for name, old, new in pairs if old != new]


def version_of_module(module: str | None) -> str | None:
    """Return the version of the package a module belongs to; None for a user's own module."""
    top = (module or "__main__").partition(".")[0]
    if top == "__main__":
        return None
    if top in sys.stdlib_module_names:
        return platform.python_version()
    package = sys.modules.get(top)
    version = getattr(package, "__version__", None)
    return None if version is None or is_own(top) else str(version)


@cache
def is_own(module: str) -> bool:
    """Tell whether a module can be found and is no part of an installed package."""
    top = module.partition(".")[0]
    if top in ("__main__", "foldwise") or top in sys.stdlib_module_names:
        return False
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or [])
    parts = {part for place in places for part in Path(str(place)).parts}
    return not parts & {"site-packages", "dist-packages"}
