"""Markdown in which names stay names, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

# An underscore between letters or digits, as in NN_TL, is plain text.
_SPECIAL = re.compile(r"[\\`*\[\]<>|#~$&]|(?<![^\W_])_|_(?![^\W_])")


def escape_markdown(text: str) -> str:
    r"""Keep what a text holds from being read as Markdown.

    >>> print(escape_markdown("NN_TL *a|b*"))
    NN_TL \*a\|b\*
    """
    return _SPECIAL.sub(r"\\\g<0>", one_line(text))


def code(text: str) -> str:
    """Write a text as code; backticks in it need a longer run of them around it."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(text: str) -> str:
    """Write lines as a block of code, indented so that they stay in an item of a list."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    lines = (f"  {_printable(line)}".rstrip() for line in text.split("\n"))
    return "\n".join([f"  {fence}", *lines, f"  {fence}"])


def table_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Write a table, a line per row; cells are Markdown already."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def one_line(text: str) -> str:
    """Replace what cannot be printed, line breaks among it, by blanks, and several blanks by one."""
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
