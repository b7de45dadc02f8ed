"""Draw the rooms of the code and the imports between them, from the code itself, whenever the docs are built."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from layered_layout import BOX_HEIGHT, Layout, Place, lay_out

ROOT = Path(__file__).parents[2]
PACKAGES = ("mlstream", "estimators", "metrics")
# Packages that hold no folders are one room.
_FLAT = {"metrics"}
# A folder or a module right below a package, as ("mlstream", "formats"); a flat package is ("metrics", "metrics").
Room = tuple[str, str]
Graph = Mapping[Room, set[Room]]

_MARGIN = 20
_TITLE = 26
_LETTER = 7.6
_LINE, _STROKE, _BAND = "#7c93ab", "#35618f", "#eef3f8"


def read_imports(root: Path = ROOT) -> dict[Room, set[Room]]:
    """Return for each room the other rooms that its modules import, wherever the import stands."""
    modules = {file: room_of(file.relative_to(root)) for package in PACKAGES for file in (root / package).rglob("*.py")}
    rooms = {room for room in modules.values() if room is not None}
    graph: dict[Room, set[Room]] = {room: set() for room in rooms}
    for file, room in modules.items():
        if room is not None:
            names = _imported(ast.parse(file.read_text(encoding="utf-8")))
            graph[room] |= {other for name in names if (other := _room_named(name, rooms)) not in {None, room}}
    return graph


def room_of(file: Path) -> Room | None:
    """Return the room of a file, given relative to the root; None for the `__init__` of a package with rooms."""
    package, place = file.parts[0], file.parts[1]
    if package in _FLAT:
        return package, package
    return None if place == "__init__.py" else (package, place.removesuffix(".py"))


def without_shortcuts(graph: Graph) -> dict[Room, set[Room]]:
    """Leave out imports that a longer way already shows, so that the picture can be read.

    Raises
    ------
    ValueError
        If rooms import each other in a circle: no picture of it could show what lies above what.
    """
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " <- ".join(".".join(room) for room in error.args[1])
        raise ValueError(f"Rooms must not import each other in a circle. Got {circle}.") from None

    @cache
    def below(room: Room) -> frozenset[Room]:
        return frozenset(graph[room]).union(*map(below, graph[room]))

    return {
        room: {other for other in others if not any(other in below(via) for via in others)}
        for room, others in graph.items()
    }


def rows_of(graph: Graph) -> list[list[Room]]:
    """Return the rows of the picture, top first: package by package, each room below all that import it."""

    @cache
    def depth(room: Room) -> int:
        above = [other for other, imported in graph.items() if room in imported and other[0] == room[0]]
        return 1 + max(map(depth, above), default=-1)

    rows: dict[tuple[int, int], list[Room]] = {}
    for room in sorted(graph):
        rows.setdefault((PACKAGES.index(room[0]), depth(room)), []).append(room)
    return [rows[place] for place in sorted(rows)]


def draw(root: Path = ROOT) -> str:
    """Draw every package as a band and every room as a box, with arrows to what it imports; return SVG."""
    graph = without_shortcuts(read_imports(root))
    rows = rows_of(graph)
    packages = [row[0][0] for row in rows]
    # The title of a band stands above its first row.
    gaps = [_TITLE + _MARGIN if i == 0 or packages[i] != packages[i - 1] else 0 for i in range(len(rows))]
    widths = {room: len(room[1]) * _LETTER + 20 for room in graph}
    layout = lay_out(rows, graph, widths, gaps)
    width = layout.width + 2 * _MARGIN
    bands = {package: _extent(package, layout, packages) for package in PACKAGES}
    shapes = [
        *(_band(y, height, width) for y, height in bands.values()),
        *(_arrow(points) for points in layout.routes.values()),
        *(_title(package, y) for package, (y, _) in bands.items()),
        *(_box(room[1], layout.places[room]) for room in sorted(graph)),
    ]
    return _svg(shapes, width, layout.height + 2 * _MARGIN)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _room_named(name: str, rooms: set[Room]) -> Room | None:
    package, _, rest = name.partition(".")
    room = (package, package if package in _FLAT else rest.partition(".")[0])
    return room if room in rooms else None


def _extent(package: str, layout: Layout, packages: list[str]) -> tuple[float, float]:
    """Return the upper edge and the height of the band of a package; `packages` are those of the rows."""
    tops = [top for top, owner in zip(layout.tops, packages, strict=True) if owner == package]
    return tops[0] - _TITLE, tops[-1] - tops[0] + BOX_HEIGHT + _TITLE + 12


def _band(y: float, height: float, width: float) -> str:
    return f'<rect class="band" x="4" y="{y:g}" width="{width - 8:g}" height="{height:g}" rx="8" fill="{_BAND}"/>'


def _title(package: str, y: float) -> str:
    # Lines that pass must not strike it through.
    halo = f'stroke="{_BAND}" stroke-width="8" paint-order="stroke"'
    return f'<text x="16" y="{y + 18:g}" font-weight="bold" {halo}>{package}</text>'


def _box(name: str, place: Place) -> str:
    x = place.x + _MARGIN
    return (
        f'<rect class="box" x="{x - place.width / 2:g}" y="{place.top:g}" width="{place.width:g}" '
        f'height="{BOX_HEIGHT}" rx="5" fill="white" stroke="{_STROKE}"/>'
        f'<text x="{x:g}" y="{place.top + BOX_HEIGHT / 2 + 4:g}" text-anchor="middle">{escape(name)}</text>'
    )


def _arrow(points: list[tuple[float, float]]) -> str:
    """Draw a line down through points: straight beside the boxes of a row, bent between rows."""
    x, y = points[0]
    path = [f"M{x + _MARGIN:.1f} {y:g}"]
    for x2, y2 in points[1:]:
        bend = (y2 - y) / 2
        path.append(f"C{x + _MARGIN:.1f} {y + bend:g} {x2 + _MARGIN:.1f} {y2 - bend:g} {x2 + _MARGIN:.1f} {y2:g}")
        x, y = x2, y2
    return f'<path class="arrow" d="{" ".join(path)}" fill="none" stroke="{_LINE}" marker-end="url(#head)"/>'


def _svg(shapes: list[str], width: float, height: float) -> str:
    head = (
        '<defs><marker id="head" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        f'<path d="M0 0 L6 3 L0 6 z" fill="{_LINE}"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        f'font-size="13" fill="#1f2933" role="img"><title>Rooms of the code and imports between them</title>\n'
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>{head}\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def _write(app: Any) -> None:
    (Path(app.srcdir) / "_static" / "rooms.svg").write_text(draw(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Draw the picture before Sphinx reads the pages."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
