"""From a fitted model to a list of plain descriptions, members first.

Every object becomes one entry ``[kind, ...]``; what it is made of stands before it and is
referred to by its place, so that reading is one pass, objects that were shared are shared
again, and nothing can refer to itself.
"""

import base64
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.interpolate import BSpline
from sklearn.utils import Bunch, check_array

from foldwise.errors import Plain
from foldwise.files.allowed import FACTORIES, TYPES, function_name, is_allowed, name_of
from foldwise.files.arrays import array_bytes
from foldwise.files.boosters import booster_content, is_booster
from foldwise.files.compiled import is_compiled, parts_of
from foldwise.files.frames import column_parts
from foldwise.files.refuse import not_saved

INLINE = 256
SEQUENCES = (list, tuple, set, frozenset)
MAPPINGS = (dict, OrderedDict, Counter, Bunch)
SPARSE = ("csr", "csc", "coo")


class Encoder:
    """Collects the entries and members of one model."""

    def __init__(self, trusted: Sequence[Any] = ()) -> None:
        self.trusted = trusted
        self.entries: list[list[Any]] = []
        self.members: dict[str, bytes] = {}
        self._places: dict[int, int] = {}
        self._open: set[int] = set()
        # Objects made on the way are held: another must not get their identity.
        self._held: list[Any] = []
        self._counts: Counter[str] = Counter()

    def value(self, thing: Any) -> Any:
        """Return a thing as JSON: itself if plain, else a reference to its entry."""
        if thing is None or type(thing) in (bool, str, int):
            return thing
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"float": repr(thing)}
        if type(thing) in (bytes, bytearray):
            return {type(thing).__name__: base64.b64encode(thing).decode()}
        key = id(thing)
        if key in self._open:
            got, fix = Plain(type(thing).__name__), "Remove the circular reference."
            raise not_saved("not refer to itself", got, fix)
        if key not in self._places:
            self._held.append(thing)
            self._open.add(key)
            entry = self._entry(thing)
            self._open.discard(key)
            self.entries.append(entry)
            self._places[key] = len(self.entries) - 1
        return {"at": self._places[key]}

    def values(self, things: Any) -> list[Any]:
        """Return several things as JSON."""
        return [self.value(thing) for thing in things]

    def pairs(self, mapping: Any) -> list[list[Any]]:
        """Return a mapping as JSON: keys may be anything."""
        return [[self.value(key), self.value(item)] for key, item in mapping.items()]

    def member(self, folder: str, content: bytes, ending: str) -> str:
        """Put some bytes into a member of their own and return its name."""
        name = f"{folder}/{self._counts[folder]}.{ending}"
        self._counts[folder] += 1
        self.members[name] = content
        return name

    def _entry(self, thing: Any) -> list[Any]:
        cls = type(thing)
        if cls in SEQUENCES:
            return [cls.__name__, self.values(_in_order(thing))]
        if cls in MAPPINGS:
            return [cls.__name__, self.pairs(thing)]
        for known, describe in _RULES:
            if isinstance(thing, known):
                return describe(self, thing)
        if is_booster(thing):
            ending, content, state = booster_content(thing)
            return ["booster", self.member("boosters", content, ending), self.pairs(state)]
        if is_compiled(cls):
            kind, parts = parts_of(thing)
            return ["compiled", kind, self.values(parts)]
        if callable(thing) and (name := function_name(thing, self.trusted)):
            return ["function", name]
        if not is_allowed(cls, self.trusted):
            must = "hold only types that foldwise can load again without running their code"
            got = name_of(thing if callable(thing) and hasattr(thing, "__qualname__") else cls)
            fix = "If it is yours, give it in trusted=[...], here and to load."
            raise not_saved(must, got, fix)
        if isinstance(thing, tuple):
            return ["named", name_of(cls), self.values(thing)]
        state = thing.__getstate__()
        ours = cls.__module__.startswith("foldwise.")
        if ours and isinstance(state, dict) and "run_dir" in state:
            # A path of this machine says nothing on another.
            state = {**state, "run_dir": None}
        return ["object", name_of(cls), self.value(state)]


