"""Files that are whole or not there, and that know when they were damaged.

A result file is a magic line, the SHA-256 of its header, the length of the header, the header
(JSON) and the payload; the header has the length and the SHA-256 of the payload. So a file that
was cut short, or in which one bit has changed, is told from a whole one.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from foldwise.errors import InvalidParameterError, Plain, invalid_parameter

MAGIC = b"foldwise result 1\n"
PART = ".part"
OPEN_FILE = "/proc/self/fd/{}"


class DamagedFileError(Exception):
    """A result file is not what was written."""


@contextlib.contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a file to be written that is there whole, or as it was before, even if the power fails.

    Where the system can, what is written has no name before it is whole, so that nothing is left
    behind by a process that is killed. Else, and for the moment in which a file is replaced, it
    has a temporary name in the same folder, which the next call there clears away. A device or a
    pipe is written to as it is. What goes wrong is told with the name of the file.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        real = path.resolve()
        if real.exists() and not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        unnamed = _open_unnamed(real.parent, mode)
        with _named(real, mode) if unnamed is None else unnamed as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if unnamed is not None:
                _name(file.fileno(), real)
        sync_folder(real.parent)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_whole(path: Path, parts: Iterable[bytes], mode: int = 0o666) -> None:
    """Write a file as :func:`whole_file` does.

    Parameters
    ----------
    path : Path
        The file.
    parts : iterable of bytes
        What to write, one after the other.

    See Also
    --------
    RunStore : Keeps fits in such files.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a", [b"1", b"2"])
    ...     (Path(folder) / "a").read_bytes()
    b'12'
    """
    with whole_file(path, mode) as file:
        for data in parts:
            file.write(data)


def _open_unnamed(folder: Path, mode: int) -> IO[bytes] | None:
    """Return a new file without a name that can be given one; None where there is no such thing."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        handle = os.open(folder, flag | os.O_RDWR, mode)
    except OSError:
        # Not on this file system; whatever else is wrong is met again.
        return None
    if not Path(OPEN_FILE.format(handle)).exists():
        os.close(handle)
        return None
    return os.fdopen(handle, "w+b")


def _name(handle: int, path: Path) -> None:
    """Give an unnamed file its name; a file of that name is replaced."""
    source, folder = OPEN_FILE.format(handle), os.open(path.parent, os.O_RDONLY)
    try:
        # Naming the folder by its handle makes Python follow the link to the open file.
        os.link(source, path.name, dst_dir_fd=folder)
    except FileExistsError:
        part = _part(path)
        try:
            os.link(source, part.name, dst_dir_fd=folder)
            _replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    finally:
        os.close(folder)


@contextlib.contextmanager
def _named(path: Path, mode: int) -> Iterator[IO[bytes]]:
    """Open a file with a temporary name and give it its own after it was written."""
    part = _part(path)
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
        _replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _part(path: Path) -> Path:
    """Return a temporary name beside a file; those of processes that are gone are removed."""
    remove_leftovers(path.parent)
    return path.with_name(
        f".{path.name[:60]}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}{PART}"
    )


def _replace(part: Path, path: Path) -> None:
    if path.exists():
        shutil.copymode(path, part)
    part.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power, where the system can."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems synchronise files only.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes of this machine that are gone."""
    for part in folder.glob(f".*{PART}"):
        host, _, pid = part.name[: -len(PART)].rpartition(".")[0].rpartition(".")
        if host.endswith(f".{socket.gethostname()}") and pid.isdigit() and not _lives(int(pid)):
            part.unlink(missing_ok=True)


def _lives(pid: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def refuse_strangers(path: Path, owner: str) -> None:
    """Raise if somebody else could have put code into a folder or file we are going to unpickle."""
    if not hasattr(os, "getuid"):
        return
    status = path.lstat()
    if status.st_uid != os.getuid():
        got = f"{str(path)!r}, which belongs to user {status.st_uid}"
    elif status.st_mode & 0o002 and not path.is_symlink():
        got = f"{str(path)!r}, which everybody may write to"
    else:
        return
    must = "be yours alone, because reading its models can run code"
    fix = "Use a new folder, or change owner and mode if you trust every file in it."
    raise bad_run_dir(owner, must, Plain(got), fix)


def bad_run_dir(owner: str, must: str, got: Any, fix: str) -> InvalidParameterError:
    """Return the error for a run_dir that cannot be used."""
    return invalid_parameter(owner, "run_dir", must=must, got=got, fix=fix)


def packed(header: dict[str, Any], payload: bytes) -> list[bytes]:
    """Return the parts of a result file."""
    full = {**header, "size": len(payload), "sha256": hashlib.sha256(payload).hexdigest()}
    text = json.dumps(full).encode()
    return [MAGIC, hashlib.sha256(text).digest(), struct.pack("<Q", len(text)), text, payload]


def read_header(path: Path) -> dict[str, Any]:
    """Return the header of a result file; the payload is only measured."""
    with _opened(path) as file:
        return _header(file)


def read_result(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return header and payload of a result file, both checked."""
    with _opened(path) as file:
        header = _header(file)
        payload = file.read()
    if hashlib.sha256(payload).hexdigest() != header["sha256"]:
        raise DamagedFileError("its content does not have its hash")
    return header, payload


def _opened(path: Path) -> Any:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    return os.fdopen(handle, "rb")


def _header(file: Any) -> dict[str, Any]:
    """Return the header, if as many bytes follow it as it says."""
    total = os.fstat(file.fileno()).st_size
    start = file.read(len(MAGIC) + 40)
    if len(start) < len(MAGIC) + 40 or not start.startswith(MAGIC):
        raise DamagedFileError("its beginning is not that of a result")
    (length,) = struct.unpack("<Q", start[-8:])
    left = total - len(start) - length
    text = file.read(length) if left >= 0 else b""
    if hashlib.sha256(text).digest() != start[len(MAGIC) : -8]:
        raise DamagedFileError("its header does not have its hash")
    header: dict[str, Any] = json.loads(text)
    if header["size"] != left:
        raise DamagedFileError(f"{left} bytes instead of {header['size']}")
    return header
