"""Everything an archive must not be, each refused in one sentence that names it."""

import io
import json
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from foldwise import load
from foldwise.errors import InvalidDataError
from foldwise.files import read_manifest
from tests.files.hostile import forged, members_of, nothing_is_run, zipped

ASK = "Save the model again, and do not load files you have no reason to trust."


def refusal(content: bytes, path: Path) -> str:
    path.write_bytes(content)
    with nothing_is_run(), pytest.raises(InvalidDataError) as error:
        load(path)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "arrays/../../x.npy", "arrays/", "arrays/0.npy.py", "C:x",
             "arrays\\0.npy", "model.json\n", "parts.pkl"],
)  # fmt: skip
def test_members_of_other_names_are_refused(name: str, saved: Path, tmp_path: Path) -> None:
    text = refusal(forged({**members_of(saved), name: b"x"}), tmp_path / "bad")
    assert text.startswith("load: file must hold only members with names that foldwise gives; got ")
    assert not (tmp_path.parent / "evil").exists()


def test_a_link_is_refused(saved: Path, tmp_path: Path) -> None:
    members = members_of(saved)
    buffer = io.BytesIO(forged(members))
    with zipfile.ZipFile(buffer, "a") as archive:
        link = zipfile.ZipInfo("arrays/999.npy")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert refusal(buffer.getvalue(), tmp_path / "bad") == (
        f"load: file must hold no links, folders or devices; got 'arrays/999.npy'. {ASK}"
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice_is_refused(saved: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO(saved.read_bytes())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("model.json", "{}")
    assert refusal(buffer.getvalue(), tmp_path / "bad") == (
        f"load: file must hold each member once; got 'model.json'. {ASK}"
    )


def test_a_bomb_is_refused_before_it_is_unpacked(saved: Path, tmp_path: Path) -> None:
    members = {**members_of(saved), "arrays/999.npy": bytes(20_000_000)}
    assert refusal(forged(members), tmp_path / "bad") == (
        "load: file must not grow more than 100 times when unpacked; got 'arrays/999.npy'. " + ASK
    )


def test_members_that_share_their_bytes_are_refused(saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as archive:
        infos = archive.infolist()
        largest = max(infos, key=lambda info: info.compress_size)
    for info in infos:
        place = content.rfind(info.filename.encode()) - 46
        struct.pack_into("<LL", content, place + 20, largest.compress_size, largest.file_size)
        struct.pack_into("<L", content, place + 42, largest.header_offset)
    assert refusal(bytes(content), tmp_path / "bad").startswith("load: file must not hold members")


def test_a_member_not_in_the_manifest_is_refused(saved: Path, tmp_path: Path) -> None:
    members = {**members_of(saved), "arrays/999.npy": b"x"}
    assert refusal(zipped(members), tmp_path / "bad") == (
        f"load: file must list every member in its manifest; got 'arrays/999.npy'. {ASK}"
    )


def test_a_missing_member_is_refused(saved: Path, tmp_path: Path) -> None:
    members = members_of(saved)
    del members["model.json"]
    assert refusal(zipped(members), tmp_path / "bad") == (
        f"load: file must hold every member of its manifest; got 'model.json'. {ASK}"
    )


def test_changed_bytes_are_refused_by_name(saved: Path, tmp_path: Path) -> None:
    members = members_of(saved)
    changed = bytearray(members["arrays/0.npy"])
    changed[-1] ^= 1
    assert refusal(zipped({**members, "arrays/0.npy": bytes(changed)}), tmp_path / "bad") == (
        "load: file must hold what was saved, byte by byte; got a changed 'arrays/0.npy'. "
        "It is damaged: copy it again, or save the model again."
    )


def test_an_encrypted_or_oddly_packed_member_is_refused(saved: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in members_of(saved).items():
            archive.writestr(name, content)
    assert refusal(buffer.getvalue(), tmp_path / "bad") == (
        f"load: file must be packed as foldwise packs; got 'manifest.json'. {ASK}"
    )


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not a zip" * 100])
def test_no_zip_at_all_is_refused(content: bytes, tmp_path: Path) -> None:
    text = refusal(content, tmp_path / "bad")
    assert text.startswith("load: file must be a whole model file; got 'bad' (BadZipFile: ")


def test_half_a_file_is_refused(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    text = refusal(content[: len(content) // 2], tmp_path / "bad")
    assert text.startswith("load: file must be a whole model file; got 'bad' (")


def manifest_with(saved: Path, **changes: object) -> bytes:
    members = members_of(saved)
    manifest = {**json.loads(members["manifest.json"]), **changes}
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()})


def test_a_newer_schema_says_what_to_do(saved: Path, tmp_path: Path) -> None:
    assert refusal(manifest_with(saved, schema=2, foldwise="9.0"), tmp_path / "bad") == (
        "load: file must have a schema from 1 to 1; got 2. "
        "Update foldwise: it was saved by version 9.0."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "pickle"}, "say that it is a foldwise model; got another manifest"),
        ({"schema": None}, "have a schema from 1 to 1; got None"),
        ({"schema": "1"}, "have a schema from 1 to 1; got '1'"),
        ({"members": []}, "list its members with their sizes and hashes; got no such list"),
        ({"members": {"x": 1}}, "list its members with their sizes and hashes; got no such list"),
    ],
)
def test_other_manifests_are_refused(changes, words, saved: Path, tmp_path: Path) -> None:
    assert refusal(manifest_with(saved, **changes), tmp_path / "bad").startswith(
        f"load: file must {words}."
    )


@pytest.mark.parametrize("text", [b"{", b"[" * 100_000, b"\xff", b"9" * 10_000])
def test_json_that_is_none_is_refused(text: bytes, saved: Path, tmp_path: Path) -> None:
    members = {**members_of(saved), "manifest.json": text}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert refusal(buffer.getvalue(), tmp_path / "bad").startswith(
        "load: file must hold valid JSON; got 'manifest.json'."
    )


def test_a_file_that_is_not_there_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


def test_what_shrinks_too_much_is_stored_as_it_is(tmp_path: Path) -> None:
    import numpy as np
    from sklearn.dummy import DummyRegressor

    from foldwise import save

    model = DummyRegressor().fit(np.zeros((3, 1)), np.zeros(3))
    model.zeros_ = np.zeros(1_000_000)
    save(model, tmp_path / "zeros")
    assert load(tmp_path / "zeros").zeros_.shape == (1_000_000,)
    assert read_manifest(tmp_path / "zeros")["members"]["arrays/0.npy"]["size"] > 8_000_000
