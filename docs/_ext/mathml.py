"""Formulas as MathML, which browsers draw themselves: no script, nothing to load."""

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def _drawn(formula: str, **how: bool) -> str:
    """Return a formula as MathML, with the braces of sets as they are written."""
    return (
        tex2mathml(formula, **how)
        .replace("<mo>{", '<mo stretchy="false">{')
        .replace("<mo>}", '<mo stretchy="false">}')
    )


def _inline(self: Any, node: Any) -> None:
    self.body.append(_drawn(node.astext()))
    raise SkipNode


def _block(self: Any, node: Any) -> None:
    formula = _drawn(node.astext(), as_block=True)
    self.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True}
