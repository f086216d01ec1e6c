"""Content keys: two things with one key would give one result.

A key is stable between processes and machines. What is installed and has a version (an estimator
of a package) is known by its name and version; anything else (a class, function or module of one's
own) by its name and code, so that a learner whose code was changed is fitted again.

The bytes that are hashed are those of a pickle in which some things are put in another form first.
:func:`joblib.hash` does so for arrays, but knows functions and classes by name alone, counts what
an estimator has learnt, and gives equal things other keys when parts of them are one object.
"""

import contextlib
import dataclasses
import dis
import hashlib
import importlib.util
import pickle
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator

from foldwise.engine.versions import is_own, version_of_module
from foldwise.errors import UnsupportedError, unsupported

LENGTH = 40
BLOCK = 1 << 24
# Parameters of our own estimators that change no bit of a result.
HOW_TO_RUN = {"callback", "executor", "n_jobs", "on_interrupt", "run_dir", "verbose"}
# What pickle writes as it is, items and all.
AS_IT_IS = {type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, dict}
# Attributes of a class that say nothing of what it does; pickle and copy leave the last on it.
NOT_CODE = re.compile(
    "__(annotations|abstractmethods|dict|doc|firstlineno|module|static_attributes|weakref)__"
    "|_abc_impl|__slotnames__"
)
NO_PICKLE = (TypeError, AttributeError, NotImplementedError, pickle.PickleError)


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

    See Also
    --------
    RunStore : Keeps fits under such keys.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> fingerprint(Ridge(alpha=1)) == fingerprint(Ridge(alpha=1).fit([[0], [1]], [0, 1]))
    True
    >>> fingerprint(Ridge(alpha=1)) == fingerprint(Ridge(alpha=2))
    False
    """
    try:
        return _key(obj, {})
    except NO_PICKLE as error:
        raise _refusal(obj) from error


def _key(value: Any, known: dict[int, tuple[int, Any]]) -> str:
    """Return the key of a value; ``known`` are the functions and classes met before it."""
    before = dict(known)
    try:
        return _Canonical(known, fast=True).key(value)
    except (ValueError, RecursionError):
        # Only what holds itself needs pickle's memory of what it has written.
        known.clear()
        known.update(before)
        return _Canonical(known, fast=False).key(value)


class _Canonical(pickle.Pickler):
    """Hashes what pickle writes, after putting things into a form that is the same everywhere."""

    def __init__(self, known: dict[int, tuple[int, Any]], *, fast: bool) -> None:
        self.sha, self.known = hashlib.sha256(), known
        super().__init__(types.SimpleNamespace(write=self.sha.update), protocol=5)
        # Without a memory, so that it does not matter which of equal parts are one object.
        self.fast = fast

    def key(self, value: Any) -> str:
        self.dump(value)
        return self.sha.hexdigest()[:LENGTH]

    def persistent_id(self, value: Any) -> Any:
        """Return the form that is pickled in the place of a value, None for the value itself."""
        if type(value) in AS_IT_IS:
            return None
        if isinstance(value, types.FunctionType | type):
            return self._code_form(value)
        return _form(value)

    def _code_form(self, value: Any) -> tuple[Any, ...]:
        """Return the form of a function or class: once in full, then by its number."""
        if id(value) in self.known:
            return ("again", self.known[id(value)][0])
        self.known[id(value)] = (len(self.known), value)
        version = version_of_module(value.__module__)
        name = (type(value).__name__, value.__module__, value.__qualname__, version)
        if isinstance(value, type):
            return name if version is not None else (*name, self._own_class(value))
        names = set().union(*(part.co_names for part in _inner(value.__code__)))
        cells = tuple(self._used(_content_of(cell), names) for cell in value.__closure__ or ())
        held = (value.__defaults__, value.__kwdefaults__, cells)
        return (*name, held) if version is not None else (*name, held, self._own_function(value))

    def _own_class(self, cls: type) -> tuple[Any, ...]:
        names = [name for name in sorted(vars(cls)) if not NOT_CODE.fullmatch(name)]
        keys = [(n, [self._attempt(part) for part in _behind(vars(cls)[n])]) for n in names]
        return (keys, cls.__bases__)

    def _own_function(self, function: types.FunctionType) -> tuple[Any, ...]:
        code, space = function.__code__, function.__globals__
        found = {name: space[name] for name in _global_names(code) if name in space}
        found |= _own_imports(code, str(space.get("__package__") or ""))
        names = set().union(*(part.co_names for part in _inner(code)))
        used = {name: self._used(value, names) for name, value in found.items()}
        return (_code(code), [(name, self._attempt(used[name])) for name in sorted(used)])

    def _used(self, value: Any, names: set[str], seen: tuple[Any, ...] = ()) -> Any:
        """Return a value that code uses; of a module of one's own, what the code names in it."""
        if not isinstance(value, types.ModuleType) or version_of_module(value.__name__) is not None:
            return value
        if value in seen:
            return value.__name__
        parts = [(name, vars(value)[name]) for name in sorted(names & vars(value).keys())]
        inside = [(name, self._used(part, names, (*seen, value))) for name, part in parts]
        return (value.__name__, [(name, self._attempt(part)) for name, part in inside])

    def _attempt(self, value: Any) -> str:
        """Return the key of what code uses, or only its type if it has no stable content."""
        before = dict(self.known)
        try:
            return _key(value, self.known)
        except NO_PICKLE:
            self.known.clear()
            self.known.update(before)
            return f"unknown {type(value).__qualname__}"


