"""The zip around a model: what is written, and everything that is refused when reading.

Members are named by us and numbered; nothing is ever unpacked to disk. A member that would
shrink more than a hundredfold is stored as it is, so that whatever claims to grow more than
that is a bomb.
"""

import hashlib
import io
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldwise.engine import write_whole
from foldwise.errors import FoldwiseError, Plain, listing
from foldwise.files.refuse import refused

MANIFEST = "manifest.json"
FORMAT = "foldwise model"
SCHEMA = 1  # the newest there is
MOST_GROWTH = 100
MOST_BYTES = 2**34
KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MEMBER = re.compile(r"manifest\.json|model\.json|arrays/\d{1,9}\.npy|boosters/\d{1,9}\.(txt|json)")
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write_archive(path: Path, members: Mapping[str, bytes], manifest: dict[str, Any]) -> None:
    """Write a zip of the members and their manifest; the file is there whole or not at all."""
    listed = {
        name: {"size": len(content), "sha256": digest(content)} for name, content in members.items()
    }
    text = json.dumps({**manifest, "members": listed}, indent=1, ensure_ascii=True).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in {MANIFEST: text, **members}.items():
            _add(archive, name, content)
    write_whole(path, [buffer.getvalue()])


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, LONG_AGO)
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    shrinks_too_much = len(content) > MOST_GROWTH * len(zlib.compress(content, 1))
    kind = zipfile.ZIP_STORED if shrinks_too_much else zipfile.ZIP_DEFLATED
    archive.writestr(info, content, kind, compresslevel=3)


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the members of a model file, every byte accounted for."""
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive, path.stat().st_size)
        except FoldwiseError:
            raise
        # What a damaged zip can raise is not one class; none of it is ours to pass on.
        except Exception as error:
            what = f"{path.name!r} ({type(error).__name__}: {str(error)[:100]})"
            raise refused("be a whole model file", Plain(what)) from error


def _read(archive: zipfile.ZipFile, size: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    infos = archive.infolist()
    _check_members(infos, size)
    manifest = checked_manifest(archive.read(MANIFEST))
    listed, found = manifest["members"], {info.filename for info in infos} - {MANIFEST}
    if unknown := found - listed.keys():
        raise refused("list every member in its manifest", listing(unknown))
    if missing := listed.keys() - found:
        raise refused("hold every member of its manifest", listing(missing))
    return manifest, {name: _checked(archive.read(name), name, listed[name]) for name in listed}


def _check_members(infos: list[zipfile.ZipInfo], file_size: int) -> None:
    seen: set[str] = set()
    for info in infos:
        name, mode = info.filename, info.external_attr >> 16
        if not MEMBER.fullmatch(name):
            raise refused("hold only members with names that foldwise gives", name)
        if name in seen:
            raise refused("hold each member once", name)
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise refused("hold no links, folders or devices", name)
        if info.flag_bits & 1 or info.compress_type not in KINDS:
            raise refused("be packed as foldwise packs", name)
        if info.file_size > MOST_GROWTH * max(info.compress_size, 1):
            raise refused(f"not grow more than {MOST_GROWTH} times when unpacked", name)
        seen.add(name)
    if sum(info.file_size for info in infos) > MOST_BYTES:
        raise refused(f"not hold more than {MOST_BYTES:,d} bytes", Plain("more when unpacked"))
    # Members that share their bytes add up to more than there are.
    if sum(info.compress_size for info in infos) > file_size:
        raise refused("not hold members that overlap", Plain("more bytes than the file has"))


def checked_manifest(content: bytes) -> dict[str, Any]:
    """Return the manifest, or refuse."""
    manifest = parsed(content, MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise refused(f"say that it is a {FORMAT}", Plain("another manifest"))
    schema = manifest.get("schema")
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA:
        fix = f"Update foldwise: it was saved by version {str(manifest.get('foldwise'))[:20]}."
        raise refused(f"have a schema from 1 to {SCHEMA}", schema, fix)
    members = manifest.get("members")
    if not isinstance(members, dict) or not all(
        isinstance(entry, dict) and {"size", "sha256"} <= set(entry) for entry in members.values()
    ):
        raise refused("list its members with their sizes and hashes", Plain("no such list"))
    return manifest


def parsed(content: bytes, name: str) -> Any:
    """Return what some JSON says, or refuse."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise refused("hold valid JSON", name) from error


def _checked(content: bytes, name: str, entry: dict[str, Any]) -> bytes:
    if len(content) != entry["size"] or digest(content) != entry["sha256"]:
        fix = "It is damaged: copy it again, or save the model again."
        raise refused("hold what was saved, byte by byte", Plain(f"a changed {name!r}"), fix)
    return content
