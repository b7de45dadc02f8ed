"""Pictures of a card, as SVG: which labels occur in which task, and when which task is visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from mlstream.card_model import ExperienceCard, StreamCard, TaskCard

_WIDTH = 960
_LANE = 24
_LEFT = 150
_RIGHT = 30
_WIDEST_CELL = 28
_MOST_NAMES = 40
_INK = "#1f2933"
_FAINT = "#c9d1d9"
_BAR = "#2f6db0"
_DRIFT = "#b3261e"
# From what is rare to what is always there; rare labels have to show, so shades follow the square root.
_PALE, _DARK = (222, 235, 247), (8, 48, 107)


def signatures_picture(card: StreamCard) -> str:
    """Draw the share of each task's rows that carry each label.

    Parameters
    ----------
    card : StreamCard
        The card.

    Returns
    -------
    str
        SVG: a row per task, a column per label; an empty cell is a label that cannot occur in the task.
    """
    n_labels = len(card.label_names)
    cell = min(_WIDEST_CELL, (_WIDTH - _LEFT - _RIGHT) / max(n_labels, 1))
    named = n_labels <= _MOST_NAMES
    top = 120 if named else 56
    bottom = top + _LANE * len(card.tasks)
    shapes = [*_label_axis(card, cell, top, named), *_legend(bottom + 24)]
    for row, task in enumerate(card.tasks):
        shapes.append(_lane_name(task.name, top + _LANE * row))
        shapes += _cells(task, cell, top + _LANE * row, n_labels)
    return _svg(f"Labels of the tasks of {card.name}", bottom + 56, shapes)


def schedule_picture(card: StreamCard) -> str:
    """Draw when each task is visited, and where it drifts.

    Parameters
    ----------
    card : StreamCard
        The card.

    Returns
    -------
    str
        SVG: a lane per task, a bar per experience that holds rows of it, in stream order; a line where a known drift
        begins.
    """
    top, n_rows = 40, max(sum(experience.n_samples for experience in card.experiences), 1)
    bottom = top + _LANE * len(card.tasks)
    scale = (_WIDTH - _LEFT - _RIGHT) / n_rows
    shapes = [_lane_name(task.name, top + _LANE * row) for row, task in enumerate(card.tasks)]
    shapes += [
        _rule(_LEFT, top + _LANE * row, _WIDTH - _RIGHT, top + _LANE * row) for row in range(len(card.tasks) + 1)
    ]
    shapes += _bars(card.experiences, scale, top)
    for drift in card.drifts:
        x = _LEFT + drift.start * scale
        shapes.append(_rule(x, top - 6, x, bottom + 6, _DRIFT))
    shapes += [_text(_LEFT, bottom + 20, "row 1"), _text(_WIDTH - _RIGHT, bottom + 20, f"row {n_rows:,}", "end")]
    return _svg(f"Schedule of {card.name}", bottom + 36, shapes)


def _cells(task: TaskCard, cell: float, y: float, n_labels: int) -> Iterator[str]:
    signature = set(task.signature)
    for label in range(n_labels):
        share = task.label_frequencies[label]
        fill = _shade(share) if label in signature else "none"
        yield (
            f'<rect x="{_LEFT + cell * label:.2f}" y="{y}" width="{cell:.2f}" height="{_LANE}" fill="{fill}" '
            f'stroke="{_FAINT}" stroke-width="0.5"/>'
        )


def _label_axis(card: StreamCard, cell: float, top: float, named: bool) -> Iterator[str]:
    for label, name in enumerate(card.label_names):
        x = _LEFT + cell * (label + 0.5)
        if named:
            turn = f' transform="rotate(-55 {x:.2f} {top - 6})"'
            yield _text(x, top - 6, name, "start", turn)
        elif label % 10 == 0:
            yield _text(x, top - 6, str(label + 1), "middle")


def _legend(y: float) -> Iterator[str]:
    yield _text(_LEFT, y + 12, "share of rows:")
    for place, share in enumerate((0.001, 0.01, 0.1, 0.5, 1.0)):
        x = _LEFT + 110 + 90 * place
        yield f'<rect x="{x}" y="{y}" width="16" height="16" fill="{_shade(share)}" stroke="{_FAINT}"/>'
        yield _text(x + 22, y + 12, f"{100 * share:g} %")


def _bars(experiences: Iterable[ExperienceCard], scale: float, top: float) -> Iterator[str]:
    start = 0
    for experience in experiences:
        for task in experience.tasks:
            # Bars that touch must still be told apart.
            yield (
                f'<rect x="{_LEFT + start * scale:.2f}" y="{top + _LANE * task + 4}" '
                f'width="{experience.n_samples * scale:.2f}" height="{_LANE - 8}" fill="{_BAR}" stroke="white"/>'
            )
        start += experience.n_samples


def _shade(share: float) -> str:
    weight = share**0.5
    channels = (round(pale + (dark - pale) * weight) for pale, dark in zip(_PALE, _DARK, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _lane_name(name: str, y: float) -> str:
    return _text(_LEFT - 8, y + _LANE / 2 + 4, name, "end")


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str = _FAINT) -> str:
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", turn: str = "") -> str:
    shown = text if len(text) <= 22 else f"{text[:21]}…"
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}"{turn}>{_xml(shown)}</text>'


def _xml(text: str) -> str:
    """Escape text, and leave out what XML cannot hold."""
    return escape("".join(character if character.isprintable() else "?" for character in text))


def _svg(title: str, height: float, shapes: Iterable[str]) -> str:
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" font-family="sans-serif" font-size="12" fill="{_INK}" role="img">',
        f"<title>{_xml(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height:g}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{_xml(title)}</text>',
        *shapes,
        "</svg>",
    )
    return "\n".join(lines) + "\n"
