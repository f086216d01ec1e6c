"""The other side of :mod:`foldwise.engine.processes`: one worker process and its loop."""

import os
import pickle
import shutil
import signal
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from foldwise.engine.parcels import Parcel
from foldwise.engine.task import perform

IDLE_SECONDS = 300.0
FOLLOW_SECONDS = 0.5


def serve(connection: Connection, parent: int) -> None:
    """Do what comes through the connection until it closes."""
    # Ctrl-C reaches every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    if hasattr(os, "setsid"):
        os.setsid()
    folders: list[str] = []
    follow = threading.Thread(target=_follow, args=(parent, folders), daemon=True)
    follow.start()
    placed: Any = None
    parcel: Parcel | None = None
    while connection.poll(IDLE_SECONDS):
        try:
            kind, *content = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            # A parent that was killed leaves its data to be cleared away.
            follow.join(2 * FOLLOW_SECONDS)
            return
        if kind == "task":
            assert parcel is not None
            placed = placed or parcel.open()
            work, shared, around = placed
            connection.send_bytes(perform(work, shared, pickle.loads(content[0]), around))
            del work, shared
            continue
        placed, parcel = None, None
        if kind == "place":
            parcel, folders[:] = content[0], [content[1]]


def _follow(parent: int, folders: list[str]) -> None:
    """End with a parent that was killed, and clear away the data it left behind."""
    while os.getppid() == parent:
        time.sleep(FOLLOW_SECONDS)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
