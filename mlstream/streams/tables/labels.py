"""The choice of the columns of a table that are labels."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from mlstream._support.content import FormatError, bare_path, show
from mlstream._support.files import did_you_mean
from mlstream.streams.card_model import ReadingCard, StreamCard
from mlstream.streams.tables.mulan import read_labels
from mlstream.streams.tables.table import Column, Table, find_columns, header_only

LabelRule: TypeAlias = int | Iterable[str] | str | os.PathLike[str] | None
PlainRule: TypeAlias = int | tuple[str, ...] | str | None

_MEKA = re.compile(r"(?<!\S)-C\s+(-?[0-9]{1,9})(?![\w.])")
# The parts of a table that MULAN's archives hold, with one label file for all three.
_PARTS = ("-train", "-test")
_WAY_OUT = "labels= or --labels decides: a number, names, or"

Item = TypeVar("Item")


class LabelColumns(NamedTuple):
    """The label columns of a table."""

    indices: list[int]
    parents: dict[str, str]


def normalise_rule(rule: LabelRule) -> PlainRule:
    """Convert a label rule of `load_dataset` to the form that cards hold; a path of an .xml file becomes a string.

    Raises ValueError if it is not a rule.
    """
    if rule is None or isinstance(rule, Integral):
        return None if rule is None else int(rule)
    if isinstance(rule, str | os.PathLike):
        if os.fspath(rule).lower().endswith(".xml"):
            return os.fspath(rule)
    elif isinstance(rule, Iterable):
        return tuple(map(str, rule))
    way_out = f"; labels={[rule]!r} names one column" if isinstance(rule, str) else ""
    raise ValueError(
        f"labels must be a number of columns, a list of names, or a MULAN .xml file. Got {rule!r}{way_out}."
    )


def choose_labels(
    table: Table, rule: PlainRule, card: StreamCard | None = None, tags: str | None = None
) -> LabelColumns:
    """Tell labels from features: indices in the order of the file, or of the names given, and parents of a hierarchy.

    The rule is the first n, or the last n if negative; names; MULAN's .xml file; or None: they are those of the card,
    else the outputs of a KEEL file, else those of the .xml file of the same name beside the table (for ``x-train`` and
    ``x-test``, also ``x.xml``), with which ``-C n`` in the title must agree, else of ``-C n``. Raises FormatError if
    the rule does not fit the table, nothing determines which columns are labels, or title and .xml disagree. With
    `tags`, the labels are in that column, and the rule names those wanted.
    """
    if tags is not None:
        if rule is not None and not isinstance(rule, tuple):
            raise ValueError(f"labels must be names of tags, or None for all of them, with tags=. Got {rule!r}.")
        return LabelColumns(find_columns(table.names, [tags], table.path, "tags= or --tags"), {})
    chosen = _find_rule(table, card) if rule is None else _apply(table, rule)
    if not 0 < len(chosen.indices) < len(table.columns):
        raise FormatError(
            f"{table.path}: labels must be some of the {len(table.columns)} columns, and features the others. "
            f"Got {len(chosen.indices)} labels."
        )
    return chosen


def choose_texts(
    names: Sequence[str], path: Path, rule: PlainRule, reading: ReadingCard, card: StreamCard | None = None
) -> Collection[str]:
    """Return which columns hold words as they are written: labels, if the options make labels of words."""
    if not reading.keeps_words:
        return ()
    head = header_only(path, list(map(Column, names)))
    return {names[place] for place in choose_labels(head, rule, card, reading.tags).indices}


def _find_rule(table: Table, card: StreamCard | None) -> LabelColumns:
    if card is not None:
        return LabelColumns(_find_names(table, card.label_names), card.label_parents)
    if table.label_names:
        return LabelColumns(_find_names(table, table.label_names), {})
    options, xml = _MEKA.search(table.relation.partition(":")[2]), _find_xml(table.path)
    titled = int(options.group(1)) if options else None
    if xml.is_file():
        return _read_beside(table, xml, titled)
    if titled is not None:
        _require_number(table, titled, len(table.file_names or table.names))
        return LabelColumns(_count_titled(table, titled), {})
    raise FormatError(
        f"{table.path}: labels must be given as a number of columns, names, or a MULAN .xml file. "
        f"Got no labels, and neither a card, nor -C in the title, nor {xml.name} names them; tags= or --tags names a "
        "column that lists them."
    )


def _find_xml(path: Path) -> Path:
    bare = bare_path(path)
    places = [bare.with_name(f"{bare.stem.removesuffix(part)}.xml") for part in ("", *_PARTS)]
    return next((place for place in places if place.is_file()), places[0])


def _read_beside(table: Table, xml: Path, titled: int | None) -> LabelColumns:
    """Read MULAN's file; filters of WEKA move columns, and leave the count of an older table in the title."""
    try:
        named = _apply(table, str(xml))
    except FormatError as error:
        way_out = f"{_WAY_OUT} another .xml file"
        raise FormatError(f"{error} It lies beside {table.path.name}; {way_out}.") from None
    counted = named.indices if titled is None else _count_titled(table, titled)
    if counted != named.indices:
        raise FormatError(
            f"{table.path}: -C {titled} in the title and {xml.name} must name the same labels. Got "
            f"{_describe(table, counted)} by -C, {_describe(table, named.indices)} by {xml.name}; "
            f"{_WAY_OUT} an .xml file such as {xml}."
        )
    return named


