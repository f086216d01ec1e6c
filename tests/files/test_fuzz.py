"""A model file with bytes changed, cut, doubled or forged never runs, hangs or loads wrongly."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldwise import load
from foldwise.errors import InvalidDataError
from tests.files.conftest import X
from tests.files.hostile import forged, members_of, nothing_is_run

EASY = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def loaded(path: Path, content: bytes):
    """Return the model, or None if it was refused in a sentence of ours."""
    path.write_bytes(content)
    with nothing_is_run(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load(path)
        except InvalidDataError:
            return None


@EASY
@given(data=st.data())
def test_changed_bytes_are_refused_or_change_nothing(data, saved, stack, tmp_path) -> None:
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "zero", "double"]))
    if kind == "flip":
        content[place] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del content[place : place + data.draw(st.integers(1, 1000))]
    elif kind == "insert":
        content[place:place] = data.draw(st.binary(min_size=1, max_size=50))
    elif kind == "zero":
        content[place : place + 16] = bytes(min(16, len(content) - place))
    else:
        content[place:place] = content[place : place + 200]
    model = loaded(tmp_path / "fuzzed", bytes(content))
    if model is not None:
        np.testing.assert_array_equal(model.predict(X), stack.predict(X))


JUNK = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["os.system", "builtins.exec", "object", "function", "compiled", "../x"]),
    st.just([]),
    st.builds(lambda at: {"at": at}, st.integers(-3, 400)),
)


@EASY
@given(data=st.data())
def test_forged_descriptions_are_refused_or_harmless(data, saved, tmp_path) -> None:
    members = members_of(saved)
    document = json.loads(members["model.json"])
    for _ in range(data.draw(st.integers(1, 3))):
        entry = document["entries"][data.draw(st.integers(0, len(document["entries"]) - 1))]
        where = entry
        while isinstance(where[-1], list) and where[-1] and data.draw(st.booleans()):
            where = where[-1]
        where[data.draw(st.integers(0, len(where) - 1))] = data.draw(JUNK)
    members["model.json"] = json.dumps(document).encode()
    loaded(tmp_path / "forged", forged(members))


@pytest.mark.parametrize("member", ["arrays/0.npy"])
@settings(parent=EASY, max_examples=100)
@given(data=st.data())
def test_forged_parts_are_refused_or_predict_something(member, data, saved, tmp_path) -> None:
    members = members_of(saved)
    content = bytearray(members[member])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    members[member] = bytes(content)
    model = loaded(tmp_path / "forged", forged(members))
    if model is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(model.predict(X)) == len(X)
