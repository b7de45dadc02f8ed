"""Count how large and how entangled the three packages are, and compare the figures with those of the last release.

``python tools/house.py`` prints each figure of the checkout beside the one in ``tools/house.json``, and exits with
status 1 where one is above its limit. ``--trips`` adds how many files and functions two calls go through, which it
makes with the packages that are installed. ``--trips --write`` stores all figures, at a release.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tools" / "house.json"
PACKAGES = ("metrics", "estimators", "mlstream")
LIMITS = {
    "packages with circular imports": 0,
    "imports by string outside __init__": 0,
    "internal names with numpydoc sections": 59,
}

Figures = dict[str, float]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# A module, and a name in it.
_Place = tuple[str, str]
_SECTION = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)


class Module(NamedTuple):
    """A file of a package: its path below the root, its number of lines, its syntax tree, and all nodes of the tree."""

    path: Path
    n_lines: int
    tree: ast.Module
    nodes: list[ast.AST]

    @property
    def is_init(self) -> bool:
        """Whether it is the `__init__` of a package."""
        return self.path.name == "__init__.py"


class House:
    """The modules of the three packages below a folder, by name, and which of them each one imports."""

    def __init__(self, root: Path) -> None:
        paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
        self.modules = dict(_read(path, root) for path in paths)
        self.n_lines = sum(module.n_lines for module in self.modules.values())
        # Wherever the import stands; and by a string, as in import_module("mlstream.data").
        self.imported = {name: set(self._imported(module)) for name, module in self.modules.items()}
        self.by_string = {name: {*_strings(module)} & {*self.modules} for name, module in self.modules.items()}

    def nodes(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """Return all nodes of these kinds."""
        return [node for module in self.modules.values() for node in module.nodes if isinstance(node, kinds)]

    def _imported(self, module: Module) -> Iterator[str]:
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.modules)
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name if name in self.modules else node.module for name in names)


def _read(path: Path, root: Path) -> tuple[str, Module]:
    text, place = path.read_text(encoding="utf-8"), path.relative_to(root)
    tree = ast.parse(text)
    name = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    return name, Module(place, len(text.splitlines()), tree, list(ast.walk(tree)))


def _strings(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Call) and _name(node.func) in {"import_module", "__import__"}:
            yield from (part.value for part in node.args[:1] if isinstance(part, ast.Constant))


def _name(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def count_lines(house: House) -> Figures:
    """Count files and lines, and how many of them are docstrings and imports."""
    documented = [node for node in house.nodes(ast.Module, ast.ClassDef, *FUNCTIONS) if ast.get_docstring(node)]
    docstrings = sum(node.body[0].end_lineno - node.body[0].lineno + 1 for node in documented)
    return {
        "files": len(house.modules),
        "lines": house.n_lines,
        "docstrings, % of lines": 100 * docstrings / house.n_lines,
        "import statements per 100 lines": 100 * len(house.nodes(*IMPORTS)) / house.n_lines,
    }


def count_in_functions(house: House) -> Figures:
    """Count how complex functions are, the imports in them, uses of `Any`, and who calls private functions."""
    functions = [list(ast.walk(node)) for node in house.nodes(*FUNCTIONS)]
    complexities = [1 + sum(map(_n_branches, nodes)) for nodes in functions]
    n_any = sum(_name(node) == "Any" for node in house.nodes(ast.Name, ast.Attribute))
    uses = [n for module in house.modules.values() for n in _uses_of_helpers(module)]
    return {
        "functions of complexity above 10, %": _percent([value > 10 for value in complexities]),
        "largest complexity": max(complexities, default=0),
        "imports in functions": len({node for nodes in functions for node in nodes if isinstance(node, IMPORTS)}),
        "uses of Any": n_any,
        "uses of Any per 1000 lines": 1000 * n_any / house.n_lines,
        "private functions used once in their file, %": _percent([n == 1 for n in uses]),
    }


def _n_branches(node: ast.AST) -> int:
    """Return what a node adds to McCabe's cyclomatic complexity."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return 1 + len(node.ifs) if isinstance(node, ast.comprehension) else int(isinstance(node, _BRANCHES))


