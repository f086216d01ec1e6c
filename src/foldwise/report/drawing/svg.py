"""Scales with readable ticks, and the few marks our figures are drawn with.

Everything is :class:`markupsafe.Markup` built by ``format``, so that every text and number that
enters a drawing is escaped. Colours are classes of the page's style sheet, for light and dark.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from foldwise.wording import clean, number, shortened

# Width of a digit of a figure's text; other letters are wider or narrower.
LETTER = 6.4
COMMAS_FROM = 10_000
Ticks = Sequence[tuple[float, str]] | None
NARROW, WIDE = frozenset("iljtfr.,:;'|!()[] "), frozenset("mwMW%@—…<>=+~#&−")


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers that cover an interval, steps of 1, 2, 2.5 or 5 times a power of ten."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low] if math.isfinite(low) else []
    rough = span / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * m for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, 2 - math.floor(math.log10(step)))
    return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """Return the ticks' texts, with as few decimals as tell them apart."""
    largest = max((abs(v) for v in values), default=0.0)
    for unit, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e5, "k")):
        if largest >= unit:
            labels = tick_labels_plain([v / (1e3 if name == "k" else unit) for v in values])
            return [text + (name if text != "0" else "") for text in labels]
    return tick_labels_plain(values)


def tick_labels_plain(values: Sequence[float]) -> list[str]:
    """Return the ticks' texts without a unit; commas from ten thousand on, years have none."""
    comma = "," if max(map(abs, values), default=0.0) >= COMMAS_FROM else ""
    return [
        f"{v:{comma}.10g}".replace("-", "−") if abs(v) >= 1e-4 or v == 0 else number(v)
        for v in values
    ]


@dataclass(frozen=True)
class Scale:
    """A straight map from values to places."""

    low: float  # values at its ends
    high: float  # values at its ends
    start: float  # places of its ends
    end: float  # places of its ends

    @classmethod
    def around(
        cls,
        values: Iterable[float],
        start: float,
        end: float,
        *,
        margin: float = 0.04,
        zero: bool = False,
    ) -> "Scale":
        """Return a scale that holds all finite values, with a margin; from zero if asked."""
        finite = [float(v) for v in values if math.isfinite(v)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if low == high:
            room = abs(low) * 0.1 or 1.0
            low, high = (low, high + room) if zero else (low - room, high + room)
        room = margin * (high - low)
        low = low if zero and low == 0 else low - room
        high = high if zero and high == 0 else high + room
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        """Return the place of a value; of one beyond the ends, the end's."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Return round values on the scale."""
        return ticks(self.low, self.high, about)


def at(place: float) -> str:
    """Return a coordinate, to a tenth."""
    shown = f"{place:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def mark(name: str, text: Any = None, **attributes: Any) -> Markup:
    """Return one element; ``class_`` is its class, underscores are hyphens, numbers are rounded."""
    pairs = Markup("").join(
        Markup(' {}="{}"').format(
            key.rstrip("_").replace("_", "-"), at(value) if isinstance(value, float) else value
        )
        for key, value in attributes.items()
        if value is not None
    )
    if text is None:
        return Markup("<{}{}/>").format(Markup(name), pairs)
    inside = clean(text) if isinstance(text, str) and not isinstance(text, Markup) else text
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), pairs, inside)


def width_of(text: str) -> float:
    """Return about how wide a figure's text is, rather too wide than too narrow."""
    total = 0.0
    for letter in text:
        if letter in NARROW:
            total += 0.65 * LETTER
        elif letter in WIDE:
            total += 1.65 * LETTER
        elif unicodedata.east_asian_width(letter) in "WF":
            total += 2.0 * LETTER
        else:
            total += 1.25 * LETTER if letter.isupper() else 1.1 * LETTER
    return total


def fitted(text: Any, room: float) -> str:
    """Return a name cleaned and cut to a width."""
    whole = shortened(text, 200)
    longest = len(whole)
    while longest > 3 and width_of(shortened(whole, longest)) > room:
        longest -= 1
    return shortened(whole, longest)


