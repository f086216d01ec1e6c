"""torch, the graphics card it may find, and the threads it works in."""

import contextlib
import ctypes
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from foldwise.errors import MissingPackageError


def imported_torch(owner: str) -> Any:
    """Return torch, or say how to get it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingPackageError(
            f"{owner}: torch must be installed; got no package of that name. "
            "Run pip install 'foldwise[neural]'."
        ) from error


def has_card() -> bool:
    """Tell whether torch would find a graphics card, without the seconds that loading it takes."""
    try:
        if "+cpu" in version("torch"):
            return False
        driver, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
        found = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(number)) == 0
        return found and number.value > 0
    except (PackageNotFoundError, OSError):
        return False


def device_named(torch: Any, name: str) -> str:
    """Return the device a word stands for."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name


@contextlib.contextmanager
def working_on(torch: Any, device: str) -> Iterator[None]:
    """Let the processor work in one thread: sums that several share end in other bits.

    Of several cards, this one is the one that steps are captured on, and its tensor cores multiply
    single precision: ten bits are enough for the steps of training, answers are in double.
    """
    if device.startswith("cuda"):
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            with torch.cuda.device(device):
                yield
        finally:
            torch.set_float32_matmul_precision(precision)
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
