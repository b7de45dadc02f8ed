"""Markdown shows every text as it is, whatever it holds, to markdown-it, an independent parser."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mlstream.cards.markdown import code, escape_markdown, one_line, table_lines

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
TEXTS = st.text(st.sampled_from("ab_*`[]()<>|#~$&!\\ \n\t-=+.1:é"), max_size=12)


def shown(tokens):
    """Return the types of the inline tokens, and the text that a reader sees."""
    children = [child for token in tokens if token.type == "inline" for child in token.children]
    return {child.type for child in children}, "".join(child.content for child in children)


@given(TEXTS)
@example("`*a*` <b> [c](d) ~~e~~ &amp; __f__")
def test_escaped_text_is_shown_as_it_is(text):
    types, content = shown(PARSER.parse(f"x {escape_markdown(text)} x"))
    assert types <= {"text", "text_special"}
    assert content == f"x {one_line(text)} x".replace("x  x", "x  x")


@pytest.mark.slow
@given(TEXTS)
@example("a`b``c")
def test_code_is_shown_as_it_is(text):
    types, content = shown(PARSER.parse(f"x {code(text)} x"))
    assert "code_inline" in types
    assert content.split() == f"x {one_line(text)} x".split()


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
@example([("a|b", "c|d")])
def test_a_table_has_a_cell_for_each_text(rows):
    lines = "\n".join(table_lines(["a", "b"], [map(escape_markdown, row) for row in rows]))
    cells = [token for token in PARSER.parse(lines) if token.type == "td_open"]
    assert len(cells) == 2 * len(rows)
    content = [token for token in PARSER.parse(lines) if token.type == "inline"][2:]
    assert ["".join(child.content for child in token.children).split() for token in content] == [
        one_line(text).split() for row in rows for text in row
    ]
