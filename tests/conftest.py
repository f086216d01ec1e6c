"""One set of examples for everybody: a red test is red on the next machine too."""

import gc
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

# Threads that spin while they wait take the processor from the other test worker. OpenMP reads
# this when it is loaded, so it comes before everything that loads it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
from hypothesis import settings
from sklearn.base import BaseEstimator
from sklearn.utils import validation
from threadpoolctl import ThreadpoolController

# Without a deadline: how long an example takes is the machine's business.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# scikit-learn inspects a signature each time a parameter is read or set, a fifth of a small fit.
_names_of = BaseEstimator._get_param_names.__func__
_names_once = cache(lambda cls, _constructor: tuple(_names_of(cls)))
BaseEstimator._get_param_names = classmethod(lambda cls: list(_names_once(cls, cls.__init__)))

# It asks every array, each time, whether it is a frame of some library: five times what it costs
# to check it.
_is_frame = getattr(validation, "_nw_into_df_or_series", None)
validation._nw_into_df_or_series = lambda x: type(x) is not np.ndarray and _is_frame(x)

# The libraries with threads are read from the map of this process's memory, at every fit, a tenth
# of a small one. They come with modules.
_libraries: dict[int, list[object]] = {}
_look = ThreadpoolController._load_libraries


def _look_once(self: ThreadpoolController) -> None:
    if len(sys.modules) not in _libraries:
        _look(self)
        _libraries[len(sys.modules)] = self.lib_controllers
    self.lib_controllers = list(_libraries[len(sys.modules)])


ThreadpoolController._load_libraries = _look_once

# What is imported and collected stays: a quarter of that time would go to looking for rubbish.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    found = yield
    gc.freeze()
    gc.enable()
    return found


@pytest.fixture
def short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let penalised paths visit a few lambdas only, where what is tested is not the path."""
    from foldwise.paths.penalised import Grid

    whole = Grid.falling_from

    def few(grid: Grid, largest: float) -> np.ndarray:
        n_lambdas, ratio = min(grid.n_lambdas, 5), max(grid.lambda_min_ratio, 0.1)
        return whole(replace(grid, n_lambdas=n_lambdas, lambda_min_ratio=ratio), largest)

    monkeypatch.setattr(Grid, "falling_from", few)