def _uses_of_helpers(module: Module) -> list[int]:
    """Return for each private function and method of a module how often the module names it."""
    named = Counter(_name(node) for node in module.nodes if isinstance(node, ast.Name | ast.Attribute))
    return [named[node.name] for node in module.nodes if isinstance(node, FUNCTIONS) and re.match("_(?!_)", node.name)]


def _percent(values: list[bool]) -> float:
    return 100 * sum(values) / max(len(values), 1)


def count_places(house: House) -> Figures:
    """Count small files that a single file imports, modules at the roots, files in the largest folder, and arrows.

    A room is a folder or a module right in a package, its `__init__` included. An arrow leads from a room to another
    one that it imports, if only by string.
    """
    importers = Counter(name for names in house.imported.values() for name in names)
    small = [name for name, module in house.modules.items() if module.n_lines < 110 and not module.is_init]
    folders = Counter(module.path.parent for module in house.modules.values())
    rooms = {package: arrows_in(house, package) for package in ("mlstream", "estimators")}
    n_arrows = {package: sum(map(len, graph.values())) for package, graph in rooms.items()}
    return {
        "files below 110 lines with one importer": sum(importers[name] == 1 for name in small),
        **{f"modules at the root of {package}": folders[Path(package)] - 1 for package in rooms},
        "files in the largest folder": max(folders.values()),
        **{f"arrows between rooms of {package}": n_arrows[package] for package in rooms},
        **{f"arrows per room of {package}": n_arrows[package] / len(graph) for package, graph in rooms.items()},
    }


def count_limited(house: House) -> Figures:
    """Count what has a limit."""
    strings = [names for name, names in house.by_string.items() if not house.modules[name].is_init]
    packages = [name for name, module in house.modules.items() if module.is_init]
    n_circular = sum(_has_circle(arrows_in(house, package)) for package in packages)
    return dict(
        zip(LIMITS, (n_circular, sum(map(len, strings)), len(list(internal_with_sections(house)))), strict=True)
    )


def arrows_in(house: House, package: str) -> dict[str, set[str]]:
    """Return for each folder and module right in a package, and for the `__init__`, which others there it imports."""

    def room_of(name: str) -> str:
        return ".".join(name.split(".")[: package.count(".") + 2])

    inside = {name for name in house.modules if f"{name}.".startswith(f"{package}.")}
    graph: dict[str, set[str]] = defaultdict(set)
    for name in inside:
        found = (house.imported[name] | house.by_string[name]) & inside
        graph[room_of(name)] |= {room_of(other) for other in found} - {room_of(name)}
    return graph


def _has_circle(graph: Mapping[str, set[str]]) -> bool:
    left = dict(graph)
    while free := [room for room in left if not left.keys() & left[room]]:
        left = {room: left[room] for room in left if room not in free}
    return bool(left)


def internal_with_sections(house: House) -> Iterator[str]:
    """Yield functions, classes and methods with numpydoc sections that no `__all__` makes public.

    The public methods of an exported class are public, those that it inherits included.
    """
    nodes = {(name, node.name): node for name, module in house.modules.items() for node in _definitions(module.tree)}
    origins = {place: origin for place, origin in _origins(house).items() if place not in nodes}

    def follow(place: _Place) -> _Place:
        seen = {place}
        while (origin := origins.get(place, place)) not in seen:
            seen.add(origin)
            place = origin
        return place

    exported = {follow((name, each)) for name, module in house.modules.items() for each in _public_names(module)}
    lineages = list(exported)
    for place in lineages:
        bases = getattr(nodes.get(place), "bases", [])
        lineages += [follow((place[0], base.id)) for base in bases if isinstance(base, ast.Name)]
    for place, node in nodes.items():
        yield from _with_sections(node, ".".join(place), public=place in exported, methods=place in lineages)


