"""What an enemy does to a model file, and a watch for what it must not achieve."""

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORBIDDEN = {
    "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.spawn", "os.system",
    "pickle.find_class", "socket.connect", "subprocess.Popen", "webbrowser.open",
}  # fmt: skip

_seen: list[str] = []
_watching = False


def _hook(event: str, _: Any) -> None:
    if _watching and event in FORBIDDEN:
        _seen.append(event)


sys.addaudithook(_hook)


@contextmanager
def nothing_is_run() -> Iterator[None]:
    """Fail if a process is started, a pickle read, a file removed or a socket opened inside."""
    global _watching
    _seen.clear()
    _watching = True
    try:
        yield
    finally:
        _watching = False
    assert _seen == []


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def forged(members: dict[str, bytes]) -> bytes:
    """Return a file whose hashes are right for what is in it."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()})


def with_document(path: Path, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the file with another description of the model, its hashes right."""
    members = members_of(path)
    document = json.loads(members["model.json"])
    change(document)
    return forged({**members, "model.json": json.dumps(document).encode()})
