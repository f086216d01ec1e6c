"""Formulas as MathML, which browsers draw themselves: no script, nothing to load."""

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _block(self: Any, node: Any) -> None:
    formula = tex2mathml(node.astext(), as_block=True)
    self.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True}
