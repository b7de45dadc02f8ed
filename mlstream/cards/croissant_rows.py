"""Rows of a published stream as record sets of Croissant, by which loaders read its Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from mlstream.cards.front_matter import PARQUET
from mlstream.cards.limits import has_unknown_labels
from mlstream.cards.row_columns import feature_columns, has_masks, role_columns
from mlstream.streams.card_model import StreamCard

Record: TypeAlias = dict[str, Any]
Columns: TypeAlias = list[tuple[str, Record]]

_ROWS = {"train": "Rows to learn from, in stream order", "test": "Rows held out, task after task"}
_CELLS = ". A label is 1 (present), 0 (absent) or null (unknown)."
_LISTS = ". Labels are the numbers of those present, indices those of the features stored, from 0."
_INTEGER: Record = {"dataType": "sc:Integer"}
_TEXT: Record = {"dataType": "sc:Text"}
_NUMBER: Record = {"dataType": "sc:Float"}
_LABEL: Record = {"dataType": ["sc:Integer", "cr:Label"]}
_LIST: Record = {"isArray": True, "arrayShape": "-1"}
_ROLES = {"experience": _INTEGER, "task": _TEXT, "row": _INTEGER, "mask": _INTEGER}
# pandas, which mlcroissant reads Parquet with, adds a column of one of these names.
_ADDED = {"index", "level_0"}


def list_rows(card: StreamCard) -> Iterator[Record]:
    """Describe the Parquet files of a stream in JSON-LD, a record set each.

    A record set has a field per column, or lists where the stream is sparse. A dense stream with a column that has no
    name has none, because no field can refer to it.
    """
    columns = _list_columns(card)
    names = {name for name, _ in columns}
    files = {file.name for file in card.files}
    if "" not in names and not names >= _ADDED:
        yield from (
            _describe_rows(card, split, file, columns) for split, file in PARQUET["default"].items() if file in files
        )


def _describe_rows(card: StreamCard, split: str, file: str, columns: Columns) -> Record:
    rows = file.removesuffix(".parquet")
    return {
        "@type": "cr:RecordSet",
        "@id": rows,
        "name": rows,
        "description": _ROWS[split] + (_LISTS if card.rows and card.rows.sparse else _CELLS),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{rows}/{number}",
                "name": name,
                **kind,
                "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
            }
            for number, (name, kind) in enumerate(columns)
        ],
    }


def _list_columns(card: StreamCard) -> Columns:
    """List the columns of the Parquet files with their types."""
    if card.rows is None:
        return []
    values = list(_list_lists(card)) if card.rows.sparse else list(_list_cells(card))
    roles = role_columns({name for name, _ in values}, has_masks=has_masks(card.rows))
    return [*((name, _ROLES[role]) for role, name in roles.items()), *values]


def _list_cells(card: StreamCard) -> Iterator[tuple[str, Record]]:
    yield from ((name, _LABEL) for name in card.label_names)
    yield from ((name, _NUMBER) for name in feature_columns(card.label_names, card.feature_names))


def _list_lists(card: StreamCard) -> Iterator[tuple[str, Record]]:
    yield "labels", {**_LABEL, **_LIST}
    if has_unknown_labels(card):
        yield "unknown_labels", {**_INTEGER, **_LIST}
    yield from (("indices", {**_INTEGER, **_LIST}), ("values", {**_NUMBER, **_LIST}))
