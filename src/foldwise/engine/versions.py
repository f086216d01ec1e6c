"""Versions of what a result depends on."""

import importlib.metadata
import platform
import sys
from functools import cache

LIBRARIES = ("foldwise", "numpy", "scipy", "scikit-learn", "pandas", "lightgbm")


@cache
def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that every fit depends on.

    Examples
    --------
    >>> sorted(set(library_versions()) & {"numpy", "python", "scikit-learn"})
    ['numpy', 'python', 'scikit-learn']
    """
    found = {name: _installed(name) for name in LIBRARIES}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: v for name, v in found.items() if v is not None}}


def differences(theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """Return in words which versions differ.

    Examples
    --------
    >>> differences({"numpy": "1.26"}, {"numpy": "2.3", "scipy": "1.16"})
    ['numpy 1.26 is now 2.3', 'scipy none is now 1.16']
    """
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
    version = getattr(sys.modules.get(top), "__version__", None)
    return None if version is None else str(version)
