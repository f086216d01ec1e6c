"""Tables as they come: each with what it must be read as, or the sentence it must be refused by.

``BAD_TABLES`` maps a name to (content, expected): expected is a dictionary of columns, or the
error after "read_table: t.csv must ".
"""

import math

NAN = math.nan
NO_ROWS = "hold rows below its header; got none. Check how the table was written."


def lines(*rows: str) -> bytes:
    return ("\n".join(rows) + "\n").encode()


BAD_TABLES: dict[str, tuple[bytes, dict[str, list[object]] | str]] = {
    "empty": (b"", "hold a table; got an empty file. Check how it was written."),
    "blank": (b" \n\n \n", "hold a table; got an empty file. Check how it was written."),
    "only a mark": (b"\xef\xbb\xbf", "hold a table; got an empty file. Check how it was written."),
    "header only": (b"a,b,c\n", NO_ROWS),
    "header without line end": (b"a,b,c", NO_ROWS),
    "one row": (b"a,b\n1,2\n", {"a": [1], "b": [2]}),
    "no last line end": (b"a,b\n1,2", {"a": [1], "b": [2]}),
    "one column": (b"a\n1\n2\n", {"a": [1, 2]}),
    "one column, blank lines": (b"a\n1\n\n2\n \n", {"a": [1, 2]}),
    "duplicate names": (
        b"a,b,a\n1,2,3\n",
        "name every column differently; got 'a' twice. Rename all but one.",
    ),
    "names that differ by blanks": (
        b"a, a\n1,2\n",
        "name every column differently; got 'a' twice. Rename all but one.",
    ),
    "an index without a name": (
        b",a\n0,1\n1,2\n",
        "name every column; got no name for column 1 on line 1. "
        "Name it, or leave it out (pandas: to_csv(index=False)).",
    ),
    "a field too many": (
        b"a,b\n1,2\n3,4,5\n",
        "have 2 fields on every line, as its header has; got 3 on line 3. "
        "Quote fields that hold ','.",
    ),
    "a field too many everywhere": (
        b"a,b\n1,2,3\n4,5,6\n",
        "have 2 fields on every line, as its header has; got 3 on line 2. "
        "Quote fields that hold ','.",
    ),
    "a field too few": (
        b"a,b,c\n1,2,3\n4,5\n",
        "have 3 fields on every line, as its header has; got 2 on line 3. Add what is missing.",
    ),
    "a delimiter at each end": (
        b"a,b\n1,2,\n3,4,\n",
        "have 2 fields on every line, as its header has; got 3 on line 2. "
        "Quote fields that hold ','.",
    ),
    "ragged after quoted lines": (
        b'a,b\n"x\ny",2\n3,4,5\n',
        "have 2 fields on every line, as its header has; got 3 on line 4. "
        "Quote fields that hold ','.",
    ),
    "a NUL byte": (
        b"a,b\n1,2\n3,\x004\n",
        "be a text file without NUL bytes; got one on line 3. "
        "Export it again as CSV, or give a Parquet file.",
    ),
    "Latin-1": ("town,n\nKöln,1\nNîmes,2\n".encode("latin-1"), {"town": ["Köln", "Nîmes"]}),
    "Windows quotes": ("w,n\n“a”,1\n€,2\n".encode("cp1252"), {"w": ["“a”", "€"]}),
    "UTF-16 with mark": ("a,b\nü,2\n".encode("utf-16"), {"a": ["ü"], "b": [2]}),
    "UTF-16 without mark": ("alpha,beta\nü,2\n".encode("utf-16-le"), {"alpha": ["ü"], "beta": [2]}),
    "UTF-16, other end first": ("alpha,beta\nx,2\n".encode("utf-16-be"), {"alpha": ["x"]}),
    "UTF-32": ("a,b\nü,2\n".encode("utf-32"), {"a": ["ü"], "b": [2]}),
    "UTF-16 cut short": (
        "a,b\nü,2\n".encode("utf-16")[:-1],
        "be valid utf-16, as its first bytes say; got byte 16 that is not. Save it again as UTF-8.",
    ),
    "UTF-8 with mark": ("\ufeffa,b\n1,2\n".encode(), {"a": [1], "b": [2]}),
    "mixed types": (b"a,b\n1,x\ntwo,3\n2024-01-01,y\n", {"a": ["1", "two", "2024-01-01"]}),
    "all missing": (b"a,b\n,1\nNA,2\nnull,3\n", {"a": [NAN, NAN, NAN], "b": [1, 2, 3]}),
    "a line of delimiters": (b"a,b\n1,2\n,\n3,4\n", {"a": [1, NAN, 3], "b": [2, NAN, 4]}),
    "infinities": (b"a,b\ninf,1\n-Infinity,2\n1e999,3\n", {"a": [math.inf, -math.inf, math.inf]}),
    "400 digits": (lines("a,b", "9" * 400 + ",1", "2,2"), {"b": [1, 2]}),
    "quoted newlines": (b'a,b\n"x\ny",1\n"z\r\n",2\n', {"a": ["x\ny", "z\r\n"], "b": [1, 2]}),
    "quoted delimiters": (b'a,b\n"x,y",1\n"p""q",2\n', {"a": ["x,y", 'p"q'], "b": [1, 2]}),
    "single quotes": (b"a,b\n'x,y',1\n'z',2\n", {"a": ["x,y", "z"], "b": [1, 2]}),
    "an apostrophe": (b"a,b\nO'Hara,1\nd'Or,2\n", {"a": ["O'Hara", "d'Or"], "b": [1, 2]}),
    "an open quote": (
        b'a,b\n1,2\n"x,3\n4,5\n',
        "close every quote where its field ends; got unexpected end of data in the record that "
        "begins on line 3. Double the quotes inside fields.",
    ),
    "letters behind a quote": (
        b'a,b\n"x"y,3\n',
        "close every quote where its field ends; got ',' expected after '\"' in the record that "
        "begins on line 2. Double the quotes inside fields.",
    ),
    "a field of 200,000 letters": (
        lines("a,b", "x" * 200_000 + ",1"),
        {"a": ["x" * 200_000], "b": [1]},
    ),
    "formulas": (b"a,b\n=1+1,1\n@SUM(A1),2\n", {"a": ["=1+1", "@SUM(A1)"], "b": [1, 2]}),
    "semicolons": (b"a;b\n1;x\n2;y\n", {"a": [1, 2], "b": ["x", "y"]}),
    "decimal commas": (b"a;b\n1,5;x\n2,25;y\n", {"a": [1.5, 2.25]}),
    "decimal commas, quoted": (b'a,b\n"1,5",x\n"2,25",y\n', {"a": [1.5, 2.25]}),
    "thousands and dates": (
        b"a;b;c\n1.234,5;31.12.2024;1\n2,5;01.01.2025;2\n",
        {"a": [1234.5, 2.5], "b": ["31.12.2024", "01.01.2025"]},
    ),
    "thousands, quoted": (b'a,b\n"1,234",x\n"56,789",y\n', {"a": [1234, 56789]}),
    "tabs": (b"a\tb\n1\tx, y\n2\tz\n", {"a": [1, 2], "b": ["x, y", "z"]}),
    "bars": (b"a|b\n1|x\n2|y\n", {"a": [1, 2]}),
    "a separator line": (b"sep=;\na;b\n1;2\n", {"a": [1], "b": [2]}),
    "old Macintosh lines": (b"a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "Windows lines": (b"a,b\r\n1,2\r\n3,4\r\n", {"a": [1, 3], "b": [2, 4]}),
    "no header": (
        b"1,2\n3,4\n",
        "begin with the names of its columns; got numbers only on line 1. "
        "Add a first line of names.",
    ),
    "counted columns": (b"0,1\n3,4\n", {"0": [3], "1": [4]}),
    "an Excel file": (
        b"PK\x03\x04rest",
        "be a CSV or Parquet file; got an Excel or zip file. Save the table as CSV.",
    ),
    "a packed file": (
        b"\x1f\x8brest",
        "be a CSV or Parquet file; got a gzip file. Save the table as CSV.",
    ),
    "10,000 columns": (
        lines(",".join(f"c{k}" for k in range(10_000)), ",".join(["1"] * 10_000)),
        {"c0": [1], "c9999": [1]},
    ),
    "100,001 columns": (
        lines(",".join(f"c{k}" for k in range(100_001)), "1"),
        "have at most 100,000 columns; got 100,001. Turn the table if its columns are rows.",
    ),
    "names of JSON characters": (b'"a[1]","{b:2}"\n1,2\n', {"a[1]": [1], "{b:2}": [2]}),
    "random bytes": (
        bytes(range(1, 256)) * 4,
        "name every column; got no name for column 2 on line 1. "
        "Name it, or leave it out (pandas: to_csv(index=False)).",
    ),
}
