"""Work and data packed once for many tasks; large arrays are mapped from one file, not copied.

Pickle (protocol 5) leaves the bytes of arrays out of its stream: those of plain arrays, of
data frames and of sparse matrices alike. They are written one after the other, each at a
multiple of 64 bytes, so that whoever opens the parcel computes on memory that is aligned in
the same way everywhere and gets the same bits.
"""

import atexit
import mmap
import pickle
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cloudpickle import dumps

from foldwise.engine.executor import ALIGNMENT, MAPPED, aligned_room

SMALL = 1 << 20
# The file of a parcel until its handle has come.
NAMELESS = -1


@dataclass(frozen=True)
class Parcel:
    """Something packed by :func:`pack`."""

    head: bytes  # the pickle, without the bytes of arrays
    spans: tuple[tuple[int, int], ...]  # where these lie in the file or the body
    file: str | int | None  # the file they are in, if they are large: its name, or an open handle
    body: bytes = b""  # the bytes themselves, if they are few

    @property
    def is_nameless(self) -> bool:
        """Whether the file's handle must be sent along."""
        return self.file == NAMELESS

    def open(self) -> Any:
        """Return what was packed; its arrays are read-only and aligned, large ones mapped."""
        if self.file is None:
            memory = aligned(self.body)
        else:
            with open(self.file, "rb") as stream:  # noqa: PTH123 - a handle is no path
                mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            MAPPED.add(mapped)
            memory = memoryview(mapped)
        return pickle.loads(self.head, buffers=[memory[start:end] for start, end in self.spans])


def pack(value: Any, room: Any = None) -> Parcel:
    """Pack something for other processes; ``room``: a folder or an open file for large arrays."""
    buffers: list[pickle.PickleBuffer] = []
    head = dumps(value, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    spans = _spans([part.nbytes for part in raw])
    total = spans[-1][1] if spans else 0
    if room is None or total <= SMALL:
        body = bytearray(total)
        for (start, end), part in zip(spans, raw, strict=True):
            body[start:end] = part
        return Parcel(head, spans, None, bytes(body))
    if not isinstance(room, str):
        _write(room, spans, raw)
        return Parcel(head, spans, NAMELESS)
    with tempfile.NamedTemporaryFile(dir=room, suffix=".parcel", delete=False) as stream:
        _write(stream, spans, raw)
        return Parcel(head, spans, stream.name)


class _Folder(tempfile.TemporaryDirectory[str]):
    """A folder for data that is closed as a file is."""

    def close(self) -> None:
        self.cleanup()
        if Path(self.name).exists():
            # Windows keeps what a worker still maps; when this process ends none does.
            atexit.register(shutil.rmtree, self.name, ignore_errors=True)


def open_room(*, nameless: bool = True) -> tuple[Any, Any]:
    """Return a place for data, to be closed, and what :func:`pack` takes of it.

    ``nameless``: Whether it need not have a name: on Linux it then is a file that goes with this
    process, however that ends.
    """
    if nameless and sys.platform == "linux":
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        return file, file
    folder = _Folder(prefix="foldwise-", ignore_cleanup_errors=True)
    return folder, folder.name


def _write(stream: Any, spans: Sequence[tuple[int, int]], raw: Sequence[memoryview]) -> None:
    for (start, _), part in zip(spans, raw, strict=True):
        stream.seek(start)
        stream.write(part)
    stream.truncate(spans[-1][1])
    stream.flush()


def _spans(sizes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    spans, start = [], 0
    for size in sizes:
        spans.append((start, start + size))
        start += -(-size // ALIGNMENT) * ALIGNMENT
    return tuple(spans)


def aligned(body: Any) -> memoryview:
    """Return a read-only copy of some bytes at an aligned address."""
    room = aligned_room(np.dtype(np.uint8), (len(body),))
    room[:] = np.frombuffer(body, dtype=np.uint8)
    return room.data.toreadonly()
