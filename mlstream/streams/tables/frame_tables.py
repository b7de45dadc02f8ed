"""Columns in memory as tables: those of data frames, and arrays of numbers, truth values, words or dates."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, at, first_repeated, show
from mlstream._support.reading import ReadingOptions
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import (
    MAX_EXACT,
    Features,
    Frame,
    column_names,
    is_frame,
    is_of_float32,
    is_sparse,
    iter_columns,
    read_sparse,
    take_columns,
)
from mlstream.streams.frames import Column as FrameColumn
from mlstream.streams.keys import to_objects
from mlstream.streams.tables.columns import BY_DEFAULT, Parted, make_reading, part
from mlstream.streams.tables.labels import LabelRule, choose_labels, normalise_rule
from mlstream.streams.tables.table import (
    Column,
    Table,
    find_columns,
    header_only,
    kept_columns,
    mark_missing,
    nominal,
    without_keys,
)
from mlstream.streams.tables.text_columns import (
    DATES,
    EXACT,
    IGNORE,
    TextColumn,
    Words,
    join_tags,
    missing_words,
    read_texts,
)

_FOR_FILES = ("separator", "decimal", "header", "n_features", "format")
# Cells that only Python has a notation for.
_NO_CELLS = (bytes, complex, list, tuple, set, frozenset, dict, np.ndarray)


def read_frame(frame: Frame, labels: LabelRule, name: str, options: ReadingOptions) -> tuple[Parted, dict[str, str]]:
    """Read a data frame, as `Dataset.from_frame` does, and the parents of its labels; the errors are the same."""
    reading = _require_in_memory(options)
    _require_frame(frame, labels, reading)
    rule = normalise_rule(labels)
    all_names = column_names(frame)
    keyed = find_columns(all_names, reading.keys, Path(name), "keys=")
    keys = _read_keys(frame, keyed)
    kept = without_keys(all_names, kept_columns(all_names, reading.ignore, Path(name)), keyed, reading.time)
    frame, names = take_columns(frame, kept), tuple(all_names[place] for place in kept)
    head = header_only(Path(name), list(map(Column, names)))
    places, parents = choose_labels(head, rule, tags=reading.tags)
    if not len(frame):
        raise FormatError(f"{name} must hold at least one row. Got 0.")
    features = take_columns(frame, _other_columns(names, places, keys))
    is_csr = is_sparse(features)
    texts = [names[place] for place in places] if reading.keeps_words else ()
    table = _tabulate_sparse(frame, name, reading) if is_csr else _tabulate_frame(frame, name, reading, texts)
    table = replace(table, keys=keys)
    parted = part(table, places, reading, rule if reading.tags and isinstance(rule, tuple) else ())
    kind = np.float32 if is_of_float32(features) else np.float64
    X: Features = sparse.csr_array(parted.X) if is_csr else parted.X
    return parted._replace(X=X.astype(kind, copy=False)), parents


def _other_columns(names: Sequence[str], places: Sequence[int], keys: Collection[str]) -> list[int]:
    """Return the places of columns that hold neither labels nor keys."""
    return [place for place, name in enumerate(names) if place not in set(places) and name not in keys]


def _read_keys(frame: Frame, places: Sequence[int]) -> dict[str, np.ndarray]:
    """Read the columns of keys; lists keep whole numbers beside missing ones, which arrays of floats round."""
    columns = iter_columns(take_columns(frame, places)) if places else ()
    return {str(column.name): to_objects(column.to_list()) for column in columns}


def _require_frame(frame: object, labels: LabelRule, reading: ReadingCard) -> None:
    if not is_frame(frame):
        raise TypeError(
            f"frame must be a data frame of pandas, polars or pyarrow. Got {type(frame).__name__} instead; "
            "Dataset(X, Y) takes arrays."
        )
    if labels is None and reading.tags is None:
        raise ValueError(
            "labels must name the label columns of a frame, as in Dataset.from_frame(frame, labels=[...]). Got None."
        )


def tabulate(
    names: Sequence[str],
    columns: Sequence[npt.ArrayLike],
    title: str,
    reading: ReadingCard = BY_DEFAULT,
    texts: Collection[str] = (),
) -> Table:
    """Put columns side by side as a table, which `part` divides into features and labels.

    Columns hold numbers, booleans, strings or dates; None, NaN, NaT, NA and words such as NA are missing values.
    Booleans, and columns of the words true and false or yes and no, are 0 and 1; other words are nominal columns, their
    values in alphabetical order; those called in `texts` hold words whatever they look like. Errors call the table
    `title` and number its rows from 1. Raises FormatError if names repeat, or a column holds infinity, more different
    words than columns of words may, or dates that do not become numbers.
    """
    path = Path(title)
    if not names or len(set(names)) < len(names):
        got = f"{show(str(first_repeated(names)))} twice" if names else "no column"
        raise FormatError(f"{path} must have columns with different names. Got {got}.")
    read = [
        read_array(name, np.asarray(column), path, reading, are_texts=name in texts)
        for name, column in zip(names, columns, strict=True)
    ]
    cells = np.column_stack([cells for _, cells in read])
    table = Table(path, tuple(column for column, _ in read), cells, np.arange(1, len(cells) + 1), unit="row")
    return next(mark_missing([table], reading.missing_words or ()))


def read_columns(
    names: Sequence[str], columns: Sequence[npt.ArrayLike], labels: tuple[str, ...], options: ReadingOptions
) -> Parted:
    """Read columns in memory, as `tabulate` and `part` do."""
    reading = _require_in_memory(options, "tags", "tag_separator", "keys")
    kept = kept_columns(names, reading.ignore, Path("table"))
    labels = tuple(name for name in labels if name not in reading.ignore)
    texts = labels if reading.keeps_words else ()
    table = tabulate([names[place] for place in kept], [columns[place] for place in kept], "table", reading, texts)
    return part(table, choose_labels(table, labels).indices, reading)


def _require_in_memory(options: ReadingOptions, *others: str) -> ReadingCard:
    wrong = [
        option for option in ("separator", "decimal", "header", "n_features", "format", *others) if option in options
    ]
    if wrong:
        raise ValueError(f"{', '.join(wrong)} must be left out for {'arrays' if others else 'a frame'}.")
    return make_reading(**options)


def read_array(
    name: str, values: np.ndarray, path: Path, reading: ReadingCard, n_before: int = 0, *, are_texts: bool = False
) -> tuple[Column, npt.NDArray[np.float64]]:
    """Read a column, as `tabulate` does; `n_before` rows lie before it."""
    if name == reading.tags:
        values = to_objects([join_tags(value, reading.tag_separator) for value in values])
    if values.dtype.kind in "mM":
        return _read_times(name, values, path, reading)
    if values.dtype.kind in "biuf":
        return Column(name), _require_numbers(name, values, path, n_before)
    is_known = np.array([not _is_missing(value) for value in values], dtype=bool)
    _require_plain(name, values[is_known], path)
    if all(isinstance(value, Real | np.bool_) for value in values[is_known]):
        return Column(name), _require_numbers(name, np.where(is_known, values, math.nan), path, n_before)
    texts = [str(value) if known else "" for value, known in zip(values, is_known, strict=True)]
    words = Words(name, path, reading, are_texts=are_texts, missing=missing_words(reading), unit="row")
    words.add(texts, range(1, len(texts) + 1))
    found = words.settle()
    return found.column, read_cells(texts, found, path, reading)


def read_cells(
    texts: Sequence[str], found: TextColumn, path: Path, reading: ReadingCard, n_before: int = 0
) -> npt.NDArray[np.float64]:
    """Read texts of a column in rows, `n_before` of which lie before them."""

    def fail(row: int, rule: str) -> FormatError:
        where = at(path, n_before + row + 1, "row")
        return FormatError(f"{where}: column {show(found.column.name)} {rule}. Got {show(texts[row])}.")

    return read_texts(texts, found, missing_words(reading), fail)


def _require_plain(name: str, values: np.ndarray, path: Path) -> None:
    """Refuse lists, bytes and the like, which would become what Python prints of them."""
    found = next((value for value in values if isinstance(value, _NO_CELLS)), None)
    if found is not None:
        got = f"Got {type(found).__name__}; {IGNORE}, map(bytes.decode) makes text of bytes, map(';'.join) of lists"
        raise FormatError(f"{path}: column {show(name)} must hold numbers or words. {got}.")


def _read_times(
    name: str, values: np.ndarray, path: Path, reading: ReadingCard
) -> tuple[Column, npt.NDArray[np.float64]]:
    if values.dtype.kind == "m":
        rule = "must hold numbers or words. Got spans of time; write them as numbers, such as seconds"
        raise FormatError(f"{path}: column {show(name)} {rule}, or {IGNORE}.")
    if not reading.takes_dates(name):
        raise FormatError(f"{path}: column {show(name)} must hold numbers or words. Got dates or times; {DATES}.")
    seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
    return Column(name, is_date=True), np.where(np.isnat(values), np.nan, seconds)


def _is_missing(value: object) -> bool:
    # NA of pandas equals nothing, and is not a truth value either.
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _require_numbers(name: str, values: np.ndarray, path: Path, n_before: int) -> npt.NDArray[np.float64]:
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise FormatError(f"{path}: column {show(name)} must hold finite numbers. Got infinity; {IGNORE}.")
    for row in np.flatnonzero(np.abs(numbers) >= MAX_EXACT).tolist():
        if isinstance(values[row], int | np.integer) and abs(int(values[row])) > MAX_EXACT:
            raise FormatError(f"{at(path, n_before + row + 1, 'row')}: column {show(name)} {EXACT}. Got {values[row]}.")
    return numbers


def _tabulate_frame(frame: Frame, title: str, reading: ReadingCard, texts: Collection[str]) -> Table:
    """Read a data frame, as `tabulate` does.

    Columns that declare their values in an order (ordered categories of pandas, enums of polars) are nominal, with
    these values; so are, where they are to be categories, those of numbers that are categories of any kind. Raises
    FormatError if a column can be no feature and no label: lists, bytes.
    """
    columns = list(iter_columns(frame))
    for column in columns:
        if column.name != reading.tags:
            _require_cells(column, title)
    table = tabulate(column_names(frame), list(map(_to_array, columns)), title, reading, texts)
    for place, column in enumerate(columns):
        if _is_categorical(column) and column.name not in texts:
            table = _declare(table, place, column, reading)
    return table


def declare_numbers(name: str, values: Iterable[object], reading: ReadingCard) -> Column:
    """Make a nominal column of values that are declared, if all of them are numbers; else one of plain numbers."""
    texts = dict.fromkeys(str(value).strip() for value in values if not _is_missing(value))
    declared = nominal(name, [text for text in texts if text and text not in missing_words(reading)])
    return declared if declared.numbers else Column(name)


def _is_categorical(column: FrameColumn) -> bool:
    return str(column.dtype).startswith(("Categorical", "Enum"))


def _list_values(column: FrameColumn) -> Iterable[object]:
    """List the values that a column of categories declares; those that it holds where its library hides them."""
    if column.implementation.is_pandas_like():
        declared: Iterable[object] = column.to_native().cat.categories
        return declared
    return getattr(column.dtype, "categories", None) or sorted(column.drop_nulls().unique().to_list())


def _to_array(column: FrameColumn) -> np.ndarray:
    # Floats, which libraries make of whole numbers where one is missing, would be rounded; NumPy has no 128 bits; and
    # pyarrow takes the last category for one that is missing.
    is_object = column.dtype.is_integer() and bool(column.null_count() or str(column.dtype).endswith("128"))
    is_object = is_object or _is_categorical(column) or column.dtype.is_nested()
    return to_objects(column.to_list()) if is_object else column.to_numpy()


def _tabulate_sparse(frame: Any, title: str, reading: ReadingCard) -> Table:
    """Read a data frame of pandas, most of whose columns are sparse, as a table of CSR cells."""
    cells = read_sparse(frame).astype(np.float64)
    columns = tuple(map(Column, column_names(frame)))
    for place in np.unique(cells.indices[np.abs(cells.data) >= MAX_EXACT]).tolist():
        _require_numbers(columns[place].name, np.asarray(frame.iloc[:, place]), Path(title), 0)
    table = Table(Path(title), columns, cells, np.arange(1, cells.shape[0] + 1), unit="row")
    return next(mark_missing([table], reading.missing_words or ()))


def _require_cells(column: FrameColumn, title: str) -> None:
    """Refuse columns that are neither numbers nor words, and that NumPy has no type for."""
    kind = str(column.dtype).partition("(")[0].lower()
    if column.dtype.is_nested() or kind in {"binary", "time"}:
        name = show(str(column.name))
        raise FormatError(f"{title}: column {name} must hold numbers or words. Got {kind}; {IGNORE}.")


def _declare(table: Table, place: int, source: FrameColumn, reading: ReadingCard) -> Table:
    """Give a column the values that its source declares: words in an order, and numbers that are to be categories."""
    column, cells, ordered = table.columns[place], table.cells, getattr(source.dtype, "categories", None)
    if ordered is not None and column.is_coded:
        values = [str(value).strip() for value in ordered]
        cells = np.array(cells)
        # The number of each word becomes its place among these values.
        places = np.array([values.index(word) for word in column.values or ()], dtype=np.float64)
        known = ~np.isnan(cells[:, place])
        cells[known, place] = places[cells[known, place].astype(np.int64)]
        column = nominal(column.name, values)
    elif reading.categories == "ordinal" and column == Column(column.name):
        column = declare_numbers(column.name, _list_values(source), reading)
    return replace(table, columns=(*table.columns[:place], column, *table.columns[place + 1 :]), cells=cells)
