"""Whether there is a graphics card, found out without loading torch."""

import ctypes
from types import SimpleNamespace

import pytest

from foldwise.nets import device


@pytest.mark.parametrize(
    ("version", "started", "number", "found"),
    [
        ("2.11.0", 0, 1, True),
        ("2.11.0+cpu", 0, 1, False),
        ("2.11.0", 1, 1, False),
        ("2.11.0", 0, 0, False),
    ],
)
def test_a_card_is_there_if_the_driver_starts_and_counts_one(
    monkeypatch, version, started, number, found
) -> None:
    def count(place):
        place._obj.value = number
        return 0

    driver = SimpleNamespace(cuInit=lambda _: started, cuDeviceGetCount=count)
    monkeypatch.setattr(device, "version", lambda _: version)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: driver)
    assert device.has_card() is found


@pytest.mark.parametrize(
    ("where", "name", "error"),
    [(ctypes, "CDLL", OSError), (device, "version", device.PackageNotFoundError)],
)
def test_without_torch_or_a_driver_there_is_none(monkeypatch, where, name, error) -> None:
    def none(_):
        raise error

    monkeypatch.setattr(device, "version", lambda _: "2.11.0")
    monkeypatch.setattr(where, name, none)
    assert device.has_card() is False
