"""One set of examples for everybody: a red test is red on the next machine too."""

import os
from functools import cache

# Threads that spin while they wait take the processor from the other test worker. OpenMP reads
# this when it is loaded, so it comes before everything that loads it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from hypothesis import settings
from sklearn.base import BaseEstimator

# Without a deadline: how long an example takes is the machine's business.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# scikit-learn inspects a signature each time a parameter is read or set, a fifth of a small fit.
_names_of = BaseEstimator._get_param_names.__func__
_names_once = cache(lambda cls, _constructor: tuple(_names_of(cls)))
BaseEstimator._get_param_names = classmethod(lambda cls: list(_names_once(cls, cls.__init__)))


@pytest.fixture
def short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let penalised paths visit a few lambdas only, where what is tested is not the path."""
    from foldwise.paths import penalised

    whole = penalised.lambda_grid
    monkeypatch.setattr(
        penalised,
        "lambda_grid",
        lambda largest, n, ratio: whole(largest, min(n, 5), max(ratio, 0.1)),
    )
