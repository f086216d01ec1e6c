"""Content keys: two things with one key would give one result.

A key is stable between processes and machines. What has a version (an estimator of an installed
package) is known by its name and version; what has none (a class or function of one's own) by its
name and code, so that a learner whose code was changed is fitted again.
"""

import dataclasses
import enum
import functools
import hashlib
import pickle
import struct
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from foldwise.engine.code import add_class, add_function, global_name
from foldwise.engine.tables import add_table
from foldwise.engine.versions import version_of_module
from foldwise.errors import UnsupportedError, unsupported

LENGTH = 40
# Parameters of our own estimators that change no bit of a result.
HOW_TO_RUN = {"callback", "executor", "n_jobs", "on_interrupt", "run_dir", "verbose"}


def fingerprint(obj: Any) -> str:
    """Return a key of the content of an object.

    Parameters
    ----------
    obj : object
        Arrays count by dtype, shape, memory order and bytes; sparse matrices by format and
        parts; data frames (pandas, polars) by names, types, categories, values and index;
        estimators by class and parameters, fitted or not (a frozen one by what it learnt
        too); functions and classes without a version by their code and the code they call;
        containers by their items, dictionaries in order, sets in none; fields of data classes
        that are not compared are left out; anything else by what pickle would keep.

    Returns
    -------
    str
        Forty hexadecimal digits.

    Raises
    ------
    UnsupportedError
        For what has no content that means the same in another process: open files, locks,
        generators.

    Notes
    -----
    Numbers are read at about 1.5 GB/s; columns of Python objects far slower.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> fingerprint(Ridge(alpha=1)) == fingerprint(Ridge(alpha=1).fit([[0], [1]], [0, 1]))
    True
    >>> fingerprint(Ridge(alpha=1)) == fingerprint(Ridge(alpha=2))
    False
    """
    content = Content()
    content.add(obj)
    return content.key()


