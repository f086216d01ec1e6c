"""How to get the same model again."""

import platform
from importlib.metadata import version
from typing import Any

from sklearn import config_context

import foldwise
from foldwise.report.blocks import Block, Code, Facts, Section

LONGEST = 20_000
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "lightgbm")


def reproduce_section(model: Any) -> Section:
    """Return the model's parameters as code, and the versions of what it was made with."""
    with config_context(print_changed_only=True):
        text = model.__repr__(N_CHAR_MAX=LONGEST) if hasattr(model, "get_params") else repr(model)
    versions = [("Python", platform.python_version()), ("foldwise", foldwise.__version__)]
    versions += [(name, version(name)) for name in PACKAGES]
    blocks: list[Block] = [Code(f"{text[:LONGEST]}.fit(X, y)".split("\n")), Facts(versions)]
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    lead = "The same rows, parameters and versions give the same model."
    if "random_state" in parameters and parameters["random_state"] is None:
        lead = (
            "random_state was not set, so another fit deals the rows differently. Set it to get "
            "the same model from the same rows, parameters and versions."
        )
    return Section("reproduce", "How to reproduce", lead, blocks, folded=True)
