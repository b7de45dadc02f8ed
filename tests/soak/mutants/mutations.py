"""The mutants of a file: each differs from it in one place, as the operators of mutmut change it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

# Where `metrics`, `estimators` and `mlstream` lie: beside the tests, or where they are installed.
ROOT = next(Path(place).parent for place in find_spec("metrics").submodule_search_locations)
# What says nothing about behaviour, or what mypy checks; decorators are those of compiled code.
_SKIPPED = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.TypeAlias)


@dataclass(frozen=True)
class Mutant:
    """A file with one change.

    Parameters
    ----------
    path : Path
        The file.
    line, statement : int
        Where it changes, from 1, and where the statement begins.
    at_import : bool
        Whether this is run by import, and by no call.
    module, original, mutated : cst.Module, cst.CSTNode
        The file, the node that is replaced, and what replaces it.
    """

    path: Path
    line: int
    statement: int
    at_import: bool
    module: cst.Module
    original: cst.CSTNode
    mutated: cst.CSTNode

    @cached_property
    def source(self) -> str:
        """The file's text with the change."""
        changed = self.module.deep_replace(self.original, self.mutated)
        assert isinstance(changed, cst.Module)
        return changed.code

    @cached_property
    def change(self) -> tuple[str, str]:
        """The lines that differ, before and after, without the space around them."""
        before, after = self.module.code.splitlines(), self.source.splitlines()
        start = next(i for i, lines in enumerate(zip(before, after, strict=False)) if lines[0] != lines[1])
        end = 0
        while before[-1 - end] == after[-1 - end] and len(before) - end > start + 1 and len(after) - end > start + 1:
            end += 1
        return _join(before[start : len(before) - end]), _join(after[start : len(after) - end])


def find_mutants(path: Path) -> list[Mutant]:
    """List the mutants of a file, in its order.

    Texts of errors are not changed: what tests must know of them is their beginning. Other texts change once.
    """
    wrapper = MetadataWrapper(cst.parse_module(path.read_text(encoding="utf-8")))
    positions = wrapper.resolve(PositionProvider)
    return [
        Mutant(
            path,
            positions[node].start.line,
            positions[place.statement or node].start.line,
            place.at_import,
            wrapper.module,
            node,
            mutated,
        )
        for node, place in _walk(wrapper.module, _Place())
        for mutated in _mutate(node, place)
        if not _is_for_checkers(node, mutated)
    ]


@dataclass(frozen=True)
class _Place:
    """Where a node stands: in which statement, in a text that is raised, or in what is run by import only."""

    statement: cst.CSTNode | None = None
    in_message: bool = False
    at_import: bool = True


def _mutate(node: cst.CSTNode, place: _Place) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.BaseString):
        # Letter case and marks around it are one and the same question: does any test look at this text?
        yield from [] if place.in_message else list(_apply(node))[:1]
    else:
        yield from _apply(node)


def _apply(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            yield from operator(node)


def _walk(node: cst.CSTNode, place: _Place) -> Iterator[tuple[cst.CSTNode, _Place]]:
    """Walk over the nodes that may change."""
    if isinstance(node, _SKIPPED) or _is_docstring(node) or _is_alias(node) or _is_strict(node):
        return
    if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        place = replace(place, statement=node)
    place = replace(place, in_message=place.in_message or isinstance(node, cst.Raise))
    yield node, place
    for child in _children(node):
        is_body = isinstance(node, cst.FunctionDef | cst.Lambda) and child is node.body
        yield from _walk(child, replace(place, at_import=False) if is_body else place)


def _children(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Return the parts of a node; of a cast without the type."""
    of_type = node.args[0] if isinstance(node, cst.Call) and _name(node.func) == "cast" else None
    return [child for child in node.children if child is not of_type]


def _is_alias(node: cst.CSTNode) -> bool:
    """Return whether a statement names a type."""
    if isinstance(node, cst.Assign):
        name = _name(node.targets[0].target)
        return isinstance(node.value, cst.Subscript) and name[:1].isupper() and not name.isupper()
    return isinstance(node, cst.AnnAssign) and _name(node.annotation.annotation) == "TypeAlias"


def _is_strict(node: cst.CSTNode) -> bool:
    """Return whether an argument of `zip` asserts what is so."""
    return isinstance(node, cst.Arg) and _name(node.keyword) == "strict"


def _is_for_checkers(node: cst.CSTNode, mutated: cst.CSTNode) -> bool:
    """Return whether a call changes only in what is an assertion, or for mypy: `strict` of zip, the type of cast."""
    if not (isinstance(node, cst.Call) and isinstance(mutated, cst.Call)):
        return False
    return _name(node.func) in {"zip", "cast"} and _values(node) == _values(mutated)


def _values(call: cst.Call) -> list[str]:
    arguments = call.args[1:] if _name(call.func) == "cast" else call.args
    return [cst.Module([]).code_for_node(one.value) for one in arguments if not _is_strict(one)]


def _name(node: cst.CSTNode | None) -> str:
    return node.value if isinstance(node, cst.Name) else ""


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString)


def _join(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)
