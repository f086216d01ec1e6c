"""The other side of :mod:`foldwise.engine.dask`: what happens on a worker of the cluster."""

import pickle
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from foldwise.engine.parcels import Parcel, pack
from foldwise.engine.task import perform
from foldwise.engine.versions import differences, library_versions


class OtherVersionsError(Exception):
    """A worker has other versions than the process that sends the tasks."""


class Placed:
    """Work and data as they lie on a worker: opened once, arrays aligned and read-only.

    Dask hands arrays over wherever they lie in the message, and the last bits of a fit depend
    on that. So they are copied to aligned memory where they arrive, once a worker, and the
    message is let go.

    Parameters
    ----------
    value : object
        Anything cloudpickle takes.
    size : int, default=0
        Its bytes, for Dask's bookkeeping.

    Examples
    --------
    >>> import numpy as np
    >>> arrived = pickle.loads(pickle.dumps(Placed(np.arange(3))))
    >>> arrived.value, arrived.value.ctypes.data % 64
    (array([0, 1, 2]), 0)
    """

    def __init__(self, value: Any, size: int = 0) -> None:
        self.value, self.size = value, size

    def __sizeof__(self) -> int:
        return self.size

    def __reduce__(self) -> tuple[Any, ...]:
        parcel = pack(self.value)
        return _arrived, (parcel.head, parcel.spans, pickle.PickleBuffer(parcel.body))


def _arrived(head: bytes, spans: tuple[tuple[int, int], ...], body: Any) -> Placed:
    size = len(head) + len(body)
    return Placed(Parcel(head, spans, None, body).open(), size)


# Dask holds on to what was placed while the sender's client lives, and only as long.
_kept: weakref.WeakValueDictionary[str, Placed] = weakref.WeakValueDictionary()


def keep(placed: Placed, name: str) -> Placed:
    """Let tasks on this worker find work and data under a name.

    Tasks do not depend on the data in Dask's sense: Dask drops copies that it finds to be too
    many, and cancels every task whose data was lost with its workers.
    """
    _kept[name] = placed
    return placed


def do_task(name: str, job: bytes, versions: dict[str, str]) -> bytes | str:
    """Do one task on a worker.

    Parameters
    ----------
    name : str
        The name under which function, data and surroundings were placed.
    job : bytes
        The job, pickled.
    versions : dict
        What the sender has; other versions would give other bits.

    Returns
    -------
    bytes or str
        For :func:`foldwise.engine.task.received`; the address of this worker if nothing is
        placed on it.
    """
    check_versions(versions)
    placed = _kept.get(name)
    if placed is None:
        from distributed import get_worker

        return str(get_worker().address)
    work, shared, around = placed.value
    with one_thread():
        return perform(work, shared, pickle.loads(job), around)


def check_versions(versions: dict[str, str]) -> None:
    """Raise if the sender's versions are not those of this worker."""
    changes = differences(versions, library_versions())
    if changes:
        raise OtherVersionsError(", ".join(changes).replace(" is now ", " here, there "))


_lock = threading.Lock()
_blas: list[Any] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Let a task have one thread, on workers with several tasks at once too.

    OpenMP counts by thread, BLAS for the whole process: its limit ends with the last task.
    """
    with _lock:
        _blas.append(threadpool_limits(1, user_api="blas") if not _blas else None)
    try:
        with threadpool_limits(1, user_api="openmp"):
            yield
    finally:
        with _lock:
            if len(_blas) == 1:
                _blas[0].restore_original_limits()
                _blas.clear()
            else:
                _blas.pop()