def _in_order(things: Any) -> Any:
    """Return the items of a set in an order that does not depend on the process."""
    return sorted(things, key=repr) if isinstance(things, set | frozenset) else things


def _array(encoder: Encoder, array: Any) -> list[Any]:
    array = np.asarray(array)
    if array.dtype == object:
        return ["objects", list(array.shape), encoder.values(array.ravel().tolist())]
    content = array_bytes(array)
    if array.nbytes <= INLINE:
        return ["small array", base64.b64encode(content).decode()]
    return ["array", encoder.member("arrays", content, "npy")]


def _scalar(_: Encoder, scalar: Any) -> list[Any]:
    return ["scalar", base64.b64encode(array_bytes(np.asarray(scalar))).decode()]


def _sparse(encoder: Encoder, matrix: Any) -> list[Any]:
    kind = matrix.format if matrix.format in SPARSE else "csr"
    plain = matrix.asformat(kind)
    names = ("row", "col", "data") if kind == "coo" else ("data", "indices", "indptr")
    what = f"{kind}_{'array' if isinstance(matrix, sparse.sparray) else 'matrix'}"
    arrays = [getattr(plain, name) for name in names]
    return ["sparse", what, list(plain.shape), encoder.values(arrays)]


def _random(encoder: Encoder, source: Any) -> list[Any]:
    old = isinstance(source, np.random.RandomState)
    state = source.get_state(legacy=False) if old else source.bit_generator.state
    return ["random", type(source).__name__, encoder.value(state)]


def _spline(encoder: Encoder, spline: BSpline) -> list[Any]:
    parts = [spline.t, spline.c, spline.k, spline.extrapolate, spline.axis]
    return ["spline", encoder.values(parts)]


def _factory(encoder: Encoder, mapping: Any) -> list[Any]:
    factory = mapping.default_factory
    names = [name for name, known in FACTORIES.items() if known is factory]
    if not names:
        raise not_saved("use plain default factories", Plain(repr(factory)), "Use a dict.")
    return ["defaultdict", names[0], encoder.pairs(mapping)]


def _column(encoder: Encoder, column: Any) -> list[Any]:
    kind, parts = column_parts(column)
    return ["column", kind, encoder.values(parts)]


def _frame(encoder: Encoder, frame: pd.DataFrame) -> list[Any]:
    columns = [frame.iloc[:, place].array for place in range(frame.shape[1])]
    return ["frame", encoder.values([frame.index, frame.columns, *columns])]


def _partial(encoder: Encoder, function: partial) -> list[Any]:
    if function.func is not check_array or function.args:
        must = "hold no functions with arguments fixed"
        raise not_saved(must, Plain("a partial"), "Write a function.")
    return ["check_array", encoder.pairs(function.keywords)]


def _type(_: Encoder, cls: type) -> list[Any]:
    name = name_of(cls)
    if name not in TYPES:
        raise not_saved("hold no classes but those of numbers", name, "Leave out this learner.")
    return ["type", name]


_RULES: list[tuple[Any, Callable[[Encoder, Any], list[Any]]]] = [
    (np.ndarray, _array),
    (np.generic, _scalar),
    (np.dtype, lambda _, dtype: ["dtype", dtype.str]),
    (defaultdict, _factory),
    (slice, lambda encoder, s: ["slice", encoder.values([s.start, s.stop, s.step])]),
    (range, lambda _, r: ["range", [r.start, r.stop, r.step]]),
    ((np.random.RandomState, np.random.Generator), _random),
    ((sparse.sparray, sparse.spmatrix), _sparse),
    (BSpline, _spline),
    (pd.DataFrame, _frame),
    (pd.Series, lambda encoder, s: ["series", encoder.values([s.index, s.name, s.array])]),
    ((pd.Index, pd.api.extensions.ExtensionArray), _column),
    (type, _type),
    (partial, _partial),
]
