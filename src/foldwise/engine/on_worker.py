"""The other side of :mod:`foldwise.engine.dask`: what happens on a worker of the cluster."""

import pickle
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from foldwise.engine.parcels import aligned
from foldwise.engine.pickling import dumps
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

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        buffers: list[pickle.PickleBuffer] = []
        head = dumps(self.value, protocol=5, buffer_callback=buffers.append)
        # From protocol 5 on, arrays travel without being copied into the pickle.
        kind = pickle.PickleBuffer if protocol >= 5 else bytes
        return _arrived, (head, [kind(buffer.raw()) for buffer in buffers])


def _arrived(head: bytes, buffers: list[Any]) -> Placed:
    memory = [aligned(buffer) for buffer in buffers]
    size = len(head) + sum(part.nbytes for part in memory)
    return Placed(pickle.loads(head, buffers=memory), size)


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