class Content:
    """Takes things in, one after the other, and has a key of all of them.

    Examples
    --------
    >>> first, second = Content(), Content()
    >>> first.add(["a"]), second.add(("a",))
    (None, None)
    >>> first.key() == second.key()
    False
    """

    def __init__(self) -> None:
        self.sha = hashlib.sha256()
        self.where: list[str] = []
        self.within: list[int] = []
        self.known: dict[int, tuple[int, Any]] = {}

    def key(self) -> str:
        """Return the key of all that was taken in."""
        return self.sha.hexdigest()[:LENGTH]

    def write(self, tag: str, data: bytes = b"") -> None:
        """Take in bytes; tag and length keep neighbours apart."""
        self.sha.update(f"{tag}:{len(data)};".encode())
        self.sha.update(data)

    def extend(self, data: Any) -> None:
        """Take in bytes whose number was said before."""
        self.sha.update(data)

    def say(self, tag: str, *words: object) -> None:
        """Take in words."""
        for word in words:
            self.write(tag, str(word).encode("utf-8", "surrogatepass"))

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Remember where we are, for the error."""
        self.where.append(place)
        yield
        self.where.pop()

    def once(self, value: Any) -> bool:
        """Tell whether something shared is met for the first time; else take in which it was."""
        if id(value) in self.known:
            self.say("again", self.known[id(value)][0])
            return False
        self.known[id(value)] = (len(self.known), value)
        return True

    def add(self, value: Any, place: str = "") -> None:
        """Take in anything."""
        if id(value) in self.within:
            self.say("inside", len(self.within) - self.within.index(id(value)))
            return
        self.within.append(id(value))
        with self.at(place):
            _add(self, value)
        self.within.pop()

    def attempt(self, value: Any) -> None:
        """Take in something that code uses, or nothing of it if it has no stable content."""
        before = self.sha.copy(), list(self.where), list(self.within), dict(self.known)
        try:
            self.add(value)
        except UnsupportedError:
            self.sha, self.where, self.within, self.known = before
            self.say("unknown", type(value).__qualname__)

    def refuse(self, value: Any) -> UnsupportedError:
        """Return the error for something without a stable content."""
        return unsupported(
            "fingerprint",
            "obj" + "".join(self.where),
            must="have a content that means the same in another process",
            got=value,
            fix="Use something that can be pickled.",
        )


def _add(content: Content, value: Any) -> None:
    exact = EXACT.get(type(value))
    if exact is not None:
        exact(content, value)
        return
    for kinds, way in KINDS:
        if isinstance(value, kinds):
            way(content, value)
            return
    if add_table(content, value):
        return
    if dataclasses.is_dataclass(value):
        _add_dataclass(content, value)
    elif hasattr(value, "get_params"):
        _add_estimator(content, value)
    elif global_name(value):
        content.say("global", global_name(value), version_of_module(value.__module__))
        # A cached function of one's own, for example.
        content.add(getattr(value, "__wrapped__", None))
    else:
        _add_pickled(content, value)


def _add_plain(content: Content, value: Any) -> None:
    content.say(type(value).__name__, value)


def _add_float(content: Content, value: float) -> None:
    content.write("float", struct.pack("<d", value))


def _add_complex(content: Content, value: complex) -> None:
    content.write("complex", struct.pack("<dd", value.real, value.imag))


def _add_bytes(content: Content, value: Any) -> None:
    content.write(type(value).__name__, bytes(value))


def _add_sequence(content: Content, value: Any) -> None:
    content.say(type(value).__name__, len(value))
    for i, item in enumerate(value):
        content.add(item, f"[{i}]")


def _add_dict(content: Content, value: dict[Any, Any]) -> None:
    content.say("dict", len(value))
    for key, item in value.items():
        content.add(key)
        content.add(item, f"[{key!r}]")


def _add_set(content: Content, value: Any) -> None:
    content.say(type(value).__name__, *sorted(fingerprint(item) for item in value))


def _add_enum(content: Content, value: enum.Enum) -> None:
    content.say("enum", type(value).__module__, type(value).__qualname__, value.name)


def _add_partial(content: Content, value: Any) -> None:
    content.say("partial")
    content.add(value.func, ".func")
    content.add(value.args, ".args")
    content.add(value.keywords, ".keywords")


def _add_method(content: Content, value: Any) -> None:
    content.say("method", value.__name__)
    content.add(value.__self__, ".__self__")


def _add_module(content: Content, value: types.ModuleType) -> None:
    content.say("module", value.__name__, version_of_module(value.__name__))


def _add_random(content: Content, value: Any) -> None:
    content.say("random", type(value).__name__)
    generator = value if isinstance(value, np.random.BitGenerator) else value._bit_generator
    content.add(generator.state)


def _add_dataclass(content: Content, value: Any) -> None:
    add_class(content, type(value))
    for field in dataclasses.fields(value):
        if field.compare:
            content.say("field", field.name)
            content.add(getattr(value, field.name), f".{field.name}")


def _add_estimator(content: Content, value: Any) -> None:
    add_class(content, type(value))
    parameters = value.get_params(deep=False)
    if type(value).__module__.startswith("foldwise."):
        parameters = {k: v for k, v in parameters.items() if k not in HOW_TO_RUN}
    content.say("parameters", len(parameters))
    for name in sorted(parameters):
        content.say("parameter", name)
        content.add(parameters[name], f".{name}")
    if _keeps_what_it_learnt(value):
        content.say("learnt")
        for name in sorted(parameters):
            content.add(getattr(parameters[name], "__dict__", None), f".{name}")
        content.add({k: v for k, v in vars(value).items() if k not in parameters})


def _keeps_what_it_learnt(value: Any) -> bool:
    """Tell whether cloning leaves it fitted, as a frozen estimator's does."""
    own = getattr(type(value), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    return own is not BaseEstimator.__sklearn_clone__ and value.__sklearn_clone__() is value


def _add_pickled(content: Content, value: Any) -> None:
    try:
        parts = value.__reduce_ex__(4)
    except (TypeError, AttributeError, NotImplementedError, pickle.PickleError) as error:
        raise content.refuse(value) from error
    if isinstance(parts, str):
        content.say("global", type(value).__module__, parts)
        return
    content.say("pickled", len(parts))
    for part in parts[:3]:
        content.add(part)
    for items in parts[3:5]:
        content.add(None if items is None else list(items))


EXACT: dict[type, Callable[[Content, Any], None]] = {
    type(None): _add_plain,
    type(...): _add_plain,
    bool: _add_plain,
    int: _add_plain,
    str: _add_plain,
    range: _add_plain,
    slice: _add_plain,
    float: _add_float,
    complex: _add_complex,
    bytes: _add_bytes,
    bytearray: _add_bytes,
    list: _add_sequence,
    tuple: _add_sequence,
    dict: _add_dict,
    set: _add_set,
    frozenset: _add_set,
    types.FunctionType: add_function,
    types.MethodType: _add_method,
    types.ModuleType: _add_module,
    functools.partial: _add_partial,
}
KINDS: tuple[tuple[Any, Callable[[Content, Any], None]], ...] = (
    (type, add_class),
    (enum.Enum, _add_enum),
    ((np.random.RandomState, np.random.Generator, np.random.BitGenerator), _add_random),
)
