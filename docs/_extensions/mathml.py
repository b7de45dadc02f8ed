"""Write formulas as MathML, which browsers show without a script, and so without a connection."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def _write_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def _write_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{latex2mathml.tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Add the renderer of formulas."""
    app.add_html_math_renderer("mathml", inline_renderers=(_write_inline, None), block_renderers=(_write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
