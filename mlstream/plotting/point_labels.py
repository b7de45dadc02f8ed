"""Places for the names of points in a chart, so that no name covers another name or a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

# In CSS pixels: areas that a chart may be drawn in, from a phone to a wide screen, capital letters, the radius of a
# point, and the gap between the middle of a point and the side of its name, which Plotly sets.
_WIDTHS = (280, 400, 560, 900)
_HEIGHT = 290
_LETTER, _LINE, _GAP, _SIDE_GAP = 8.0, 15, 5, 9
_RIGHT_MARGIN = 14
PLACES = ("bottom right", "top left", "top right", "bottom left", "top center", "bottom center")


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any area."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def place_names(points: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str | None]:
    """Choose where the name of each point stands: a text position of Plotly, or None.

    Points are in shares of the plot area, y upwards; one with an empty name is only kept clear. None means that no
    place is free at some width of the page.
    """
    taken = [[_marker(point, width) for point in points] for width in _WIDTHS]
    return [_take(point, name, taken) if name else None for point, name in zip(points, names, strict=True)]


def name_boxes(point: tuple[float, float], name: str, place: str) -> Iterator[Box]:
    """List the boxes that a name takes at each width of the page."""
    vertical, side = place.split()
    length = _LETTER * len(name)
    for width in _WIDTHS:
        x, y = point[0] * width, (1 - point[1]) * _HEIGHT
        left = {"right": x + _SIDE_GAP, "left": x - _SIDE_GAP - length, "center": x - length / 2}[side]
        top = y + _GAP if vertical == "bottom" else y - _GAP - _LINE
        yield Box(left, top, left + length, top + _LINE)


def _take(point: tuple[float, float], name: str, taken: list[list[Box]]) -> str | None:
    for place in PLACES:
        boxes = list(name_boxes(point, name, place))
        if all(_is_free(*each) for each in zip(boxes, taken, _WIDTHS, strict=True)):
            for box, others in zip(boxes, taken, strict=True):
                others.append(box)
            return place
    return None


def _is_free(box: Box, taken: Sequence[Box], width: float) -> bool:
    inside = box.left >= 0 and box.right <= width + _RIGHT_MARGIN
    return inside and not any(box.overlaps(other) for other in taken)


def _marker(point: tuple[float, float], width: float) -> Box:
    x, y = point[0] * width, (1 - point[1]) * _HEIGHT
    return Box(x - _GAP, y - _GAP, x + _GAP, y + _GAP)
