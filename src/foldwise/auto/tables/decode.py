"""Bytes of a text file -> text, whatever wrote them."""

import codecs

from foldwise.errors import Plain, invalid_data

OWNER = "read_table"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SINGLE_BYTE = ("cp1252", "latin-1")


def decode(name: str, content: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding.

    By its mark; else UTF-16 where every second byte is zero, UTF-8 where that is valid, and
    Windows-1252 or Latin-1, in which any byte is a letter, for the rest.

    Examples
    --------
    >>> decode("a.csv", "Köln".encode("latin-1"))
    ('Köln', 'cp1252')
    """
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise invalid_data(
            OWNER,
            name,
            must=f"be valid {encoding}, as its first bytes say",
            got=Plain(f"byte {error.start:,} that is not"),
            fix="Save it again as UTF-8.",
        ) from error
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise invalid_data(
            OWNER,
            name,
            must="be a text file without NUL bytes",
            got=Plain(f"one on line {line:,}"),
            fix="Export it again as CSV, or give a Parquet file.",
        )
    return text, encoding


def _encoding(content: bytes) -> str:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return encoding
    head = content[:4096]
    if len(head) >= 4 and b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * max(even, odd):
            return "utf-16-le" if odd > even else "utf-16-be"
    for encoding in ("utf-8", *SINGLE_BYTE):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return SINGLE_BYTE[-1]
