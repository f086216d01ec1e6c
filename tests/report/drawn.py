"""Reading drawings back."""

from xml.etree import ElementTree


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter("text")]


def marks(svg: str, name: str, class_: str | None = None) -> list[dict[str, str]]:
    return [
        dict(element.attrib)
        for element in parsed(svg).iter(name)
        if class_ is None or class_ in element.attrib.get("class", "").split()
    ]


def size(svg: str) -> tuple[float, float]:
    width, height = parsed(svg).attrib["viewBox"].split()[2:]
    return float(width), float(height)