def label(text: Any, x: float, y: float, *, room: float, class_: str = "t") -> Markup:
    """Return a text cut to a width, with the whole text as its tooltip."""
    whole = shortened(text, 200)
    cut = fitted(whole, room)
    tip = mark("title", whole) if cut != whole else Markup("")
    return mark("text", Markup("{}{}").format(cut, tip), x=x, y=y, class_=class_)


def centred(text: str, place: float, y: float, width: float) -> Markup:
    """Return a text in the middle over a place, moved as far as it must to stay in the drawing."""
    half = width_of(text) / 2
    return mark("text", text, x=min(max(place, half), width - half), y=y, class_="t mid")


def stroke(x1: float, x2: float, y1: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return mark("line", x1=x1, x2=x2, y1=y1, y2=y2, class_=class_)


def polyline(places: Iterable[tuple[float, float]], class_: str) -> Markup:
    """Return a line through places."""
    points = " ".join(f"{at(x)},{at(y)}" for x, y in places)
    return mark("polyline", points=points, class_=class_)


def drawing(width: float, height: float, title: str, *marks: Any, class_: str = "chart") -> Markup:
    """Return the SVG element, with its title for those who do not see it."""
    sizes = {"width": float(width), "height": float(height)}
    box, inside = f"0 0 {at(width)} {at(height)}", Markup("").join(marks)
    said = {"role": "img", "aria_label": clean(title)}
    return mark("svg", inside, viewBox=box, **sizes, class_=class_, **said)


@dataclass(frozen=True)
class Panel:
    """The inside of a figure with axes."""

    x: Scale  # from values to places; the y scale runs upwards
    y: Scale  # from values to places; the y scale runs upwards
    width: float  # of the whole drawing
    height: float  # of the whole drawing

    def axes(self, titles: tuple[str, str], x_ticks: Ticks = None, y_ticks: Ticks = None) -> Markup:
        """Return grid lines, tick labels and the titles of x and y."""
        marks = []
        left, right = self.x.start, self.x.end
        bottom, top = self.y.start, self.y.end
        for value, text in y_ticks if y_ticks is not None else _labelled(self.y, across=False):
            place = self.y(value)
            marks.append(stroke(left, right, place, place, "grid"))
            marks.append(mark("text", text, x=left - 6, y=place + 4, class_="t end"))
        for value, text in x_ticks if x_ticks is not None else _labelled(self.x, across=True):
            place = self.x(value)
            marks.append(stroke(place, place, bottom, top, "grid"))
            marks.append(centred(text, place, bottom + 15, self.width))
        room = right - left
        marks.append(label(titles[0], (left + right) / 2, bottom + 32, room=room, class_="a mid"))
        marks.append(label(titles[1], 2.0, 11.0, room=self.width - 4, class_="a"))
        return Markup("").join(marks)

    def diagonal(self) -> Markup:
        """Return the line on which both values are the same, as far as both scales go."""
        ends = max(self.x.low, self.y.low), min(self.x.high, self.y.high)
        return polyline([(self.x(v), self.y(v)) for v in ends], "ref")


def left_of(y: Scale) -> float:
    """Return where the inside of a figure begins: right of the labels of its y axis."""
    return max(30.0, max(map(width_of, tick_labels(y.ticks())), default=0.0) + 10)


def _labelled(scale: Scale, *, across: bool) -> list[tuple[float, str]]:
    """Return as many ticks as have room; labels stand side by side on an axis across."""
    for about in (6, 5, 4, 3, 2, 1):
        values = scale.ticks(about)
        labels = tick_labels(values)
        step = abs(scale.end - scale.start) / max(len(values), 1)
        if step >= (LETTER * max(map(len, labels), default=0) + 12 if across else 28):
            break
    return list(zip(values, labels, strict=True))
