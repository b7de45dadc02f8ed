"""Summaries for notebooks: a title, facts, tables and bars as HTML that needs nothing else, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate

# In contrast with white and with black alike, by 4 to 1.
_BAR = "#3f7fc4"
_LANE, _LEFT, _WIDTH, _FOOT = 22, 170, 760, 24
_MAX_LANES, _MAX_ROWS, _MAX_BARS, _MAX_TEXT = 24, 60, 1000, 24
_CELL = "padding:.15em 1em .15em 0;text-align:left;vertical-align:top;background:none;border:none"
_NUMBER = _CELL.replace("text-align:left", "text-align:right")


def summary(title: str, facts: Mapping[str, object], *parts: str) -> str:
    """Write a summary in HTML: a heading, a table of facts, and what `table`, `schedule` and `shares` returned.

    Empty texts among the facts are left out; all texts are escaped.
    """
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL};font-weight:normal;opacity:.75">{_text(name)}</th>'
        f'<td style="{_CELL}">{_text(str(value))}</td></tr>'
        for name, value in facts.items()
        if value not in ("", None)
    )
    return (
        '<div style="font-family:sans-serif;font-size:13px;line-height:1.4;overflow-x:auto">'
        f'<div style="font-weight:bold;font-size:14px;margin-bottom:.3em">{_text(title)}</div>'
        f'<table style="border-collapse:collapse;margin:0 0 .6em 0">{rows}</table>{"".join(parts)}</div>'
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table with a row of heads; after the first column, cells are numbers."""
    shown = [*rows[:_MAX_ROWS]]
    if len(shown) < len(rows):
        shown.append([f"{len(rows) - len(shown)} more are not shown"])
    cells = [(_CELL, *[_NUMBER] * len(heads[1:]))] * (len(shown) + 1)
    lines = [
        f'<tr style="background:none">{"".join(map(tag, styles, row))}</tr>'
        for tag, styles, row in zip([_head, *[_cell] * len(shown)], cells, [heads, *shown], strict=True)
    ]
    return f'<table style="border-collapse:collapse;margin:0 0 .6em 0">{"".join(lines)}</table>'


def schedule(tasks: Sequence[str], sizes: Sequence[int], visits: Sequence[Sequence[int]]) -> str:
    """Draw when tasks come, as SVG: a lane for each task, a bar for each experience that holds rows of it.

    `sizes` are numbers of rows of the experiences; `visits` are their tasks by index.
    """
    n_rows, shown = max(sum(sizes), 1), tasks[:_MAX_LANES]
    scale, bottom = (_WIDTH - _LEFT) / n_rows, _LANE * len(shown)
    bars = [
        (task, _LEFT + start * scale, _LEFT + (start + size) * scale)
        for start, size, held in zip(accumulate(sizes, initial=0), sizes, visits, strict=False)
        for task in held
        if task < len(shown)
    ]
    shapes = [_lane(place, name) for place, name in enumerate(shown)]
    # A gap of a pixel keeps bars that touch apart.
    shapes += [_bar(left, task, max(right - left - 1, 0.5)) for task, left, right in _join_near(bars)]
    foot = "row 1" if len(shown) == len(tasks) else f"row 1; {len(tasks) - len(shown)} more tasks are not shown"
    shapes += [_label(_LEFT, bottom + 16, foot), _label(_WIDTH, bottom + 16, f"row {n_rows:,}", "end")]
    return _svg(f"When the {len(tasks)} tasks come, by row of the stream", bottom + _FOOT, shapes)


def shares(title: str, values: Mapping[str, float]) -> str:
    """Draw shares as bars, each from 0 to 1, as SVG; the title is that of the picture."""
    shown = list(values.items())[:_MAX_LANES]
    scale, bottom = _WIDTH - _LEFT - 60, _LANE * len(shown)
    shapes = []
    for place, (name, share) in enumerate(shown):
        shapes += [_lane(place, name), _bar(_LEFT, place, max(share * scale, 0.5))]
        shapes.append(_label(_LEFT + share * scale + 6, place * _LANE + 15, f"{share:.1%}"))
    left_out = len(values) - len(shown)
    foot = f"{title}{f'; {left_out} more are not shown' if left_out else ''}"
    return _svg(title, bottom + _FOOT, [*shapes, _label(_LEFT, bottom + 16, foot)])


def _head(style: str, value: object) -> str:
    return f'<th scope="col" style="{style};font-weight:bold">{_text(str(value))}</th>'


def _cell(style: str, value: object) -> str:
    return f'<td style="{style}">{_text(str(value))}</td>'


def _join_near(bars: Sequence[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    """Join the bars of a lane that lie less than a pixel apart, where there are more than can be seen."""
    if len(bars) <= _MAX_BARS:
        return list(bars)
    joined: list[tuple[int, float, float]] = []
    for task, left, right in sorted(bars):
        if joined and joined[-1][0] == task and left - joined[-1][2] < 1:
            joined[-1] = (task, joined[-1][1], right)
        else:
            joined.append((task, left, right))
    return joined


def _svg(title: str, height: float, shapes: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" style="max-width:100%;min-width:30em;height:auto;display:block" '
        f'font-family="sans-serif" font-size="12" fill="currentColor"><title>{_text(title)}</title>'
        f"{''.join(shapes)}</svg>"
    )


def _lane(place: int, name: str) -> str:
    y = place * _LANE
    line = f'<line x1="{_LEFT}" y1="{y + _LANE}" x2="{_WIDTH}" y2="{y + _LANE}" stroke="currentColor" opacity=".2"/>'
    return _label(_LEFT - 8, y + 15, name, "end") + line


def _bar(left: float, place: int, width: float) -> str:
    return f'<rect x="{left:.2f}" y="{place * _LANE + 4}" width="{width:.2f}" height="{_LANE - 8}" fill="{_BAR}"/>'


def _label(x: float, y: float, content: str, anchor: str = "start") -> str:
    cut = content if anchor == "start" or len(content) <= _MAX_TEXT else f"{content[: _MAX_TEXT - 1]}…"
    return f'<text x="{x:.2f}" y="{y}" text-anchor="{anchor}">{_text(cut)}</text>'


def _text(content: str) -> str:
    """Escape text, and replace what a page cannot hold."""
    return escape("".join(character if character.isprintable() else "?" for character in content))
