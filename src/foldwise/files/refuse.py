"""The sentences in which a model file or a model is refused."""

from typing import Any

from foldwise.errors import InvalidDataError, UnsupportedError, invalid_data, unsupported

ASK_AGAIN = "Save the model again, and do not load files you have no reason to trust."


def refused(must: str, got: Any, fix: str = ASK_AGAIN) -> InvalidDataError:
    """Build the error for a file that is not loaded."""
    return invalid_data("load", "file", must=must, got=got, fix=fix)


def without_library(library: str) -> InvalidDataError:
    """Build the error for a file whose model needs a library that is not installed."""
    return refused("find the library it needs", library, "Install it and load again.")


def not_saved(must: str, got: Any, fix: str) -> UnsupportedError:
    """Build the error for a model that cannot be saved."""
    return unsupported("save", "model", must=must, got=got, fix=fix)
