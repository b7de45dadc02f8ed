"""Write formulas as MathML, which browsers draw themselves: no script and no font has to be loaded from elsewhere."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer, which `html_math_renderer` of conf.py names."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})</span>')
    translator.body.append(f"{convert(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def convert(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """Return the MathML of a formula; warn of one that cannot be converted."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("This formula cannot be written as MathML: %s", error, location=node)
        return ""
