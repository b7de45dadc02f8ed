"""The parts of pictures that are written as SVG by hand: the same bytes whatever library is installed."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

WIDTH = 960
LANE = 24
LEFT = 150
RIGHT = 30
FAINT = "#c9d1d9"
_INK = "#1f2933"
_MAX_TEXT_LENGTH = 22


def document(title: str, height: float, shapes: Iterable[str]) -> str:
    """Join shapes to a picture with a title."""
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" font-size="12" fill="{_INK}" role="img">',
        f"<title>{_xml(title)}</title>",
        f'<rect width="{WIDTH}" height="{height:g}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{_xml(title)}</text>',
        *shapes,
        "</svg>",
    )
    return "\n".join(lines) + "\n"


def lane_name(name: str, y: float) -> str:
    """Write the name of a lane to its left."""
    return text(LEFT - 8, y + LANE / 2 + 4, name, "end")


def rule(x1: float, y1: float, x2: float, y2: float, colour: str = FAINT) -> str:
    """Draw a line."""
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}"/>'


def text(x: float, y: float, content: str, anchor: str = "start", turn: str = "") -> str:
    """Write a text, shortened if it is long."""
    shown = content if len(content) <= _MAX_TEXT_LENGTH else f"{content[: _MAX_TEXT_LENGTH - 1]}…"
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}"{turn}>{_xml(shown)}</text>'


def _xml(content: str) -> str:
    """Escape text, and leave out what XML cannot hold."""
    return escape("".join(character if character.isprintable() else "?" for character in content))