def _describe(table: Table, indices: Sequence[int]) -> str:
    """Count columns, and name the first and the last: two runs of columns that agree in these are the same."""
    if not indices:
        return "no column"
    first, last = show(table.names[indices[0]]), show(table.names[indices[-1]])
    return f"1 column ({first})" if len(indices) == 1 else f"{len(indices)} columns ({first} to {last})"


def _apply(table: Table, rule: int | tuple[str, ...] | str) -> LabelColumns:
    if isinstance(rule, int):
        _require_number(table, rule, len(table.columns))
        return LabelColumns(list(_cut(range(len(table.columns)), rule)), {})
    if isinstance(rule, tuple):
        return LabelColumns(_find_names(table, rule), {})
    return _apply_file(table, Path(rule))


def _apply_file(table: Table, path: Path) -> LabelColumns:
    names, parents = read_labels(path)
    known, there = set(table.names), table.file_names or table.names
    unknown = next((name for name in names if name not in known.union(there)), None)
    if unknown is not None:
        got = f"{show(unknown)}, which is not a column{did_you_mean(unknown, there)}"
        raise FormatError(f"{path} must name columns of {table.path.name}. Got {got}")
    # MULAN numbers labels by their columns, whatever the order of its file.
    parents = {name: parent for name, parent in parents.items() if known.issuperset((name, parent))}
    return LabelColumns(sorted(_find_names(table, [name for name in names if name in known])), parents)


def _require_number(table: Table, n_labels: int, width: int) -> None:
    if width < 2:
        raise FormatError(f"{table.path} must have at least two columns, of labels and of features. Got {width}.")
    if not 0 < abs(n_labels) < width:
        raise FormatError(f"{table.path}: the number of labels must be between 1 and {width - 1}. Got {n_labels}.")


def _cut(columns: Sequence[Item], n_labels: int) -> Sequence[Item]:
    """Return the first columns, or the last if negative; no more than there are."""
    return columns[:n_labels] if n_labels >= 0 else columns[n_labels:]


def _count_titled(table: Table, n_labels: int) -> list[int]:
    """Find the columns that MEKA counts, which may be columns that are left out."""
    places = {name: place for place, name in enumerate(table.names)}
    return [places[name] for name in _cut(table.file_names or table.names, n_labels) if name in places]


def _find_names(table: Table, names: Sequence[str]) -> list[int]:
    return find_columns(table.names, names, table.path, "labels")
