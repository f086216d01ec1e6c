"""What functions and classes contribute to a content key: name and version, or name and code."""

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any, Protocol

from foldwise.engine.versions import version_of_module

NOT_CODE = {
    "__annotations__",
    "__abstractmethods__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    # Pickle and copy leave it on a class when they first see it.
    "__slotnames__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}


class Taker(Protocol):
    """What takes content in; see :class:`foldwise.engine.keys.Content`."""

    def write(self, tag: str, data: bytes = b"") -> None:
        """Take in bytes."""

    def extend(self, data: Any) -> None:
        """Take in bytes whose number was said before."""

    def say(self, tag: str, *words: object) -> None:
        """Take in words."""

    def add(self, value: Any, place: str = "") -> None:
        """Take in anything."""

    def attempt(self, value: Any) -> None:
        """Take in something, or nothing of it if it has no stable content."""

    def once(self, value: Any) -> bool:
        """Tell whether something shared is met for the first time."""


def global_name(value: Any) -> str | None:
    """Return the name under which anybody can import the very same object, if there is one."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None


def add_function(content: Taker, function: types.FunctionType) -> None:
    """Take in a function: its name, with its version or its code, and what it holds on to."""
    if not content.once(function):
        return
    version = version_of_module(function.__module__)
    content.say("function", function.__module__, function.__qualname__, version)
    content.add(function.__defaults__, ".__defaults__")
    content.add(function.__kwdefaults__, ".__kwdefaults__")
    for cell in function.__closure__ or ():
        content.add(_content_of(cell), ".__closure__")
    if version is None:
        _add_code(content, function.__code__)
        for name in sorted(_global_names(function.__code__)):
            if name in function.__globals__:
                content.say("uses", name)
                content.attempt(function.__globals__[name])


def add_class(content: Taker, cls: type) -> None:
    """Take in a class: its name with its version, or with its code and that of its parents."""
    if not content.once(cls):
        return
    version = version_of_module(cls.__module__)
    content.say("class", cls.__module__, cls.__qualname__, version)
    if version is not None:
        return
    for name in sorted(vars(cls)):
        if name not in NOT_CODE:
            content.say("attribute", name)
            for part in _parts(vars(cls)[name]):
                content.attempt(part)
    for parent in cls.__bases__:
        add_class(content, parent)


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "a cell that is empty"


def _parts(value: Any) -> list[Any]:
    """Return what stands behind an attribute of a class."""
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    return [value]


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


def _add_code(content: Taker, code: types.CodeType) -> None:
    """Take in what the code does, but not where it stands."""
    content.write("code", code.co_code)
    content.say("names", *code.co_names, *code.co_varnames, *code.co_freevars)
    content.say("arguments", code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(content, constant)
        else:
            content.add(constant)
