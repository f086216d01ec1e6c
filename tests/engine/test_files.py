import errno
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.engine.files import (
    DamagedFileError,
    packed,
    read_header,
    read_result,
    refuse_strangers,
    remove_leftovers,
    write_whole,
)
from tests.forked import Forked

HEADER = {"key": "k", "about": {"learner": "ridge"}}
PAYLOAD = bytes(range(256)) * 3
WHOLE = b"".join(packed(HEADER, PAYLOAD))


@pytest.fixture(params=["unnamed", "named"])
def path(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return tmp_path / "result.fit"


def test_what_was_written_is_read(path: Path) -> None:
    write_whole(path, packed(HEADER, PAYLOAD))
    header, payload = read_result(path)
    assert payload == PAYLOAD
    assert header == read_header(path)
    assert {**header, **HEADER} == header
    assert list(path.parent.iterdir()) == [path]


def test_every_flipped_bit_is_noticed(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bits") / "a.fit"
    for byte in range(len(WHOLE)):
        damaged = bytearray(WHOLE)
        damaged[byte] ^= 1 << byte % 8
        path.write_bytes(damaged)
        with pytest.raises(DamagedFileError):
            read_result(path)


@given(st.integers(0, len(WHOLE) - 1))
def test_every_cut_is_noticed_by_its_header_alone(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.fit"
    path.write_bytes(WHOLE[:length])
    for read in (read_result, read_header):
        with pytest.raises(DamagedFileError):
            read(path)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_damaged_file(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.fit"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError):
        read_result(path)


def test_a_longer_file_is_damaged(path: Path) -> None:
    path.write_bytes(WHOLE + b"0")
    with pytest.raises(DamagedFileError, match="769 bytes instead of 768"):
        read_result(path)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    write_whole(path, [b"old"])

    def parts():
        yield b"new"
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


KILLED = """
import os, signal, sys
from pathlib import Path
if sys.argv[2] == "named" and hasattr(os, "O_TMPFILE"):
    del os.O_TMPFILE
from foldwise.engine.files import write_whole
def parts():
    yield bytes(100_000)
    os.kill(os.getpid(), signal.SIGKILL)
write_whole(Path(sys.argv[1]), parts())
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="no files without a name here")
def test_a_writer_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")
    assert Forked(KILLED, path, "unnamed", log=os.devnull).wait() == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "model"
    assert Forked(KILLED, path, "named", log=os.devnull).wait() == -signal.SIGKILL
    assert [file.suffix for file in tmp_path.iterdir()] == [".part"]
    write_whole(path, [b"first"])
    write_whole(path, [b"second"])
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_to_it_stays(path: Path) -> None:
    real = path.with_name("real")
    real.write_bytes(b"old")
    real.chmod(0o640)
    path.symlink_to(real)
    write_whole(path, [b"new"])
    assert path.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_device_is_written_to_as_it_is_and_named_when_it_is_full(path: Path) -> None:
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, [b"new"])
    assert caught.value.filename == str(path)
    assert not path.is_file()


def test_a_folder_that_is_not_there_is_told_by_the_name_that_was_given(path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(path / "a", [b"new"])
    assert caught.value.filename == str(path / "a")


def test_a_file_is_synchronised_before_it_gets_its_name_and_the_folder_after(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    sync = os.fsync

    def recorded(handle: int) -> None:
        steps.append(path.exists())
        sync(handle)

    monkeypatch.setattr(os, "fsync", recorded)
    write_whole(path, [b"a"])
    assert steps == [False, True]


def test_a_link_is_not_followed(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(WHOLE)
    path.symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        read_result(path)


def test_only_leftovers_of_dead_processes_of_this_machine_are_removed(tmp_path: Path) -> None:
    here, dead = socket.gethostname(), 2**22 + 1
    gone = tmp_path / f".k.fit.{here}.{dead}.00ff.part"
    kept = [
        tmp_path / f".k.fit.{here}.{os.getpid()}.00ff.part",
        tmp_path / f".k.fit.elsewhere.{dead}.00ff.part",
        tmp_path / "k.fit",
    ]
    for file in [gone, *kept]:
        file.touch()
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_windows_writes_whole_files_and_leaves_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(sys, "platform", "win32")
    # There a signal of number zero ends a process, so nobody may ask whether one lives.
    monkeypatch.delattr(os, "kill")
    other = tmp_path / f".k.fit.{socket.gethostname()}.{2**22 + 1}.00ff.part"
    other.touch()
    path = tmp_path / "result.fit"
    write_whole(path, packed(HEADER, PAYLOAD))
    refuse_strangers(path, "Stack")
    remove_leftovers(tmp_path)
    assert read_result(path)[1] == PAYLOAD
    assert sorted(tmp_path.iterdir()) == sorted([other, path])
