"""Docstrings of public names have numpydoc sections, which list what there is; no other docstring has sections.

"Parameters" lists the parameters of the signature; "Attributes" of a tuple or dataclass lists fields and properties.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import estimators
import metrics
import mlstream

# Where the packages are imported from.
ROOT = Path(mlstream.__file__).parents[1]
PACKAGES = [Path(package.__file__).parent for package in (metrics, estimators, mlstream)]


def listed(docstring: str, title: str) -> set[str]:
    """Return the names that a numpydoc section lists."""
    lines = [*docstring.splitlines(), ""]
    names: set[str] = set()
    if title not in lines:
        return names
    begin = lines.index(title) + 2
    for line, below in zip(lines[begin:], lines[begin + 1 :], strict=False):
        if below and set(below) == {"-"}:
            break
        if line and not line.startswith(" "):
            names |= {name.strip(" *") for name in line.split(" :")[0].split(",")}
    return names


def arguments(function: ast.FunctionDef) -> set[str]:
    """Return the names of the parameters of a function."""
    return {child.arg for child in ast.walk(function.args) if isinstance(child, ast.arg)} - {"self", "cls"}


def lineage(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """Return a class and its bases, nearest first."""
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return [node, *(ancestor for base in bases for ancestor in lineage(base, classes))]


def constructor(kin: list[ast.ClassDef]) -> ast.FunctionDef | None:
    """Return the constructor that a class has or inherits; a tuple or dataclass has none that is written out."""
    children = (child for node in kin for child in node.body if isinstance(child, ast.FunctionDef))
    return next((child for child in children if child.name == "__init__"), None)


def fields(kin: list[ast.ClassDef]) -> set[str]:
    """Return the names of the annotated fields of a class and of its bases."""
    return {child.target.id for node in kin for child in node.body if isinstance(child, ast.AnnAssign)}


def is_record(kin: list[ast.ClassDef]) -> bool:
    """Return whether a class is a named tuple or a dataclass."""
    words = [ast.unparse(part) for node in kin for part in [*node.bases, *node.decorator_list]]
    return any(word == "NamedTuple" or word.startswith("dataclass") for word in words)


def compare(sources: dict[str, str]) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield the place of each section, the names that it lists, and the names that it must list."""
    nodes = [(name, node) for name, source in sources.items() for node in ast.walk(ast.parse(source))]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    for name, node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        docstring, place = ast.get_docstring(node) or "", f"{name}:{node.lineno} {node.name}"
        kin = lineage(node, classes) if isinstance(node, ast.ClassDef) else []
        function = constructor(kin) if kin else node
        if given := listed(docstring, "Parameters"):
            yield place, given, arguments(function) if function else fields(kin)
        if is_record(kin) and (given := listed(docstring, "Attributes")):
            properties = {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
            yield place, given - properties, fields(kin)


# To parse all files takes seconds.
@pytest.mark.slow
def test_sections_list_what_there_is():
    files = [file for package in PACKAGES for file in sorted(package.rglob("*.py"))]
    found = list(compare({str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}))
    wrong = [f"{place}: {sorted(given ^ names)}" for place, given, names in found if given != names]
    assert not wrong, "\n".join(wrong)
    assert len(found) > 200


def stated_defaults(docstring: str) -> Iterator[tuple[str, object]]:
    """Yield the parameters of a numpydoc text whose defaults stand there, with the defaults."""
    for listed_names, text in re.findall(r"^(\w[\w, ]*) : .*\bdefault=(.+)$", docstring, re.MULTILINE):
        names, value = listed_names.split(", "), ast.literal_eval(text)
        # "a, b : float, default=0.1, 0.2"
        each = len(names) > 1 and isinstance(value, tuple)
        yield from zip(names, value if each else [value] * len(names), strict=True)


def test_a_default_that_is_stated_is_the_one_of_the_signature():
    things = [getattr(package, name) for package in (metrics, estimators, mlstream) for name in package.__all__]
    stated = {thing: dict(stated_defaults(inspect.getdoc(thing) or "")) for thing in things if callable(thing)}
    wrong = [
        f"{thing.__qualname__}: {name} is {parameter.default!r}, not {defaults[name]!r}"
        for thing, defaults in stated.items()
        if defaults
        for name, parameter in inspect.signature(thing).parameters.items()
        if name in defaults and parameter.default != defaults[name]
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(map(len, stated.values())) > 100


DOCSTRING = "'''Do.\n\n    {}\n    ----------\n    {}\n        Both.\n    '''"
CODE = {
    "function": f"def _f(a, *, b=0):\n    {DOCSTRING}",
    "class": f"class _C:\n    {DOCSTRING}\n    def __init__(self, a, b): ...",
    "fields": f"class _Base(NamedTuple):\n    a: int\nclass _C(_Base):\n    {DOCSTRING}\n    b: int",
}


@pytest.mark.parametrize(
    ("code", "title"),
    [("function", "Parameters"), ("class", "Parameters"), ("fields", "Parameters"), ("fields", "Attributes")],
)
def test_missing_and_unknown_names_are_found(code, title):
    for entry in ("a, b", "a", "a, b, c"):
        ((_, given, names),) = compare({"file": CODE[code].format(title, f"{entry} : int")})
        assert names == {"a", "b"}
        assert (given == names) == (entry == "a, b")


DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
TITLES = "Parameters|Other Parameters|Attributes|Methods|Returns|Yields|Raises|Warns|See Also|Notes|References|Examples"
SECTION = re.compile(rf"^ *({TITLES})\n *-{{3,}}$", re.MULTILINE)
# Names that no `__all__` lists, but users read about, and where.
SHOWN = {"estimators.detectors.make_detector": "docs/api/drift.rst"}

# A module, and a name in it.
Place = tuple[str, str]


def imports(trees: dict[str, ast.Module]) -> dict[Place, Place]:
    """Return where the names come from that modules import with ``from``, also under TYPE_CHECKING."""
    nodes = [(module, node) for module, tree in trees.items() for node in ast.walk(tree)]
    return {
        (module, alias.asname or alias.name): (node.module, alias.name)
        for module, node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def exports(trees: dict[str, ast.Module]) -> set[Place]:
    """Return the names that modules list in an `__all__`."""
    assigned = [(module, node) for module, tree in trees.items() for node in tree.body if isinstance(node, ast.Assign)]
    lists = [(module, node.value) for module, node in assigned if ast.unparse(node.targets[0]) == "__all__"]
    return {(module, name) for module, names in lists for name in ast.literal_eval(names)}


def definitions(node: ast.AST) -> Iterator[DEFINITION]:
    """Yield the functions and classes in a node that are not inside another one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITION):
            yield child
        else:
            yield from definitions(child)


def sections(node: DEFINITION, place: str, *, public: bool, methods: bool) -> Iterator[str]:
    """Yield the places of a node and of those in it that have sections, unless they are public."""
    if not public and SECTION.search(ast.get_docstring(node) or ""):
        yield place
    for child in definitions(node):
        shown = methods and isinstance(node, ast.ClassDef) and not re.match("_(?!_init__$)", child.name)
        yield from sections(child, f"{place}.{child.name}", public=shown, methods=shown)


def internal_sections(sources: dict[str, str]) -> set[str]:
    """Return the functions, classes and methods that have sections though no `__all__` exports them.

    The public methods of an exported class are exported, those that it inherits included.
    """
    trees = {module: ast.parse(source) for module, source in sources.items()}
    nodes = {(module, node.name): node for module, tree in trees.items() for node in definitions(tree)}
    origins = {place: origin for place, origin in imports(trees).items() if place not in nodes}

    def follow(place: Place) -> Place:
        seen = set()
        while place in origins and place not in seen:
            seen.add(place)
            place = origins[place]
        return place

    exported = set(map(follow, exports(trees)))
    lineages = list(exported)
    for place in lineages:
        bases = getattr(nodes.get(place), "bases", [])
        lineages += [follow((place[0], base.id)) for base in bases if isinstance(base, ast.Name)]
    return {
        found
        for place, node in nodes.items()
        for found in sections(node, ".".join(place), public=place in exported, methods=place in lineages)
    }


def module_of(file: Path) -> str:
    """Return the name of the module that a file holds."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_only_public_names_have_sections():
    texts = {file: file.read_text(encoding="utf-8") for package in PACKAGES for file in package.rglob("*.py")}
    # To parse all files would take seconds.
    sources = {module_of(file): text for file, text in texts.items() if "__all__" in text or SECTION.search(text)}
    assert internal_sections(sources) == set(SHOWN)


def test_sections_of_names_that_are_not_public_are_found():
    words = '"""Do.\n\n{0}Returns\n{0}-------\n{0}int\n{0}"""\n'
    body, deeper = words.format("    "), words.format(" " * 8)

    def function(name: str) -> str:
        return f"def {name}():\n    {body}"

    def method(name: str) -> str:
        return f"    def {name}(self):\n        {deeper}"

    sources = {
        "package": "if TYPE_CHECKING:\n    from package.home import shown, Shown as C\n__all__ = ['shown', 'C']",
        "package.home": f"from package.base import Base\n{function('shown')}{function('hidden')}"
        f"class Shown(Base):\n    {body}{method('__init__')}{method('method')}{method('_method')}",
        "package.base": f"class Base:\n    {body}{method('inherited')}{method('_inherited')}"
        f"class Other:\n{method('method')}",
    }
    assert internal_sections(sources) == {
        "package.home.hidden",
        "package.home.Shown._method",
        "package.base.Base",
        "package.base.Base._inherited",
        "package.base.Other.method",
    }
