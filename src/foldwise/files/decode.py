"""From a list of descriptions to a model, in one pass; see :mod:`foldwise.files.encode`."""

import base64
import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.interpolate import BSpline
from sklearn.utils import Bunch, check_array

from foldwise.errors import FoldwiseError, Plain
from foldwise.files.allowed import FACTORIES, TYPES, class_named, function_named
from foldwise.files.arrays import array_from
from foldwise.files.boosters import booster_from
from foldwise.files.compiled import rebuilt
from foldwise.files.estimators import check_estimator, check_predictor
from foldwise.files.frames import column_from
from foldwise.files.refuse import refused

SPARSE = {
    f"{kind}_{what}": getattr(sparse, f"{kind}_{what}")
    for kind in ("csr", "csc", "coo")
    for what in ("array", "matrix")
}
# How far into its buffer a generator may have come; compiled code does not look.
MOST_POSITIONS = {"MT19937": ("state", "pos", 624), "Philox": ("buffer_pos", None, 4)}
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
DTYPE = re.compile(r"[<>|=]?([?bBhHiIlLqQefdgFDO]|[biufc]\d{1,2}|[SU]\d{0,4}|[mM]8(\[\w+\])?)")
# How much larger than its entries a model may be when everything shared is counted each time.
MOST_SHARING = 1_000
MOST_THINGS = 1_000_000
# Sparse matrices may be this long and wide whatever is in them: hashed words need few numbers.
MOST_ROWS = 2**22
SHORT = 100_000


