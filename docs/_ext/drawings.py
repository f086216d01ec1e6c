"""Our own drawings of the lattice: SVG that takes its colours from the page, dark or light.

python docs/_ext/drawings.py    # writes docs/lattice.svg, the one that README shows
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
FOLDS = range(1, 6)
HELD = ("feature", "held")
STYLE = (DOCS / "_static" / "drawings.css").read_text(encoding="utf-8")


def svg(width: int, height: int, about: str, *parts: str) -> str:
    """Return a drawing; ``about`` is what is read aloud."""
    head = f'<svg class="drawing" viewBox="0 0 {width} {height}" role="img" aria-label="{about}">'
    return head + "".join(parts) + "</svg>\n"


def box(x: float, y: float, w: float, h: float, look: str, text: str = "") -> str:
    """Return a rectangle with a word in its middle."""
    rect = f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4"/>'
    return rect + (word(x + w / 2, y + h / 2 + 4, text, f"mid on-{look}") if text else "")


def word(x: float, y: float, text: str, look: str = "") -> str:
    """Return a line of text; ``_`` in front of a part sets it small and low."""
    return f'<text class="{look}" x="{x:g}" y="{y:g}">{text}</text>'


def line(x1: float, y1: float, x2: float, y2: float, look: str = "thin") -> str:
    """Return a straight line."""
    return f'<line class="{look}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def braces(*folds: int) -> str:
    """Return the name of a node."""
    return "{" + ",".join(map(str, folds)) + "}"


def lattice() -> str:
    """All nodes of five folds, with what each level is for."""
    places = {(): (300.0, 24.0)}
    places |= {(i,): (60.0 + 120 * (i - 1), 118.0) for i in FOLDS}
    places |= {pair: (30.0 + 60 * k, 226.0) for k, pair in enumerate(combinations(FOLDS, 2))}
    parts = []
    for node, (x, y) in places.items():
        for i in FOLDS:
            above = tuple(sorted((*node, i)))
            if i not in node and above in places:
                parts.append(line(x, y + 16, places[above][0], places[above][1] - 16))
    for node, (x, y) in places.items():
        look = ("refit", "deployed", "judged")[len(node)]
        width = 46 if node else 74
        parts.append(
            box(x - width / 2, y - 16, width, 32, look, braces(*node) if node else "all rows")
        )
    said = (
        (24, "fitted on all rows:", "only for predict_with='refit'"),
        (118, "5 fits without one fold:", "train the final stacker, predict new rows"),
        (226, "10 fits without two folds:", "train and feed the judged stackers"),
    )
    for y, first, second in said:
        parts += [word(624, y - 2, first, "strong"), word(624, y + 15, second)]
    return svg(912, 256, "The fold lattice of five folds: one, five and ten nodes", *parts)


def strip(
    x: float, y: float, look: Callable[[int], str], text: Callable[[int], str]
) -> Iterator[str]:
    """Return the five folds side by side."""
    for fold in FOLDS:
        yield box(x + 62 * (fold - 1), y, 58, 26, look(fold), text(fold))


def judging() -> str:
    """How fold 1 is judged: which models predict which rows."""
    parts = [word(190 + 62 * (i - 1) + 29, 18, f"fold {i}", "mid soft") for i in FOLDS]
    for k, j in enumerate((2, 3, 4, 5)):
        y = 30 + 38 * k

        def look(fold: int, j: int = j) -> str:
            return "held" if fold == 1 else "feature" if fold == j else "seen"

        def text(fold: int, j: int = j) -> str:
            return {1: "mean", j: "feature"}.get(fold, "seen")

        parts.append(word(178, y + 18, f"models without {braces(1, j)}", "end"))
        parts += strip(190, y, look, text)
    y = 30 + 38 * 4 + 26
    parts += [
        line(190, y - 14, 498, y - 14, "rule"),
        word(178, y + 18, "stacker for fold 1", "end strong"),
        *strip(190, y, lambda f: HELD[f == 1], lambda f: ("trains on", "judged")[f == 1]),
        box(530, 34, 16, 16, "seen"), word(554, 47, "rows the models were fitted on"),
        box(530, 62, 16, 16, "feature"), word(554, 75, "predicted by models that saw neither"),
        word(554, 91, "this fold nor fold 1: they train the stacker"),
        box(530, 106, 16, 16, "held"), word(554, 119, "fold 1: the mean of the four predictions"),
        word(554, 135, "is what the stacker reads, and is judged by"),
    ]  # fmt: skip
    return svg(860, 254, "How fold 1 is judged by models that never saw it", *parts)


def deploying() -> str:
    """What is deployed: the five models without one fold."""
    parts = [word(190 + 62 * (i - 1) + 29, 18, f"fold {i}", "mid soft") for i in FOLDS]
    parts.append(word(560, 18, "new rows", "mid soft"))
    for k, j in enumerate(FOLDS):
        y = 30 + 38 * k
        parts.append(word(178, y + 18, f"models without {braces(j)}", "end"))
        parts += strip(
            190,
            y,
            lambda f, j=j: "feature" if f == j else "seen",
            lambda f, j=j: "feature" if f == j else "seen",
        )
        parts.append(box(516, y, 88, 26, "new", "mean"))
    y = 30 + 38 * 5 + 10
    parts += [
        line(190, y - 8, 604, y - 8, "rule"),
        word(178, y + 18, "the final stacker", "end strong"),
        *strip(190, y, lambda _: "feature", lambda _: "trains on"),
        box(516, y, 88, 26, "new", "predicts"),
    ]
    return svg(
        640, 262, "The deployed stack: each fold is predicted by the model without it", *parts
    )


def in_time() -> str:
    """Forward in time: every block is predicted from earlier ones."""
    parts = [word(190 + 62 * (i - 1) + 29, 18, f"block {i}", "mid soft") for i in range(1, 7)]
    for k, j in enumerate(range(2, 7)):
        y = 30 + 34 * k
        parts.append(word(178, y + 18, f"models before block {j}", "end"))
        for fold in range(1, 7):
            look = "seen" if fold < j else "feature" if fold == j else "later"
            text = {"seen": "seen", "feature": "feature", "later": ""}[look]
            parts.append(box(190 + 62 * (fold - 1), y, 58, 24, look, text))
    y = 30 + 34 * 5 + 14
    parts += [
        line(190, y - 8, 560, y - 8, "rule"),
        word(178, y + 17, "stacker for block 6", "end strong"),
        box(190, y, 58, 24, "later"),
        *(box(190 + 62 * (f - 1), y, 58, 24, "feature", "trains on") for f in range(2, 6)),
        box(190 + 62 * 5, y, 58, 24, "held", "judged"),
    ]
    return svg(580, 250, "Forward in time, every block is predicted from earlier blocks", *parts)


def learning_curve() -> str:
    """Where A, B and C stand on the learning curve, and the step that is still to be taken."""
    left, right, top, bottom = 70, 560, 20, 230

    def at(share: float) -> float:
        return left + (right - left) * (share - 0.45) / 0.6

    def loss(share: float) -> float:
        return bottom - 45 - 62 * (1 / share - 1) * 1.6

    points = " ".join(f"{at(s):.1f},{loss(s):.1f}" for s in [0.5 + 0.01 * k for k in range(51)])
    parts = [line(left, top, left, bottom, "axis"), line(left, bottom, right + 20, bottom, "axis")]
    parts.append(f'<polyline class="curve" points="{points}"/>')
    for share, name, rows in (
        (0.6, "B", "without two"),
        (0.8, "C", "without one"),
        (1.0, "", "all rows"),
    ):
        parts += [
            line(at(share), loss(share), at(share), bottom, "ref"),
            word(at(share), bottom + 18, rows, "mid soft"),
        ]
        look = "dot" if name else "dot open"
        parts.append(f'<circle class="{look}" cx="{at(share):.1f}" cy="{loss(share):.1f}" r="6"/>')
        parts.append(word(at(share) + 10, loss(share) - 8, name, "strong"))
    step_y = loss(1.0)
    parts += [
        line(at(0.6), loss(0.6), at(0.6) + 70, loss(0.6), "ref"),
        line(at(0.8), loss(0.8), at(1.0) + 26, loss(0.8), "ref"),
        line(at(1.0) + 16, loss(0.8), at(1.0) + 16, step_y, "arrow"),
        line(at(1.0), step_y, at(1.0) + 26, step_y, "ref"),
        word(at(1.0) + 32, (loss(0.8) + step_y) / 2 + 4, "κ (B − C)", "strong"),
        word(at(1.0) + 32, (loss(0.8) + step_y) / 2 + 22, "the step that judged"),
        word(at(1.0) + 32, (loss(0.8) + step_y) / 2 + 38, "models still had to take"),
        word(left - 10, top + 8, "loss", "end soft"),
        word(at(0.6) - 40, loss(0.6) - 24, "one model without two folds", "soft"),
        word((left + right) / 2, bottom + 38, "rows the learners were fitted on", "mid soft"),
    ]
    # A is the mean of K - 1 models, so it lies below the loss of one of them.
    parts += [
        f'<circle class="dot mean" cx="{at(0.6):.1f}" cy="{loss(0.6) + 52:.1f}" r="6"/>',
        word(at(0.6) + 10, loss(0.6) + 57, "A: the mean of the four", "strong"),
    ]
    return svg(
        780, 280, "The losses A, B and C on the learning curve and the step to all rows", *parts
    )


def choosing() -> str:
    """Which ensemble for what."""
    rows = [
        ("One table, one good model, no time", "AutoStack", "auto"),
        ("Several good learners of different kinds", "Stacking", "stack"),
        ("Many learners of a library, keep a few", "EnsembleSelection", "stack"),
        ("One unsteady learner, such as a deep tree", "Bagging", "resample"),
        ("One weak learner, such as a shallow tree", "GradientBoosting, NewtonBoosting", "boost"),
        ("A person must read the model", "RuleFit", "rules"),
        ("The forest is good but too large", "ISLE", "isle"),
        ("Few columns, few of them strong", "BayesianModelAveraging, BestSubset", "subset"),
        ("Few columns, many of them weak", "AveragedCV", "subset"),
        ("Probabilities are off, ranking is fine", "CalibratedClassifier", "stack"),
    ]
    parts = []
    for k, (what, which, room) in enumerate(rows):
        y = 8 + 38 * k
        parts += [
            box(4, y, 330, 30, "seen", what),
            line(334, y + 15, 380, y + 15, "arrow"),
            box(384, y, 270, 30, "feature" if k < 3 else "new", which),
            word(668, y + 19, f"foldwise.{room}", "soft"),
        ]
    return svg(790, 8 + 38 * len(rows), "Which ensemble for which need", *parts)


def tilted() -> str:
    """Return README's drawing: the lattice with its colours inside."""
    return (
        lattice()
        .replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
        .replace('role="img"', 'role="img" font-family="system-ui, sans-serif"')
        .replace("><", f"><style>{STYLE}</style><", 1)
    )


ALL = (lattice, judging, deploying, in_time, learning_curve, choosing)


def write_drawings(_: Any, __: Any) -> None:
    """Write every drawing where the pages include it from."""
    folder = DOCS / "generated" / "drawings"
    folder.mkdir(parents=True, exist_ok=True)
    for draw in ALL:
        # On a narrow screen a drawing scrolls rather than becoming too small to read.
        html = f'<div class="wide-drawing">{draw()}</div>\n'
        (folder / f"{draw.__name__}.html").write_text(html, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_drawings)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    (DOCS / "lattice.svg").write_text(tilted(), encoding="utf-8")
