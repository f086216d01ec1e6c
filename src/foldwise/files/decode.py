"""From a list of descriptions to a model, in one pass; see :mod:`foldwise.files.encode`."""

import base64
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.interpolate import BSpline
from sklearn.utils import Bunch

from foldwise.errors import FoldwiseError, Plain
from foldwise.files.allowed import TYPES, class_named, function_named
from foldwise.files.arrays import array_from
from foldwise.files.boosters import booster_from
from foldwise.files.compiled import check_features, check_grown
from foldwise.files.frames import column_from
from foldwise.files.refuse import refused

FACTORIES: dict[str, Any] = {
    "float": float,
    "int": int,
    "list": list,
    "dict": dict,
    "OrderedDict": OrderedDict,
    "None": None,
}
SPARSE = {
    f"{kind}_{what}": getattr(sparse, f"{kind}_{what}")
    for kind in ("csr", "csc", "coo")
    for what in ("array", "matrix")
}
# How far into its buffer a generator may have come; compiled code does not look.
MOST_POSITIONS = {"MT19937": ("state", "pos", 624), "Philox": ("buffer_pos", None, 4)}
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Decoder:
    """Builds the objects of one file."""

    def __init__(
        self, members: Mapping[str, bytes], parts: Sequence[Any], trusted: Sequence[Any] = ()
    ) -> None:
        self.members = members
        self.parts = parts
        self.trusted = trusted
        self._made: list[Any] = []

    def build(self, document: Any) -> Any:
        """Return the model a document describes, or refuse."""
        try:
            for entry in document["entries"]:
                self._made.append(_KINDS[entry[0]](self, *entry[1:]))
            return self.value(document["model"])
        except FoldwiseError:
            raise
        # A state that does not suit its class can raise anything; it is the file's fault.
        except Exception as error:
            what = f"entry {len(self._made)} ({type(error).__name__}: {str(error)[:100]})"
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
            return self._made[given]
        if kind == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[given]
        return {"bytes": bytes, "bytearray": bytearray}[kind](_unpacked(given))

    def values(self, things: Any) -> list[Any]:
        """Return what several pieces stand for."""
        return [self.value(thing) for thing in things]

    def pairs(self, pairs: Any) -> dict[Any, Any]:
        """Return a mapping."""
        return {self.value(key): self.value(item) for key, item in pairs}

    def array(self, name: str) -> Any:
        """Return the array of a member."""
        return array_from(self.members[name], name)

    def object(self, name: str, given: Any) -> Any:
        """Return an object of an allowed class with its state, its ``__init__`` never called."""
        cls: Any = class_named(name, self.trusted)
        thing = cls.__new__(cls)
        state = self.value(given)
        if name.endswith(".TreePredictor"):
            _check_predictor(state["nodes"])
        if isinstance(state, dict):
            check_features(state)
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
        source.state = state if kind == "Generator" else {**state, "state": state["state"]}
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


def _check_predictor(nodes: Any) -> None:
    """Refuse a histogram tree that loops or reads what is not there."""
    inner = nodes["is_leaf"] == 0
    plain = np.zeros(len(nodes), dtype=[(n, np.int64) for n in ("left_child", "right_child")]
                     + [("feature", np.int64)])  # fmt: skip
    plain["left_child"] = np.where(inner, nodes["left"].astype(np.int64), -1)
    plain["right_child"] = np.where(inner, nodes["right"].astype(np.int64), -1)
    plain["feature"] = nodes["feature_idx"]
    check_grown(plain, int(np.iinfo(np.int32).max), len(nodes))


def _unpacked(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _scalar(_: Decoder, text: str) -> Any:
    return array_from(_unpacked(text), "a number")[()]


def _spline(decoder: Decoder, values: Any) -> Any:
    t, c, k, extrapolate, axis = decoder.values(values)
    return BSpline(t, c, k, extrapolate=extrapolate, axis=axis)


def _booster(decoder: Decoder, name: str, state: Any) -> Any:
    return booster_from(name, decoder.members[name], decoder.pairs(state))


_KINDS: dict[str, Callable[..., Any]] = {
    "list": lambda d, values: d.values(values),
    "tuple": lambda d, values: tuple(d.values(values)),
    "set": lambda d, values: set(d.values(values)),
    "frozenset": lambda d, values: frozenset(d.values(values)),
    "dict": lambda d, pairs: d.pairs(pairs),
    "OrderedDict": lambda d, pairs: OrderedDict(d.pairs(pairs)),
    "Counter": lambda d, pairs: Counter(d.pairs(pairs)),
    "Bunch": lambda d, pairs: Bunch(**d.pairs(pairs)),
    "defaultdict": lambda d, kind, pairs: defaultdict(FACTORIES[kind], d.pairs(pairs)),
    "slice": lambda d, values: slice(*d.values(values)),
    "range": lambda _, values: range(*values),
    "array": Decoder.array,
    "small array": lambda _, text: array_from(_unpacked(text), "a small array"),
    "objects": Decoder.objects,
    "scalar": _scalar,
    "dtype": lambda _, text: np.dtype(str(text)),
    "type": lambda _, name: TYPES[name],
    "function": lambda d, name: function_named(name, d.trusted),
    "sparse": Decoder.sparse,
    "random": Decoder.random,
    "spline": _spline,
    "column": lambda d, kind, parts: column_from(kind, d.values(parts)),
    "frame": Decoder.frame,
    "series": Decoder.series,
    "booster": _booster,
    "part": lambda d, number: d.parts[range(len(d.parts))[number]],
    "named": Decoder.named,
    "object": Decoder.object,
}
