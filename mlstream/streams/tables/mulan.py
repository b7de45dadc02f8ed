"""The label files of MULAN: XML beside an ARFF file, where nested labels are a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from mlstream._support.content import FormatError, first_repeated, show
from mlstream._support.files import read_bounded

_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">"""

_MAX_BYTES = 64 * 2**20
# Deeper labels are not indented further: the file would grow with the square of the depth.
_DEEPEST_INDENT = 32


class Labels(NamedTuple):
    """The content of a label file."""

    names: tuple[str, ...]
    parents: dict[str, str]


def read_labels(path: Path) -> Labels:
    """Read all names of a label file in its order, and the parent of each nested label.

    Raises FormatError if the file is not MULAN's XML, or names a label twice.
    """
    pairs = _parse(path)
    names = tuple(name for name, _ in pairs)
    if not names or len(set(names)) < len(names):
        got = f"{show(str(first_repeated(names)))} twice" if names else "none"
        raise FormatError(f"{path} must name each label once. Got {got}.")
    return Labels(names, {name: parent for name, parent in pairs if parent is not None})


def format_labels(names: Sequence[str], parents: Mapping[str, str]) -> str:
    """Write the content of a label file: XML, in which children are nested in their parents."""
    lines = _format([name for name in names if name not in parents], _group_children(names, parents))
    return "\n".join([_HEAD, *lines, "</labels>", ""])


class _Reader:
    """Events of the XML parser, as pairs (label, parent)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[str | None] = []
        self.pairs: list[tuple[str, str | None]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag, name = tag.rpartition(" ")[2], attributes.get("name")
        if not self._open and tag != "labels":
            raise FormatError(f"{self._path} must be a MULAN label file, with the root <labels>. Got <{tag}>.")
        if self._open:
            if tag != "label" or name is None:
                raise FormatError(f'{self._path} must hold <label name="..."> only. Got <{tag}>.')
            self.pairs.append((name, self._open[-1]))
        self._open.append(name if self._open else None)

    def end(self, _: str) -> None:
        self._open.pop()

    def declare(self, *_: object) -> None:
        # MULAN's files declare nothing; declarations are where the attacks on XML readers live.
        raise FormatError(f"{self._path} must be a MULAN label file, without a document type. Got one.")


def _parse(path: Path) -> list[tuple[str, str | None]]:
    reader, parser = _Reader(path), expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = reader.declare
    try:
        content = read_bounded(path, _MAX_BYTES)
    except ValueError:
        raise FormatError(f"{path} must be a MULAN label file, of {_MAX_BYTES} bytes at most. Got more.") from None
    try:
        parser.Parse(content, True)
    except FormatError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        # Encodings that Python does not know, or that take several bytes, are not errors of the parser.
        raise FormatError(f"{path} must be a MULAN label file (XML). Got: {error}.") from None
    return reader.pairs


def _group_children(names: Sequence[str], parents: Mapping[str, str]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for name in names:
        if name in parents:
            children.setdefault(parents[name], []).append(name)
    return children


def _format(roots: Sequence[str], children: Mapping[str, Sequence[str]]) -> Iterator[str]:
    # With a list of what is to be written instead of recursion, which deep hierarchies would exhaust.
    pending = [(name, 1) for name in reversed(roots)]
    while pending:
        name, depth = pending.pop()
        # A depth below zero marks the end of a label.
        if depth < 0:
            yield f"{_indent(-depth)}</label>"
            continue
        below = children.get(name, ())
        yield f"{_indent(depth)}<label name={quoteattr(name)}>{'' if below else '</label>'}"
        if below:
            pending += [(name, -depth), *((child, depth + 1) for child in reversed(below))]


def _indent(depth: int) -> str:
    return " " * min(depth, _DEEPEST_INDENT)