def _definitions(parent: ast.AST) -> Iterator[_Definition]:
    """Yield functions and classes that are not inside another one, those below an `if` included."""
    for node in ast.iter_child_nodes(parent):
        yield from [node] if isinstance(node, (ast.ClassDef, *FUNCTIONS)) else _definitions(node)


def _origins(house: House) -> dict[_Place, _Place]:
    """Return where the names come from that modules import with ``from``, also under TYPE_CHECKING."""
    return {
        (name, alias.asname or alias.name): (node.module, alias.name)
        for name, module in house.modules.items()
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _public_names(module: Module) -> list[str]:
    """Return the names of `__all__`, and those imported as ``name as name``, which exports them."""
    lists = [node for node in module.tree.body if isinstance(node, ast.Assign) and _name(node.targets[0]) == "__all__"]
    aliases = [alias for node in module.nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    return [
        *(part.value for node in lists for part in ast.walk(node) if isinstance(part, ast.Constant)),
        *(alias.name for alias in aliases if alias.asname == alias.name),
    ]


def _with_sections(node: _Definition, place: str, *, public: bool, methods: bool) -> Iterator[str]:
    if not public and _SECTION.search(ast.get_docstring(node) or ""):
        yield place
    for child in _definitions(node):
        shown = methods and isinstance(node, ast.ClassDef) and not re.match("_(?!_init__$)", child.name)
        yield from _with_sections(child, f"{place}.{child.name}", public=shown, methods=shown)


def count_trips() -> Figures:
    """Count files and functions that a CSV file goes through to a `Dataset`, and a stream to the matrix R of a network.

    Each call is made twice, and counted the second time: what is imported and compiled once is no part of it.
    """
    from estimators import make_strategy
    from mlstream import evaluate, load_dataset, task_stream

    stream = task_stream("yeast", n_tasks=2, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        table.write_text("x,y,a,b\n" + "".join(f"0.{i},1.{i % 7},{i % 2},{i % 3 // 2}\n" for i in range(10, 99)))
        calls: dict[str, Callable[[], object]] = {
            "from CSV to Dataset": lambda: load_dataset(table, labels=-2),
            "from a stream to R": lambda: evaluate(make_strategy("NN"), stream),
        }
        figures: Figures = {}
        for name, call in calls.items():
            call()
            functions = trip(call)
            figures[f"files {name}"] = len({file for file, _ in functions})
            figures[f"functions {name}"] = len(functions)
    return figures


def trip(call: Callable[[], object], folders: tuple[str, ...] = PACKAGES) -> set[tuple[str, str]]:
    """Return file and name of every function that runs during a call, of those in folders with these names."""
    functions = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and {*folders} & {*Path(code.co_filename).parts}:
            functions.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return functions


def count(root: Path) -> Figures:
    """Return all figures of the packages below a folder, but for those of trips."""
    house = House(root)
    parts = (count_lines, count_in_functions, count_places, count_limited)
    return {name: round(value, 1) for part in parts for name, value in part(house).items()}


def table(now: Figures, before: Figures) -> str:
    """Return a line per figure: its name, its value in the last release and now, and the difference."""
    width = max(map(len, now))
    rows = [(name, before.get(name, float("nan")), value) for name, value in now.items()]
    head = f"{'figure':{width}}{'last release':>14}{'now':>9}{'difference':>12}"
    return "\n".join(
        [head, *(f"{name:{width}}{old:>14,}{new:>9,}{round(new - old, 1):>+12,}" for name, old, new in rows)]
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; return 1 if one is above its limit."""
    parser = argparse.ArgumentParser(description="Print the figures of the house, beside those of the last release.")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="the checkout")
    parser.add_argument("--trips", action="store_true", help="count files and functions of two calls, too")
    parser.add_argument("--write", action="store_true", help="store the figures as those of the last release")
    options = parser.parse_args(arguments)
    now = count(options.root) | (count_trips() if options.trips else {})
    if options.write:
        STORED.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    broken = [f"{name} must be at most {most}. Got {now[name]}." for name, most in LIMITS.items() if now[name] > most]
    print(table(now, json.loads(STORED.read_text(encoding="utf-8"))), *broken, sep="\n")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
