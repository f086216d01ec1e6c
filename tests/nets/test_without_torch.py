"""Without torch, everything but training works."""

import sys

import pytest

import foldwise
from foldwise.errors import MissingPackageError


def test_training_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError) as refused:
        foldwise.NetRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    assert str(refused.value) == (
        "NetRegressor: torch must be installed; got no package of that name. "
        "Run pip install 'foldwise[neural]'."
    )
    assert isinstance(refused.value, ImportError)
