"""Boosters of LightGBM and XGBoost in their own text formats."""

from typing import Any

from foldwise.errors import FoldwiseError, Plain
from foldwise.files import lightgbm_text, xgboost_text
from foldwise.files.refuse import not_saved, refused, without_library

HOMES = {"lightgbm.basic": "txt", "xgboost.core": "json"}


def is_booster(thing: Any) -> bool:
    """Tell whether something is a booster, without importing what made it."""
    cls = type(thing)
    return cls.__name__ == "Booster" and cls.__module__ in HOMES


def booster_content(booster: Any) -> tuple[str, bytes, dict[str, Any]]:
    """Return a booster's text and what else it knows."""
    ending = HOMES[type(booster).__module__]
    if ending == "json":
        state, content = {}, bytes(booster.save_raw("json"))
    else:
        state = booster.__getstate__()
        content = state.pop("_handle").encode()
    try:
        content = understood(content, ending)
    except FoldwiseError as error:
        got = Plain(f"a booster of another kind from {type(booster).__module__}")
        fix = "Use another booster, or another setting of this one."
        raise not_saved("hold boosters of plain trees or of linear models", got, fix) from error
    return ending, content, state


def understood(content: bytes, name: str) -> bytes:
    """Return a booster's text written anew from fields that were checked, or refuse."""
    read = lightgbm_text if name.endswith("txt") else xgboost_text
    try:
        return read.understood(content.decode()).encode()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        what = f"{name!r} ({type(error).__name__}: {str(error)[:80]})"
        raise refused("hold boosters that can be read", Plain(what)) from error
    except RecursionError as error:
        raise refused("hold boosters that can be read", Plain(f"{name!r}, too deep")) from error


def booster_from(name: str, content: bytes, state: dict[str, Any]) -> Any:
    """Return the booster of a member, or refuse."""
    content = understood(content, name)
    try:
        if name.endswith(".json"):
            from xgboost import Booster as XGBoostBooster

            booster = XGBoostBooster()
            booster.load_model(bytearray(content))
            return booster
        from lightgbm import Booster

        light = Booster.__new__(Booster)
        light.__setstate__({**state, "_handle": content.decode()})
        return light
    except ImportError as error:
        raise without_library(Plain(str(error))) from error
    except Exception as error:
        raise refused("hold boosters that can be read", Plain(f"{name!r} ({error})")) from error