def _form(value: Any) -> tuple[Any, ...] | None:
    """Return what stands for a value in its key, None where pickle's own way is stable."""
    if isinstance(value, np.ndarray):
        return _array_form(value)
    if isinstance(value, set | frozenset):
        return ("set", type(value), sorted(_key(item, {}) for item in value))
    if isinstance(value, types.ModuleType):
        return ("module", value.__name__, version_of_module(value.__name__))
    table = _table_form(value)
    if table is not None:
        return table
    if hasattr(value, "get_params"):
        return _estimator_form(value)
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.compare]
        return ("dataclass", type(value), [(name, getattr(value, name)) for name in fields])
    name = _global_name(value)
    if name is not None:
        # A cached function of one's own, for example.
        wrapped = getattr(value, "__wrapped__", None)
        return ("global", name, version_of_module(value.__module__), wrapped)
    return None


def _array_form(array: Any) -> tuple[Any, ...]:
    # The last bits of a product depend on the order in memory, so it is part of the content.
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    kind: Any = None if type(array) in (np.ndarray, np.memmap) else type(array)
    mask = None
    if isinstance(array, np.ma.MaskedArray):
        array, mask = np.ma.getdata(array), np.ma.getmaskarray(array)
    head = ("array", kind, array.dtype.str, array.dtype.names, array.shape, order, mask)
    if array.dtype.hasobject:
        return (*head, array.ravel().tolist())
    return (*head, _digest(array.T if order == "F" else array))


