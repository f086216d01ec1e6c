"""Every error and warning foldwise raises, and the one sentence they are written in.

::

    FoldwiseError
    ├── InvalidParameterError (ValueError)   an argument of an estimator or function
    ├── InvalidDataError      (ValueError)   X, y, sample_weight or groups
    ├── UnsupportedError      (TypeError)    something a learner cannot do
    ├── AllLearnersFailedError (ValueError)  nothing is left to combine
    └── MissingPackageError   (ImportError)  something that is not always installed

    FoldwiseWarning (UserWarning)
    ├── FoldsWarning          fewer folds than asked for, rows or classes missing from some
    ├── NoScoreWarning        the fit succeeded, but without an honest score
    └── LearnerFailedWarning  a learner was dropped
"""

import difflib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PACKAGE = str(Path(__file__).parent)


class FoldwiseError(Exception):
    """Base class of all errors raised by foldwise."""


class InvalidParameterError(FoldwiseError, ValueError):
    """A parameter has a value it must not have."""


class InvalidDataError(FoldwiseError, ValueError):
    """X, y, sample_weight or groups cannot be used."""


class UnsupportedError(FoldwiseError, TypeError):
    """A learner was asked for something it cannot do."""


class AllLearnersFailedError(FoldwiseError, ValueError):
    """Every learner failed, so nothing is left to combine."""


class MissingPackageError(FoldwiseError, ImportError):
    """A package that is not always installed is needed."""


class FoldwiseWarning(UserWarning):
    """Base class of all warnings issued by foldwise."""


class FoldsWarning(FoldwiseWarning):
    """The rows could not be dealt as asked."""


class NoScoreWarning(FoldwiseWarning):
    """The fit succeeded, but without an honest score."""


class LearnerFailedWarning(FoldwiseWarning):
    """A learner failed and was dropped."""


def sentence(owner: str, name: str, *, must: str, got: Any, fix: str) -> str:
    """Return the sentence all our errors are written in.

    ``got``: The offending value. A string is quoted; anything else is shown by its ``repr``, cut to
    80 characters. Use :class:`Plain` for words of your own.
    """
    shown = repr(got)
    if not isinstance(got, Plain) and len(shown) > 80:
        shown = shown[:77] + "..."
    return f"{owner}: {name} must {must}; got {shown}. {fix}"


class Plain(str):
    """Words to be shown in an error as they are, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def invalid_parameter(
    owner: str, name: str, *, must: str, got: Any, fix: str
) -> InvalidParameterError:
    """Build the error for a bad parameter; the arguments are those of :func:`sentence`."""
    return InvalidParameterError(sentence(owner, name, must=must, got=got, fix=fix))


def invalid_data(owner: str, name: str, *, must: str, got: Any, fix: str) -> InvalidDataError:
    """Build the error for bad data; the arguments are those of :func:`sentence`."""
    return InvalidDataError(sentence(owner, name, must=must, got=got, fix=fix))


def unsupported(owner: str, name: str, *, must: str, got: Any, fix: str) -> UnsupportedError:
    """Build the error for a missing ability; the arguments are those of :func:`sentence`."""
    return UnsupportedError(sentence(owner, name, must=must, got=got, fix=fix))


def listing(values: Iterable[Any]) -> Plain:
    """Return the values as text, sorted, the list cut at ten."""
    try:
        shown = [repr(value) for value in sorted(values)]
    except TypeError:
        shown = sorted(map(repr, values))
    more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    return Plain(", ".join(shown[:10]) + more)


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Return the remedy for a word that is not known."""
    names = list(known)
    close = difflib.get_close_matches(str(word), names, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Use one of {listing(names)}."


def warn(message: str, category: type[FoldwiseWarning] = FoldwiseWarning) -> None:
    """Warn at the line of the user's code that called into foldwise."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
