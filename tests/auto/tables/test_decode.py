import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.auto.tables.decode import decode
from foldwise.errors import InvalidDataError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=30))
def test_what_was_written_with_a_mark_or_in_utf_8_is_read(encoding, text):
    assert decode("t.csv", text.encode(encoding))[0] == text


def test_nul_bytes_are_named_with_their_line():
    with pytest.raises(InvalidDataError, match="got one on line 2"):
        decode("t.csv", b"abcdefgh\nxyz\0uvw")
