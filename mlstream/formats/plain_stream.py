"""Streams as ARFF or CSV: plain rows that any reader takes, and a card that says where experiences begin.

``x.arff`` (or ``x.arff.gz``) holds the rows to learn from in stream order, ``x.evaluation.arff`` the held-out rows,
task after task, and ``x.card.json`` the card with whatever plain rows cannot hold. Dense rows can also be
``x.train.csv`` and ``x.test.csv`` (or ``.csv.gz``): libraries that find splits by name take them for what they are.
Keys of rows are the last columns of CSV; ARFF stays plain, and ``x.keys.csv`` and ``x.evaluation.keys.csv`` hold them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError, UnpackedFile, show
from mlstream._support.files import atomic_paths
from mlstream.formats.csv_dialects import OWN
from mlstream.formats.flat import BY_ROW, FlatParts, FlatStream, flatten, restore, to_masks
from mlstream.formats.key_files import describe_types, keys_path, parse_keys, read_beside, write_keys
from mlstream.formats.table_io import (
    card_path,
    describe_file,
    evaluation_path,
    find_format,
    read_tables,
    require_card,
    require_layout,
    require_listed,
    write_table,
)
from mlstream.streams.card_model import PartCard, RowsCard, StreamCard
from mlstream.streams.keys import Keys
from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import Features, Index, Stream
from mlstream.streams.tables.columns import BY_DEFAULT, require_complete
from mlstream.streams.tables.table import Column, Table, gather
from mlstream.streams.tables.text_columns import code_values

# Eighteen digits fit into 64 bits.
_RANGES = re.compile(r"(?:-?\d{1,18}(?:\.\.-?\d{1,18})?(?: (?!$)|$))*", re.ASCII)
_REPEATS = re.compile(r"(?:\d{1,18}\*\d{1,18}(?: (?!$)|$))*", re.ASCII)


def save_tables(stream: Stream, path: str | os.PathLike[str]) -> None:
    """Write a stream as two tables and a card, with two files of keys beside ARFF, all of them or none, the card last.

    `path` is for the rows to learn from, packed if it ends in .gz; the others go beside it, and files that exist are
    replaced. Raises ValueError if X is not finite, not of float32 or float64, or dense in some parts and sparse in
    others, or the format cannot hold it.
    """
    path, flat = Path(path), flatten(stream)
    tables = path, evaluation_path(path)
    # Readers of ARFF know features and labels only.
    beside = tuple(map(keys_path, tables)) if flat.card.keys and _is_arff(path) else ()
    with atomic_paths(*tables, *beside, card_path(path)) as (learning, evaluation, *keys, card):
        _write(flat, flat.learning, flat.card.name, learning, path.name)
        _write(flat, flat.evaluation, f"{flat.card.name} evaluation", evaluation, path.name)
        for file, rows in zip(keys, (flat.learning, flat.evaluation), strict=False):
            write_keys(file, cast(Keys, rows.keys))
        written = zip((learning, evaluation, *keys), (*tables, *beside), strict=True)
        files = [describe_file(file, final.name) for file, final in written]
        whole = flat.card.model_copy(update={"files": files, "rows": _describe_rows(flat)})
        card.write_text(whole.model_dump_json(indent=1), encoding="utf-8")


def load_tables(path: str | os.PathLike[str]) -> Stream:
    """Read a stream that `save_tables` wrote: equal array by array and type by type.

    Raises FileNotFoundError if the card or the file of held-out rows is not beside `path`; FormatError if a file is not
    the one that the card lists, or they do not fit each other.
    """
    path = Path(path)
    card = require_card(path)
    try:
        return restore(_combine(card, require_layout(card), _read(path, card), _read(evaluation_path(path), card)))
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{card_path(path)}: {error}") from None


def _write(flat: FlatStream, rows: FlatParts, title: str, path: Path, name: str) -> None:
    card, keys = flat.card, None if _is_arff(Path(name)) else rows.keys
    write_table(path, name, (rows.X, rows.Y), (card.feature_names, card.label_names), title, card.feature_values, keys)


def _is_arff(path: Path) -> bool:
    return find_format(path, BY_DEFAULT) == "arff"


def _read(path: Path, card: StreamCard) -> Table:
    require_listed(path, card)
    if card.keys and _is_arff(path):
        require_listed(keys_path(path), card)
    # CSV holds codes, and ARFF their words.
    is_arff = _is_arff(path)
    words = {name: code_values(Column(name, values)) for name, values in card.feature_values.items() if is_arff}
    with UnpackedFile(path) as file:
        tables = read_tables(path, file, dialect=OWN._replace(keys=tuple(card.keys)), words=words)
        table = gather(read_beside(path, tables) if is_arff and card.keys else tables)
    if table.names != (*card.label_names, *card.feature_names):
        raise FormatError(f"{path} must have the columns that its card lists: labels, then features. Got others.")
    require_complete(table, range(len(card.label_names), len(table.columns)))
    return table


def _describe_rows(flat: FlatStream) -> RowsCard:
    X = flat.learning.X
    return RowsCard(
        dtype="float32" if X.dtype == np.float32 else "float64",
        sparse=sparse.issparse(X),
        has_unknown=any(rows.Y.dtype != np.uint8 for rows in (flat.learning, flat.evaluation)),
        masks=[np.flatnonzero(mask).tolist() for mask in flat.masks],
        experiences=_describe_parts(flat.learning),
        evaluation_sets=_describe_parts(flat.evaluation),
        key_types={} if flat.learning.keys is None else describe_types(flat.learning.keys),
    )


def _describe_parts(rows: FlatParts) -> list[PartCard]:
    return [
        PartCard(
            row_ids=format_ranges(rows.row_ids[start:stop]),
            task_ids=format_repeats(rows.task_ids[start:stop]),
            mask=format_repeats(rows.mask_ids[start:stop]) if mask == BY_ROW else mask,
        )
        for mask, (start, stop) in zip(rows.part_mask_ids.tolist(), pairwise(rows.offsets.tolist()), strict=True)
    ]


def _combine(card: StreamCard, layout: RowsCard, learning: Table, evaluation: Table) -> FlatStream:
    n_labels = len(card.label_names)
    return FlatStream(
        to_masks([task.signature for task in card.tasks], n_labels),
        to_masks(layout.masks, n_labels),
        _to_parts(learning, n_labels, layout, layout.experiences, [part.n_samples for part in card.experiences]),
        _to_parts(evaluation, n_labels, layout, layout.evaluation_sets, [task.n_evaluation for task in card.tasks]),
        card.model_copy(update={"files": [], "rows": None}),
    )


def _to_parts(
    table: Table, n_labels: int, layout: RowsCard, parts: Sequence[PartCard], sizes: Sequence[int]
) -> FlatParts:
    if len(parts) != len(sizes):
        raise ValueError(f"there must be {len(sizes)} lists of rows for {table.path.name}. Got {len(parts)}.")
    if sum(sizes) != len(table.lines):
        raise ValueError(f"there must be {sum(sizes)} rows in {table.path.name}. Got {len(table.lines)}.")
    X, Y = table.cells[:, n_labels:].astype(layout.dtype), table.cells[:, :n_labels]
    features: Features = sparse.csr_array(X) if layout.sparse else np.asarray(X)
    masks = [
        np.full(size, part.mask) if isinstance(part.mask, int) else parse_repeats(part.mask or "", size)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return FlatParts(
        features,
        as_indicator(Y.toarray() if sparse.issparse(Y) else Y, f"the labels of {table.path.name}"),
        _join(parse_repeats(part.task_ids or "", size) for part, size in zip(parts, sizes, strict=True)),
        _join(parse_ranges(part.row_ids or "", size) for part, size in zip(parts, sizes, strict=True)),
        _join(masks),
        np.array([part.mask if isinstance(part.mask, int) else BY_ROW for part in parts]),
        np.cumsum([0, *sizes]),
        parse_keys(_key_columns(table, layout), layout.key_types) if layout.key_types else None,
    )


def _key_columns(table: Table, layout: RowsCard) -> dict[str, np.ndarray]:
    # A table without rows has none of keys either.
    return dict(table.keys) or {name: np.empty(0, dtype=object) for name in layout.key_types}


def _join(parts: Iterable[Index]) -> Index:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def format_ranges(values: Index) -> str:
    """Write integers, each stretch of consecutive ones as ``first..last``.

    >>> format_ranges(np.array([3, 4, 5, 9, -2, -1]))
    '3..5 9 -2..-1'
    """
    if not len(values):
        return ""
    cuts = np.flatnonzero(np.diff(values) != 1) + 1
    firsts, lasts = values[np.r_[0, cuts]], values[np.r_[cuts, len(values)] - 1]
    pairs = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return " ".join(str(first) if first == last else f"{first}..{last}" for first, last in pairs)


def parse_ranges(text: str, n_values: int) -> Index:
    """Read what `format_ranges` wrote.

    Raises ValueError if the text is nothing that `format_ranges` writes, or, before memory is taken, if there are not
    `n_values` integers.
    """
    _require(_RANGES, text)
    pairs = [run.partition("..") for run in text.split()]
    firsts = [int(first) for first, _, _ in pairs]
    lengths = [int(last or first) - int(first) + 1 for first, _, last in pairs]
    first_of_each = _repeat(firsts, lengths, n_values)
    steps = np.array(lengths, dtype=np.int64)
    return first_of_each + np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)


def format_repeats(values: Index) -> str:
    """Write integers that are not negative, each stretch of equal ones as ``value*length``.

    >>> format_repeats(np.array([2, 2, 2, 0]))
    '2*3 0*1'
    """
    if not len(values):
        return ""
    cuts = np.flatnonzero(np.diff(values)) + 1
    starts = np.r_[0, cuts]
    lengths = np.diff(np.r_[starts, len(values)])
    return " ".join(f"{value}*{n}" for value, n in zip(values[starts].tolist(), lengths.tolist(), strict=True))


def parse_repeats(text: str, n_values: int) -> Index:
    """Read what `format_repeats` wrote; the arguments are those of `parse_ranges`."""
    _require(_REPEATS, text)
    pairs = [run.split("*") for run in text.split()]
    return _repeat([int(value) for value, _ in pairs], [int(length) for _, length in pairs], n_values)


def _require(pattern: re.Pattern[str], text: str) -> None:
    if not pattern.fullmatch(text):
        example = "3..5 9" if pattern is _RANGES else "2*350 0*10"
        raise ValueError(f"a list of numbers must look like {example}. Got {show(text)}.")


def _repeat(values: Sequence[int], lengths: Sequence[int], n_values: int) -> Index:
    if min(lengths, default=1) < 1 or sum(lengths) != n_values:
        raise ValueError(f"a list of numbers must have {n_values} entries. Got {sum(lengths)}.")
    return np.repeat(np.array(values, dtype=np.int64), np.array(lengths, dtype=np.int64))
