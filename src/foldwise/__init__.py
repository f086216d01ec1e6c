"""Ensembles that know their own error.

``import foldwise`` costs next to nothing: each public name is imported when first used.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# The stub, which type checkers and editors read, is the list of the public names.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
_HOMES = {line.split()[3]: line.split()[1] for line in _STUB if line.startswith("from ")}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foldwise' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