def _digest(array: Any) -> bytes:
    """Return the hash of the bytes in C order, taken a block at a time, so no copy is large."""
    sha = hashlib.sha256()
    rows = array.reshape(-1) if array.flags.c_contiguous else array
    step = max(1, BLOCK // max(1, rows.nbytes // max(1, len(rows))))
    for start in range(0, len(rows), step):
        sha.update(np.ascontiguousarray(rows[start : start + step]).reshape(-1).view(np.uint8).data)
    return sha.digest()


def _table_form(value: Any) -> tuple[Any, ...] | None:
    """Return the parts of a data frame, a column of one, or a sparse matrix."""
    polars = sys.modules.get("polars")
    if isinstance(value, pd.DataFrame):
        columns = [value.iloc[:, i].array for i in range(value.shape[1])]
        return ("frame", value.columns, value.index, columns)
    if isinstance(value, pd.Series):
        return ("series", value.name, value.index, value.array)
    if isinstance(value, pd.api.extensions.ExtensionArray):
        return _column_form(value)
    if sparse.issparse(value):
        matrix = value if value.format in ("csr", "csc", "bsr") else value.tocsr()
        kind = (value.format, value.shape, isinstance(value, sparse.sparray))
        return ("sparse", kind, matrix.data, matrix.indices, matrix.indptr)
    if polars is not None and isinstance(value, polars.DataFrame):
        return ("polars", value.shape, value.get_columns())
    if polars is not None and isinstance(value, polars.Series):
        missing, kept = value.is_null().to_numpy(), value.drop_nulls()
        number = value.dtype.is_numeric() or value.dtype.is_temporal()
        values = kept.to_physical().to_numpy() if number else kept.to_list()
        return ("polars", value.name, str(value.dtype), missing, values)
    return None


def _column_form(array: Any) -> tuple[Any, ...]:
    """Return type and values of a column; what lies below missing values does not count."""
    kind = str(array.dtype)
    if isinstance(array, pd.Categorical):
        return (kind, array.ordered, array.categories, array.codes)
    if isinstance(array.dtype, np.dtype):
        return (kind, np.asarray(array))
    if hasattr(array, "asi8"):
        return (kind, array.asi8)
    missing = np.asarray(array.isna())
    native = getattr(array.dtype, "numpy_dtype", None)
    native = native if isinstance(native, np.dtype) else np.dtype(object)
    return (kind, missing, array[~missing].to_numpy(dtype=native))


def _estimator_form(value: Any) -> tuple[Any, ...]:
    parameters = value.get_params(deep=False)
    if type(value).__module__.startswith("foldwise."):
        parameters = {k: v for k, v in parameters.items() if k not in HOW_TO_RUN}
    # Clones keep what set_output was told, and what comes out depends on it.
    output = getattr(value, "_sklearn_output_config", None)
    form = ("estimator", type(value), sorted(parameters.items(), key=lambda item: item[0]), output)
    own = getattr(type(value), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    if own is BaseEstimator.__sklearn_clone__ or value.__sklearn_clone__() is not value:
        return form
    # Cloning leaves it fitted, as a frozen estimator's does, so what was learnt counts.
    within = [getattr(parameters[name], "__dict__", None) for name in sorted(parameters)]
    return (*form, within, {k: v for k, v in vars(value).items() if k not in parameters})


def _global_name(value: Any) -> str | None:
    """Return the name under which anybody can import the very same object, if there is one."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "a cell that is empty"


def _behind(value: Any) -> list[Any]:
    """Return what stands behind an attribute of a class."""
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    return [value]


def _code(code: types.CodeType) -> tuple[Any, ...]:
    """Return what the code does, but not where it stands."""
    names = (code.co_names, code.co_varnames, code.co_freevars)
    takes = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    constants = [_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return (code.co_code, names, takes, constants)


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _inner(constant)


def _global_names(code: types.CodeType) -> set[str]:
    """Return the names the code looks up outside itself."""
    return {
        str(step.argval)
        for part in _inner(code)
        for step in dis.get_instructions(part)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


def _own_imports(code: types.CodeType, package: str) -> dict[str, Any]:
    """Return the modules of one's own that the code imports when it runs."""
    found = {}
    for part in _inner(code):
        steps = list(dis.get_instructions(part))
        for place, step in enumerate(steps):
            if step.opname != "IMPORT_NAME":
                continue
            # It stands behind its level (the number of dots) and the names it is asked for.
            level = steps[place - 2].argval
            name = "." * level + str(step.argval)
            with contextlib.suppress(ImportError, ValueError):
                full = importlib.util.resolve_name(name, package)
                if is_own(full):
                    found[full] = importlib.import_module(full)
    return found


def _refusal(value: Any) -> UnsupportedError:
    """Return the error for something without a stable content, with the place it is at."""
    place, seen = "obj", {id(value)}
    while True:
        parts = [(step, part) for step, part in _parts(value) if id(part) not in seen]
        found = next(((step, part) for step, part in parts if not _has_key(part)), None)
        if found is None:
            break
        place, value = place + found[0], found[1]
        seen.add(id(value))
    must = "have a content that means the same in another process"
    fix = "Use something that can be pickled."
    return unsupported("fingerprint", place, must=must, got=value, fix=fix)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{i}]", part) for i, part in enumerate(value)]
    named = (
        value.get_params(deep=False)
        if hasattr(value, "get_params")
        else getattr(value, "__dict__", {})
    )
    return [(f".{name}", named[name]) for name in sorted(named)]


def _has_key(value: Any) -> bool:
    try:
        _key(value, {})
    except NO_PICKLE:
        return False
    return True
