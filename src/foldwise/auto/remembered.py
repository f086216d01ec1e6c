"""The plan of a run that is to be continued: measured times must not change it."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foldwise.auto.budget import Plan
from foldwise.engine.files import write_whole

FILE = "auto.json"


def planned(run_dir: str | os.PathLike[str], key: str, make: Callable[[], Plan]) -> Plan:
    """Return the plan made before in this folder for the same problem, or make and note it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = planned(folder, "key", lambda: Plan(("ridge",), 5, {}))
    ...     planned(folder, "key", lambda: Plan(("ridge",), 3, {})).folds
    5
    """
    path = Path(run_dir) / FILE
    noted = _read(path, key)
    if noted is not None:
        return noted
    plan = make()
    note = {"key": key, "names": plan.names, "folds": plan.folds, "skipped": dict(plan.skipped)}
    # A folder that cannot be written to is refused, in words, once there is a fit to be kept.
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [json.dumps(note).encode()])
    return plan


def _read(path: Path, key: str) -> Plan | None:
    try:
        note: dict[str, Any] = json.loads(path.read_bytes())
        if note["key"] != key:
            return None
        return Plan(tuple(note["names"]), int(note["folds"]), dict(note["skipped"]))
    except (OSError, ValueError, KeyError, TypeError):
        # No plan, or not one of ours: a new one is as good.
        return None
