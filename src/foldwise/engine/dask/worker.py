"""The other side of the cluster: what happens on a worker."""

import pickle
from typing import Any

from cloudpickle import dumps
from threadpoolctl import threadpool_limits

from foldwise.engine.processes.packing import aligned
from foldwise.engine.processes.worker import perform
from foldwise.engine.versions import differences, library_versions


class OtherVersionsError(Exception):
    """A worker has other versions than the process that sends the tasks."""


class Placed:
    """Work and data as they lie on a worker: opened once, arrays aligned and read-only.

    Dask hands arrays over wherever they lie in the message, and the last bits of a fit depend
    on that. So they are copied to aligned memory where they arrive, once a worker, and the
    message is let go.
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


LEASE_SECONDS = 5.0
_kept: dict[str, tuple[Any, Placed]] = {}


def keep(placed: Placed, name: str) -> bool:
    """Let tasks on this worker find work and data under a name; what was there before goes.

    It stays as long as Dask keeps the result of this task, which is as long as the sender's client
    lives and wants it. Tasks do not depend on the data in Dask's sense: Dask drops copies that it
    finds to be too many, and cancels every task whose data was lost with its workers.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    sender = name.rpartition("-")[0]
    for old in [old for old in _kept if old.rpartition("-")[0] == sender]:
        del _kept[old]
    _kept[name] = (key, placed)
    worker.loop.add_callback(worker.loop.call_later, LEASE_SECONDS, _renew, worker, name, key)
    return True


def _renew(worker: Any, name: str, key: Any) -> None:
    """Let go of what nobody wants any more; else look again later."""
    if _kept.get(name, (None, None))[0] != key:
        return
    if key in worker.data:
        worker.loop.call_later(LEASE_SECONDS, _renew, worker, name, key)
    else:
        del _kept[name]


def do_task(name: str, job: bytes, versions: dict[str, str]) -> bytes | str:
    """Do one task on a worker."""
    check_versions(versions)
    _, placed = _kept.get(name, (None, None))
    if placed is None:
        from distributed import get_worker

        return str(get_worker().address)
    work, shared, around = placed.value
    keep_to_one_thread()
    return perform(work, shared, job, around)


def check_versions(versions: dict[str, str]) -> None:
    """Raise if the sender's versions are not those of this worker."""
    changes = differences(versions, library_versions())
    if changes:
        raise OtherVersionsError(", ".join(changes).replace(" is now ", " here, there "))


def keep_to_one_thread() -> None:
    """Let the numerical libraries use one thread in this thread, and BLAS in this process.

    It is not undone: BLAS has one limit for all tasks of a worker, and only the thread that set it
    can change it. One thread is what Dask gives workers by default.
    """
    threadpool_limits(1)
