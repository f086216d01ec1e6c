"""What a report is made of before it is a page: sections of plain text, tables and figures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from markupsafe import Markup


@dataclass(frozen=True)
class Prose:
    """A paragraph; a warning one is set apart."""

    kind: ClassVar[str] = "prose"
    text: str
    warning: bool = False


@dataclass(frozen=True)
class Tile:
    """One number that matters, with what it is and what it means.

    Attributes
    ----------
    label : str
        What it is.
    value : str
        The number.
    meaning : str
        A sentence.
    tone : {"", "good", "bad"}
        Colours the value.
    """

    label: str
    value: str
    meaning: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side."""

    kind: ClassVar[str] = "tiles"
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Figure:
    """A drawing, its title and what to see in it."""

    kind: ClassVar[str] = "figure"
    title: str
    drawing: Markup
    caption: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str or Markup
        Its heading; a drawing for an axis.
    look : {"text", "number", "drawing", "code"}
        How its cells are set.
    """

    title: Any
    look: str = "text"


@dataclass(frozen=True)
class Table:
    """A table, the first column naming its rows.

    Attributes
    ----------
    columns : sequence of Column
        From left to right.
    rows : sequence of sequences
        Cells: text or drawings.
    title : str
        Above the table.
    note : str
        Below it.
    shown : int
        Rows beyond these are folded away.
    left_out : int
        Rows that are not in the page at all.
    strong : int or None
        The row that matters most.
    wide : bool
        Whether it takes the whole width.
    """

    kind: ClassVar[str] = "table"
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    shown: int = 20
    left_out: int = 0
    strong: int | None = None
    wide: bool = False


@dataclass(frozen=True)
class Figures:
    """Drawings, and small tables, side by side where the page is wide enough."""

    kind: ClassVar[str] = "figures"
    figures: Sequence[Figure | Table]


@dataclass(frozen=True)
class Facts:
    """Pairs of a term and what there is to say about it."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text to be copied."""

    kind: ClassVar[str] = "code"
    lines: Sequence[str]


Block = Prose | Tiles | Figures | Table | Facts | Code


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str
        Its heading.
    lead : str
        The sentence that is enough for most readers.
    blocks : sequence of Block
        The rest.
    folded : bool
        Whether it is closed when the page opens.
    """

    key: str
    title: str
    lead: str = ""
    blocks: Sequence[Block] = field(default_factory=tuple)
    folded: bool = False
