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
    """One number that matters, with what it is and what it means."""

    label: str  # what it is
    value: str  # the number
    meaning: str = ""  # A sentence
    tone: str = ""  # colours the value


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
    """A column of a table."""

    title: Any  # its heading; a drawing for an axis
    look: str = "text"  # how its cells are set


@dataclass(frozen=True)
class PageTable:
    """A table, the first column naming its rows."""

    kind: ClassVar[str] = "table"
    columns: Sequence[Column]  # from left to right
    rows: Sequence[Sequence[Any]]  # cells: text or drawings
    title: str = ""  # above the table
    note: str = ""  # below it
    shown: int = 20  # rows beyond these are folded away
    left_out: int = 0  # rows that are not in the page at all
    strong: int | None = None  # the row that matters most
    wide: bool = False  # whether it takes the whole width


@dataclass(frozen=True)
class Figures:
    """Drawings, and small tables, side by side where the page is wide enough."""

    kind: ClassVar[str] = "figures"
    figures: Sequence[Figure | PageTable]


@dataclass(frozen=True)
class Terms:
    """Pairs of a term and what there is to say about it."""

    kind: ClassVar[str] = "terms"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text to be copied."""

    kind: ClassVar[str] = "code"
    lines: Sequence[str]


Block = Prose | Tiles | Figures | PageTable | Terms | Code


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    key: str  # its anchor
    title: str  # its heading
    lead: str = ""  # the sentence that is enough for most readers
    blocks: Sequence[Block] = field(default_factory=tuple)  # the rest
    folded: bool = False  # whether it is closed when the page opens
