import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from foldwise.engine import executor
from foldwise.engine.processes import packing
from foldwise.engine.processes.packing import SMALL, open_room, pack

LARGE = np.arange(SMALL // 4, dtype=np.float64).reshape(-1, 4)


@pytest.mark.parametrize("array", [LARGE[:3], LARGE, np.asfortranarray(LARGE)])
def test_arrays_come_out_equal_aligned_and_read_only(array: Any, tmp_path: Path) -> None:
    parcel = pack({"X": array, "y": array[:, 0].copy()}, str(tmp_path))
    found = pickle.loads(pickle.dumps(parcel)).open()
    for name, kept in (("X", array), ("y", array[:, 0])):
        np.testing.assert_array_equal(found[name], kept)
        assert found[name].ctypes.data % 64 == 0
        assert not found[name].flags.writeable
    assert found["X"].flags.f_contiguous == array.flags.f_contiguous


def test_only_large_parcels_make_a_file(tmp_path: Path) -> None:
    assert pack(LARGE[:3], str(tmp_path)).file is None
    assert list(tmp_path.iterdir()) == []
    parcel = pack(LARGE, str(tmp_path))
    assert [str(path) for path in tmp_path.iterdir()] == [parcel.file]
    assert len(parcel.head) < 1000


def test_frames_and_sparse_matrices_are_mapped_too(tmp_path: Path) -> None:
    frame = pd.DataFrame(LARGE, columns=list("abcd"))
    matrix = sparse.csr_array(LARGE)
    parcel = pack((frame, matrix), str(tmp_path))
    assert len(parcel.head) < 10_000
    found_frame, found_matrix = parcel.open()
    pd.testing.assert_frame_equal(found_frame, frame)
    assert (found_matrix != matrix).nnz == 0


def test_functions_of_a_script_can_be_packed() -> None:
    offset = 3
    assert pack(lambda x: x + offset).open()(1) == 4


def test_nothing_large_is_fine_as_well() -> None:
    assert pack((1, "two", None)).open() == (1, "two", None)


def test_a_folder_that_the_system_keeps_is_removed_at_the_end(monkeypatch: Any) -> None:
    at_end: list[Any] = []
    monkeypatch.setattr(packing.atexit, "register", lambda *a, **named: at_end.append((a, named)))
    # As Windows does while it is mapped.
    monkeypatch.setattr(packing._Folder, "_rmtree", lambda *_, **__: None)
    folder, name = open_room(nameless=False)
    folder.close()
    [((remove, *given), named)] = at_end
    remove(*given, **named)
    assert not Path(name).exists()


def test_memory_is_given_back_only_where_there_is_a_way(monkeypatch: Any) -> None:
    def no_library_without_a_name(name: str) -> Any:
        return "/" in name  # as on Windows

    monkeypatch.setattr(executor.ctypes, "CDLL", no_library_without_a_name)
    executor.give_back()