class Decoder:
    """Builds the objects of one file."""

    def __init__(self, members: Mapping[str, bytes], trusted: Sequence[Any] = ()) -> None:
        self.members = members
        self.trusted = trusted
        # Nothing in a model is much longer than the bytes of its file.
        self.longest = SHORT + sum(len(content) for content in members.values())
        self._made: list[Any] = []
        # How many things an entry holds, those of the entries it refers to counted each time.
        self._sizes: list[int] = []
        self._size = 0
        self._hashed = 0

    def build(self, document: Any) -> Any:
        """Return the model a document describes, or refuse."""
        try:
            self._most = MOST_THINGS + MOST_SHARING * len(document["entries"])
            for entry in document["entries"]:
                self._size = 1
                self._made.append(_KINDS[entry[0]](self, *entry[1:]))
                self._sizes.append(self._size)
            return self.value(document["model"])
        except FoldwiseError:
            raise
        # A state that does not suit its class can raise anything; it is the file's fault. Only
        # words are repeated: showing an object from the file would run its ``__repr__``.
        except Exception as error:
            said = f": {error.args[0][:100]}" if error.args and type(error.args[0]) is str else ""
            what = f"entry {len(self._made)} ({type(error).__name__}{said})"
            raise refused("describe a model that can be built", Plain(what)) from error

    def value(self, thing: Any) -> Any:
        """Return what a piece of JSON stands for."""
        if not isinstance(thing, dict):
            if isinstance(thing, list):
                raise TypeError("a bare list")
            return thing
        ((kind, given),) = thing.items()
        if kind == "at":
            if not 0 <= given < len(self._made):
                raise IndexError("a reference forward")
            self._size += self._sizes[given]
            # Forty tuples, each twice the one before, take a kilobyte and for ever to walk.
            if self._size > self._most:
                raise refused("share parts within reason", Plain("parts of parts without end"))
            return self._made[given]
        if kind == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[given]
        return {"bytes": bytes, "bytearray": bytearray}[kind](_unpacked(given))

    def values(self, things: Any) -> list[Any]:
        """Return what several pieces stand for."""
        return [self.value(thing) for thing in things]

    def keys(self, things: Any) -> list[Any]:
        """Return what several pieces stand for that will be hashed, which walks all of each."""
        before = self._size
        keys = self.values(things)
        self._hashed += self._size - before
        if self._hashed > self._most:
            raise refused("share parts within reason", Plain("keys of keys without end"))
        return keys

    def pairs(self, pairs: Any) -> dict[Any, Any]:
        """Return a mapping."""
        pairs = list(pairs)
        keys = self.keys(key for key, _ in pairs)
        return dict(zip(keys, self.values(item for _, item in pairs), strict=True))

    def length(self, length: int) -> int:
        """Return a length, or refuse: nothing is longer than what is in the file."""
        if not 0 <= length <= self.longest:
            raise refused("hold no more than it has bytes", Plain(f"something {length:,d} long"))
        return length

    def array(self, name: str) -> Any:
        """Return the array of a member."""
        return array_from(self.members[name], name)

    def object(self, name: str, given: Any) -> Any:
        """Return an object of an allowed class with its state, its ``__init__`` never called."""
        cls: Any = class_named(name, self.trusted)
        thing = cls.__new__(cls)
        state = self.value(given)
        if name.endswith(".TreePredictor"):
            check_predictor(state)
        elif isinstance(state, dict):
            check_estimator(cls, state, self.longest)
        if state is None:
            return thing
        if hasattr(cls, "__setstate__"):
            thing.__setstate__(dict(state) if isinstance(state, dict) else state)
            return thing
        attributes, slots = state if isinstance(state, tuple) else (state, {})
        thing.__dict__.update(attributes or {})
        for slot, value in slots.items():
            object.__setattr__(thing, slot, value)
        return thing

    def named(self, name: str, values: Any) -> Any:
        """Return a named tuple."""
        cls: Any = class_named(name, self.trusted)
        return tuple.__new__(cls, self.values(values))

    def objects(self, shape: Any, values: Any) -> Any:
        """Return an array of objects."""
        if math.prod(shape) != len(values):
            raise ValueError("an array of another length")
        flat = np.empty(len(values), dtype=object)
        for place, value in enumerate(self.values(values)):
            flat[place] = value
        return flat.reshape(shape)

    def sparse(self, what: str, shape: Any, arrays: Any) -> Any:
        """Return a sparse matrix, checked whole."""
        first, second, third = self.values(arrays)
        for size in shape:
            if size > MOST_ROWS:
                self.length(size)
        if what.startswith("coo"):
            return SPARSE[what]((third, (first, second)), shape=tuple(shape))
        matrix = SPARSE[what]((first, second, third), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def random(self, kind: str, given: Any) -> Any:
        """Return a source of random numbers."""
        state = self.value(given)
        name = state["bit_generator"]
        if name not in BIT_GENERATORS:
            raise ValueError(f"the generator {name!r}")
        if name in MOST_POSITIONS:
            outer, inner, most = MOST_POSITIONS[name]
            position = state[outer][inner] if inner else state[outer]
            if not 0 <= position <= most:
                raise ValueError("a generator beyond its numbers")
        source = getattr(np.random, name)()
        source.state = state
        if kind == "Generator":
            return np.random.Generator(source)
        old = np.random.RandomState(source)
        old.set_state(state)
        return old

    def frame(self, values: Any) -> Any:
        """Return a data frame."""
        index, names, *columns = self.values(values)
        frame = pd.DataFrame(dict(enumerate(columns)), index=index)
        frame.columns = names
        return frame

    def series(self, values: Any) -> Any:
        """Return a series."""
        index, name, column = self.values(values)
        return pd.Series(column, index=index, name=name)


def _unpacked(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _scalar(_: Decoder, text: str) -> Any:
    return array_from(_unpacked(text), "a number")[()]


def _spline(decoder: Decoder, values: Any) -> Any:
    t, c, k, extrapolate, axis = decoder.values(values)
    return BSpline(t, c, k, extrapolate=extrapolate, axis=axis)


def _range(decoder: Decoder, values: Any) -> range:
    found = range(*values)
    decoder.length(len(found))
    return found


def _dtype(_: Decoder, text: str) -> Any:
    if not DTYPE.fullmatch(text):
        raise refused("hold arrays of known types", text)
    return np.dtype(text)


def _check_array(decoder: Decoder, given: Any) -> Any:
    """Return the check that histogram boosting puts before its categories."""
    how = decoder.pairs(given)
    plain = {np.float32, np.float64, True, False, None, "allow-nan"}
    known = set(how) <= {"dtype", "ensure_all_finite", "force_all_finite"}
    found = [v for value in how.values() for v in (value if type(value) is list else [value])]
    if not known or not all(isinstance(v, type | str | bool | None) and v in plain for v in found):
        raise refused("hold only functions that foldwise allows", Plain("'check_array' so called"))
    return partial(check_array, **how)


def _booster(decoder: Decoder, name: str, state: Any) -> Any:
    return booster_from(name, decoder.members[name], decoder.pairs(state))


_KINDS: dict[str, Callable[..., Any]] = {
    "list": lambda d, values: d.values(values),
    "tuple": lambda d, values: tuple(d.values(values)),
    "set": lambda d, values: set(d.keys(values)),
    "frozenset": lambda d, values: frozenset(d.keys(values)),
    "dict": lambda d, pairs: d.pairs(pairs),
    "OrderedDict": lambda d, pairs: OrderedDict(d.pairs(pairs)),
    "Counter": lambda d, pairs: Counter(d.pairs(pairs)),
    "Bunch": lambda d, pairs: Bunch(**d.pairs(pairs)),
    "defaultdict": lambda d, kind, pairs: defaultdict(FACTORIES[kind], d.pairs(pairs)),
    "slice": lambda d, values: slice(*d.values(values)),
    "range": _range,
    "array": Decoder.array,
    "small array": lambda _, text: array_from(_unpacked(text), "a small array"),
    "objects": Decoder.objects,
    "scalar": _scalar,
    "dtype": _dtype,
    "type": lambda _, name: TYPES[name],
    "function": lambda d, name: function_named(name, d.trusted),
    "sparse": Decoder.sparse,
    "random": Decoder.random,
    "spline": _spline,
    "column": lambda d, kind, parts: column_from(kind, d.values(parts), d.length),
    "frame": Decoder.frame,
    "series": Decoder.series,
    "booster": _booster,
    "check_array": _check_array,
    "compiled": lambda d, name, parts: rebuilt(name, d.values(parts)),
    "named": Decoder.named,
    "object": Decoder.object,
}
