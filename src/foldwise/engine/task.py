"""What happens around one task where it runs: its surroundings, its time, its memory."""

import pickle
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import sklearn

from foldwise.engine.executor import Finished, without_frames
from foldwise.engine.pickling import dumps


@dataclass(frozen=True)
class Surroundings:
    """What a task elsewhere must find as it is here: scikit-learn's settings, warning filters."""

    settings: dict[str, Any] = field(default_factory=sklearn.get_config)
    filters: tuple[Any, ...] = field(default_factory=lambda: tuple(warnings.filters))

    @contextmanager
    def __call__(self) -> Iterator[list[warnings.WarningMessage]]:
        """Set them for a while; warnings are collected, to be issued at home."""
        with (
            sklearn.config_context(**self.settings),
            joblib.parallel_config(backend="sequential"),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.filters = list(self.filters)
            yield said


# What was said already, by place, as every module keeps for its own warnings.
_said: dict[Any, Any] = {}


@dataclass(frozen=True)
class Warned:
    """A warning that is to be issued at home."""

    text: str
    category: type[Warning]
    filename: str
    lineno: int

    def issue(self) -> None:
        """Issue it."""
        warnings.warn_explicit(self.text, self.category, self.filename, self.lineno, registry=_said)


def perform(work: Any, shared: Any, job: Any, around: Surroundings) -> bytes:
    """Do one task in another process and return everything about it, pickled.

    ``work, shared, job``: ``work(shared, job)`` is called. If it returns a list, each item travels
    on its own, so that one that cannot be pickled does not take the others with it.
    """
    result, error = None, None
    said: list[warnings.WarningMessage] = []
    before = resident()
    start = time.perf_counter()
    try:
        with around() as said:
            result = work(shared, job)
    except Exception as raised:
        error = without_frames(raised)
    seconds = time.perf_counter() - start
    memory = max(highest() - before, 0)
    parts = result if isinstance(result, list) else [result]
    warned = [Warned(str(w.message), w.category, w.filename, w.lineno) for w in said]
    return pickle.dumps(
        {
            "parts": [_portable(part) for part in parts],
            "several": isinstance(result, list),
            "error": _portable(error),
            "seconds": seconds,
            "memory": memory,
            "warned": [_portable(warning) for warning in warned],
        }
    )


def received(ticket: int, answer: bytes) -> Finished:
    """Return a task's end from what :func:`perform` returned, and issue its warnings."""
    told = pickle.loads(answer)
    for warning in map(_opened, told["warned"]):
        if isinstance(warning, Warned):
            warning.issue()
    results = [_opened(part) for part in told["parts"]]
    result = results if told["several"] else results[0]
    error = _opened(told["error"])
    if error is None and isinstance(result, UnsendableError):
        error = result
    if error is not None:
        result = None
    return Finished(ticket, result, error, told["seconds"], told["memory"])


class UnsendableError(Exception):
    """A result could not be sent from the process it was made in."""


def _portable(value: Any) -> bytes:
    """Pickle something, or an error that says why not; some errors only fail when read."""
    try:
        packed = dumps(value)
        if isinstance(value, BaseException):
            pickle.loads(packed)
    except Exception as why:
        if isinstance(value, BaseException):
            kept: Exception = RuntimeError(f"{type(value).__name__}: {value}")
        else:
            kept = UnsendableError(
                f"its model cannot be sent between processes ({type(why).__name__}: {why})"
            )
        return bytes(dumps(kept))
    return bytes(packed)


def _opened(packed: bytes) -> Any:
    try:
        return pickle.loads(packed)
    except Exception as why:
        return UnsendableError(
            f"its model cannot be read back from another process ({type(why).__name__}: {why})"
        )


def resident() -> int:
    """Return the bytes this process holds, and start its high-water mark anew; 0 if unknown."""
    try:
        # Linux: 5 sets the high-water mark back to what is held now.
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return highest()
    return _status("VmRSS:")


def highest() -> int:
    """Return the most bytes this process held since :func:`resident`; 0 if unknown."""
    return _status("VmHWM:")


def _status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)
