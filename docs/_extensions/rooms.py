"""Draw the rooms of the code and the imports between them, from the code itself, whenever the docs are built."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
PACKAGES = ("mlstream", "estimators", "metrics")
# What one room imports, by room; a room is a folder or a module right below a package: ("mlstream", "cards").
Room = tuple[str, str]
Graph = Mapping[Room, set[Room]]

_WIDTH, _HEIGHT, _GAP, _MARGIN = 132, 34, 14, 16
_ROW = 74
_TITLE = 26


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
    """Return the room of a file, given relative to the root; None for the `__init__` of a package."""
    package, place = file.parts[0], file.parts[1]
    return None if place == "__init__.py" else (package, place.removesuffix(".py"))


def read_layers(package: str, setup: Path = ROOT / "setup.cfg") -> list[list[str]]:
    """Return the layers of a package from the rules of imports, top first; one layer for a package without rules."""
    config = configparser.ConfigParser()
    config.read(setup, encoding="utf-8")
    for section in config.sections():
        if config.get(section, "containers", fallback="").strip() == package:
            lines = config.get(section, "layers").strip().splitlines()
            return [[name.strip() for name in line.replace(":", "|").split("|")] for line in lines]
    return []


def without_shortcuts(graph: Graph) -> dict[Room, set[Room]]:
    """Leave out imports that a longer way already shows, so that the picture can be read."""
    return {
        room: {other for other in others if not any(other in _reachable(graph, via) for via in others - {other})}
        for room, others in graph.items()
    }


def draw(root: Path = ROOT) -> str:
    """Draw every package as a band, its layers as rows and its rooms as boxes; return SVG."""
    graph = without_shortcuts(read_imports(root))
    rows = [(package, row) for package in PACKAGES for row in _rows(package, graph, root)]
    width = max(_row_width(row) for _, row in rows) + 2 * _MARGIN
    places, shapes, y = {}, [], 0.0
    for number, (package, row) in enumerate(rows):
        if number == 0 or rows[number - 1][0] != package:
            n_rows = sum(other == package for other, _ in rows)
            shapes.append(_band(package, y, width, _TITLE + n_rows * _ROW))
            y += _TITLE
        left = (width - _row_width(row)) / 2
        places |= {(package, name): (left + place * (_WIDTH + _GAP), y) for place, name in enumerate(row)}
        y += _ROW
        if number + 1 == len(rows) or rows[number + 1][0] != package:
            y += _MARGIN
    shapes += [_arrow(places[room], places[other]) for room in sorted(graph) for other in sorted(graph[room])]
    shapes += [_box(name, *place) for (_, name), place in places.items()]
    return _svg(shapes, width, y)


def _rows(package: str, graph: Graph, root: Path) -> list[list[str]]:
    rooms = sorted(name for owner, name in graph if owner == package)
    layers = read_layers(package, root / "setup.cfg") or [rooms]
    known = [[name for name in layer if name in rooms] for layer in layers]
    unknown = sorted(set(rooms) - {name for layer in known for name in layer})
    if unknown:
        raise ValueError(f"setup.cfg must place every room of {package} in a layer. Got no layer for {unknown}.")
    split = [layer[start : start + 7] for layer in known for start in range(0, len(layer), 7)]
    return [row for row in split if row]


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _room_named(name: str, rooms: set[Room]) -> Room | None:
    package, _, rest = name.partition(".")
    room = (package, rest.partition(".")[0])
    return room if room in rooms else None


def _reachable(graph: Graph, room: Room) -> set[Room]:
    found: set[Room] = set()
    waiting = [room]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def _row_width(row: Sequence[str]) -> float:
    return len(row) * (_WIDTH + _GAP) - _GAP


def _band(package: str, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="4" y="{y + 4:g}" width="{width - 8:g}" height="{height:g}" rx="8" fill="#eef3f8"/>'
        f'<text x="{_MARGIN}" y="{y + 22:g}" font-weight="bold">{package}</text>'
    )


def _box(name: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="white" stroke="#35618f"/>'
        f'<text x="{x + _WIDTH / 2:g}" y="{y + _HEIGHT / 2 + 4:g}" text-anchor="middle">{escape(name)}</text>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1 = start[0] + _WIDTH / 2, start[1] + _HEIGHT
    x2, y2 = end[0] + _WIDTH / 2, end[1] - 2
    bend = (y2 - y1) / 2
    path = f"M{x1:g} {y1:g} C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="#7c93ab" marker-end="url(#head)"/>'


def _svg(shapes: Sequence[str], width: float, height: float) -> str:
    head = (
        '<defs><marker id="head" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        '<path d="M0 0 L6 3 L0 6 z" fill="#7c93ab"/></marker></defs>'
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
