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
from tools.house import House, internal_with_sections

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


# Names that no `__all__` lists, but users read about, and where.
SHOWN = {"estimators.detectors.make_detector": "docs/api/drift.rst"}


def test_only_public_names_have_sections():
    assert set(internal_with_sections(House(ROOT))) == set(SHOWN)
