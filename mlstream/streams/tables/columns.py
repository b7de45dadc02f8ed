"""The parting of a table into features and labels: the one place where columns become features.

Numbers pass. A nominal column whose values are all numbers becomes these numbers, unless it is to be categories; any
other becomes 0/1 features, one per value, or the number of each value. Missing values are refused, left out, filled in
or kept.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from scipy import sparse

from mlstream._support.content import FormatError, show
from mlstream._support.files import did_you_mean
from mlstream._support.mapped import require_memory
from mlstream._support.reading import ReadingOptions
from mlstream._support.validation_errors import describe_error
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import Features
from mlstream.streams.label_values import Indicator
from mlstream.streams.tables.arrays import Cells, Growing, GrowingTable, join_columns
from mlstream.streams.tables.label_columns import gather_labels
from mlstream.streams.tables.missing_values import fill_missing, mark_missing
from mlstream.streams.tables.table import Column, Table, find_columns, join_key_columns, peek, take_columns, to_number
from mlstream.streams.tables.text_columns import CATEGORIES, IGNORE, MISSING, NUMBER_RULE

# Below this share of stored cells, a table in sparse notation becomes a CSR matrix: less than half of the memory.
# Files in sparse notation that are full all the same (Yeast's) become dense.
SPARSE_BELOW = 0.25
BY_DEFAULT = ReadingCard()
_SEPARATOR = re.compile(r'(?!["\r\n])[\x00-\x7f]')
_MISSING_WAY_OUT = f"; missing= or --missing (drop, mean, indicator or keep) reads it, {IGNORE}"
# Names of `DatetimeIndex` of pandas, but for seconds.
_PARTS = ("year", "month", "day", "weekday", "hour", "minute", "second")
# In fewer rows, keys may be what they are by chance.
_MIN_KEYS = 10
# Of the rows: columns with more words are keys rather than categories.
_MOST_WORDS = 0.9


class Parted(NamedTuple):
    """A table divided into features and labels, under the names of the fields of a Dataset."""

    X: Features
    Y: Indicator
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    sample_weight: npt.NDArray[np.float64] | None
    times: npt.NDArray[np.float64] | None
    reading: ReadingCard | None
    """How the table was read, with the number of rows left out; None where all options had their defaults."""
    feature_values: dict[str, tuple[str, ...]]
    keys: dict[str, np.ndarray] | None = None


def make_reading(**options: Unpack[ReadingOptions]) -> ReadingCard:
    """Check the options of `load_dataset`; raise ValueError if a value is not allowed, TypeError for other names."""
    known = ReadingOptions.__annotations__
    if unknown := next((name for name in options if name not in known), None):
        raise TypeError(
            f"Options of a table must be {', '.join(known)}. Got {unknown!r}{did_you_mean(unknown, list(known))}"
        )
    for name in ("ignore", "keys"):
        if isinstance(options.get(name), str):
            raise TypeError(f"{name} must be a list of names. Got {options.get(name)!r} instead.")
    _require_sense(options)
    try:
        return ReadingCard.model_validate(options)
    except ValidationError as error:
        raise ValueError(describe_error(error)) from None


def _require_sense(options: ReadingOptions) -> None:
    """Raise ValueError if options contradict each other, or no file can be so."""
    if options.get("time") in options.get("ignore", ()):
        way_out = "dates there are no feature unless dates= or --dates is given"
        raise ValueError(f"ignore must not name the column of times. Got {options['time']!r}; {way_out}.")
    if both := {*options.get("keys", ())} & {*options.get("ignore", ())}:
        raise ValueError(f"keys must not name columns that ignore leaves out. Got {min(both)!r} in both.")
    labels_are = [name for name in ("present", "classes", "tags") if options.get(name)]
    if len(labels_are) > 1:
        raise ValueError(f"{' and '.join(labels_are)} must not be given together. Got both; each says what labels are.")
    separator = options.get("separator")
    if separator is not None and not _SEPARATOR.fullmatch(separator):
        raise ValueError(
            f"separator= or --separator must be one ASCII character, such as ';', and no quote. Got {separator!r}."
        )


def part(
    tables: Table | Iterable[Table],
    labels: Sequence[int],
    reading: ReadingCard = BY_DEFAULT,
    wanted: Sequence[str] = (),
) -> Parted:
    """Part tables of the same columns, at least one, into features and labels; each is dropped before the next.

    `labels` are indices of columns in the order wanted; `wanted` are the labels wanted of a column of tags. X is a CSR
    matrix if most tables are and less than a quarter of X is stored, else dense. A missing value of a label is an
    unknown label. One 0/1 feature per value is called ``name=value``, one that marks missing values ``name is
    missing``; the latter come last.

    Raises FormatError if there is no row, a label column holds what is not a label, a feature has a missing value, or
    none but missing ones where their mean is asked for, or its values are words that the file does not declare, unless
    `reading` says what becomes of them.
    """
    first, tables = peek([tables] if isinstance(tables, Table) else tables)
    time = _find_time(first, reading)
    # Dates that only order rows are no feature.
    others = [place for place in time if first.columns[place].is_date and reading.dates is None]
    others = [*others, *(place for place in time if first.names[place] in reading.keys and place not in others)]
    features = np.setdiff1d(np.arange(len(first.columns)), [*labels, *others]).tolist()
    columns = [first.columns[index] for index in features]
    _require_declared(first, columns, reading)
    names = [_feature_names(column, reading) for column in columns]
    X = GrowingTable(sum(map(len, names)), sparse_below=SPARSE_BELOW)
    Y = gather_labels(first, labels, reading, wanted)
    n_rows, extras = 0, _Extras(time)
    for table in tables:
        n_rows += len(table.lines)
        # Few bytes of a sparse file may stand for many labels.
        require_memory(n_rows * len(labels), f"the labels of {first.path}", FormatError)
        taken = _settle_missing(table, [*features, *others], reading)
        if len(taken.lines):
            X.extend(_read_features(taken, features, reading))
            Y.extend(taken)
            extras.extend(taken)
    _require_rows(first.path, n_rows, extras.n_rows)
    cells = X.take()
    _warn_of_keys(cells, names, columns, first.path, reading.time)
    values = {column.name: column.categories for column in columns if _is_category(column, reading)}
    filled, feature_names = _fill(cells, names, columns, first.path, reading)
    if reading.missing == "drop":
        reading = reading.model_copy(update={"n_dropped": n_rows - extras.n_rows})
    indicator, label_names = Y.take()
    weights, times, keys = extras.take()
    used = None if reading == BY_DEFAULT else reading
    return Parted(filled, indicator, feature_names, label_names, weights, times, used, values, keys)


def _find_time(table: Table, reading: ReadingCard) -> list[int]:
    """Return the column of times, if there is one; raise FormatError if it holds words, which have no order."""
    places = [] if reading.time is None else find_columns(table.names, [reading.time], table.path, "time= or --column")
    for place in places:
        if (first_word := table.columns[place].first_word) is not None:
            rule = "the column of times must hold numbers or dates"
            raise FormatError(f"{table.at(first_word[1])}: {rule}. Got {show(first_word[0])}.")
    return places


def _require_rows(path: Path, n_rows: int, n_taken: int) -> None:
    if not n_rows:
        raise FormatError(f"{path} must hold at least one row. Got a header only.")
    if not n_taken:
        rule = "missing= or --missing drop must leave at least one row"
        raise FormatError(f"{path}: {rule}. Got a missing value in every row.")


class _Extras:
    """Weights, times and keys of rows, if any has one."""

    def __init__(self, time: Sequence[int]) -> None:
        self.n_rows, self._time, self._are_weighted = 0, time, False
        self._weights, self._times = Growing(np.float64), Growing(np.float64)
        self._keys: list[Mapping[str, np.ndarray]] = []

    def extend(self, table: Table) -> None:
        """Append rows; raise FormatError, with the line, if one has no time."""
        require_complete(table, self._time, "; missing= or --missing drop leaves its row out")
        self.n_rows += len(table.lines)
        self._keys.append(table.keys)
        self._times.extend(_to_dense(take_columns(table.cells, self._time)).ravel())
        self._are_weighted |= table.weights is not None
        self._weights.extend(np.ones(len(table.lines)) if table.weights is None else table.weights)

    def take(
        self,
    ) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64] | None, dict[str, np.ndarray] | None]:
        """Return the weights, the times and the keys of all rows."""
        times = self._times.take() if self._time else None
        return self._weights.take() if self._are_weighted else None, times, join_key_columns(self._keys) or None


def _warn_of_keys(
    X: Cells, names: Sequence[tuple[str, ...]], columns: Sequence[Column], path: Path, time: str | None
) -> None:
    """Warn of columns that tell rows apart rather than describe them: running numbers, and words of one row each."""
    n_rows = X.shape[0]
    starts = np.cumsum([0, *map(len, names)])
    for place, column in enumerate(columns):
        if column.name.startswith("Unnamed: "):
            got = "has the name that pandas gives to an index"
            warnings.warn(f"{path}: column {show(column.name)} {got}; {IGNORE}.", stacklevel=3)
            continue
        if n_rows < _MIN_KEYS or column.is_date or column.name == time:
            continue
        if len(names[place]) == 1 and not sparse.issparse(X) and _runs(X[:, starts[place]]):
            got = "consecutive whole numbers, as row numbers and keys are"
        elif len(names[place]) > (most := max(1, _MOST_WORDS * n_rows)) and (
            _count_ones(X[:, starts[place] : starts[place + 1]]) > most
        ):
            got = "a word of its own in almost every row, as names and keys are"
        else:
            continue
        warnings.warn(f"{path}: column {show(column.name)} holds {got}; {IGNORE}.", stacklevel=3)


def _count_ones(X: Cells) -> int:
    """Count the columns that hold a 1."""
    places = X.indices[X.data == 1] if sparse.issparse(X) else np.nonzero(X == 1)[1]
    return len(np.unique(places))


def _runs(numbers: npt.NDArray[np.floating]) -> bool:
    """Tell whether numbers are consecutive whole ones, in any order."""
    least = numbers.min()
    if numbers.max() - least != len(numbers) - 1 or not np.isfinite(least):
        return False
    return bool((np.sort(numbers) == least + np.arange(len(numbers))).all()) and least == np.floor(least)


def require_complete(table: Table, columns: Sequence[int], way_out: str = "") -> None:
    """Raise FormatError, with line and column, if columns have a missing value; `way_out` ends the message."""
    missing = _find_missing(table, columns)
    if not missing.any():
        return
    row, column = np.argwhere(missing)[0]
    raise FormatError(
        f"{table.at(table.lines[row])}: column {show(table.names[columns[column]])} must have a value in every "
        f"row; labels only may be unknown. Got a missing value{way_out}."
    )


def has_complete_row(table: Table, labels: Sequence[int]) -> bool:
    """Tell whether a row has a value in every column but those of labels."""
    missing = _find_missing(table, np.setdiff1d(np.arange(len(table.columns)), labels).tolist())
    return bool((~missing.any(axis=1)).any())


def _find_missing(table: Table, columns: Sequence[int]) -> npt.NDArray[np.bool_]:
    block = take_columns(table.cells, columns)
    if not sparse.issparse(block):
        return np.isnan(block)
    # Written out only if there is one.
    return np.isnan(block.toarray()) if np.isnan(block.data).any() else np.zeros((1, len(columns)), dtype=bool)


def _settle_missing(table: Table, features: Sequence[int], reading: ReadingCard) -> Table:
    if reading.missing == "error":
        require_complete(table, features, _MISSING_WAY_OUT)
    if reading.missing != "drop":
        return table
    missing = _find_missing(table, features)
    if not missing.any():
        return table
    return table.take(np.flatnonzero(~missing.any(axis=1)))


def _require_declared(table: Table, columns: Sequence[Column], reading: ReadingCard) -> None:
    """Refuse words that no header declares, unless it is said what becomes of them."""
    found = next((column for column in columns if column.first_word is not None), None)
    if found is None or found.first_word is None or reading.categories is not None:
        return
    word, line = found.first_word
    among = f", among numbers; {MISSING}," if any(to_number(text) is not None for text in found.values or ()) else ";"
    raise FormatError(
        f"{table.at(line)}: column {show(found.name)} {NUMBER_RULE}. Got {show(word)}{among} {CATEGORIES}, {IGNORE}."
    )


def _fill(
    X: Features, names: Sequence[tuple[str, ...]], columns: Sequence[Column], path: Path, reading: ReadingCard
) -> tuple[Features, tuple[str, ...]]:
    """Write means, of categories the commonest codes, for missing values, and mark these by features of their own."""
    flat = tuple(chain.from_iterable(names))
    if reading.missing not in {"mean", "indicator"}:
        return X, flat
    # The features that one column became are missing in the same rows: the first of them stands for all.
    starts = np.cumsum([0, *map(len, names)])[:-1]
    marked, marks = mark_missing(X, starts)
    filled = fill_missing(X, flat, path, starts[[_is_category(column, reading) for column in columns]])
    if reading.missing == "mean" or not len(marked):
        return filled, flat
    return join_columns([filled, marks]), (*flat, *(f"{columns[index].name} is missing" for index in marked))


def _feature_names(column: Column, reading: ReadingCard) -> tuple[str, ...]:
    if column.is_date and reading.dates == "parts":
        return tuple(f"{column.name}.{part}" for part in _PARTS)
    if _is_one_hot(column, reading):
        return tuple(f"{column.name}={value}" for value in column.values or ())
    return (column.name,)


def _is_one_hot(column: Column, reading: ReadingCard) -> bool:
    if column.is_coded:
        return reading.categories != "ordinal"
    # Numbers that a header declares are numbers unless it is said that they are not; 0 and 1 are one-hot as they are.
    return reading.categories == "one-hot" and column.numbers is not None and not {0.0, 1.0}.issuperset(column.numbers)


def _is_category(column: Column, reading: ReadingCard) -> bool:
    return reading.categories == "ordinal" and column.values is not None


def _read_features(table: Table, features: Sequence[int], reading: ReadingCard) -> Cells:
    X: Cells = join_columns(list(_blocks(table, features, reading)))
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


def _kind(column: Column, reading: ReadingCard) -> str:
    """Say what the cells of a column become: one-hot, codes, parts of dates, or numbers."""
    if _is_one_hot(column, reading):
        return "one-hot"
    if _is_category(column, reading) and not column.is_binary:
        return "codes"
    return "parts" if column.is_date and reading.dates == "parts" else "numbers"


def _blocks(table: Table, features: Sequence[int], reading: ReadingCard) -> Iterator[Cells]:
    for what, group in groupby(features, lambda index: _kind(table.columns[index], reading)):
        indices = list(group)
        block = take_columns(table.cells, indices)
        columns = [table.columns[index] for index in indices]
        if what in {"one-hot", "codes"}:
            block = _to_codes(block, columns)
        if what == "one-hot":
            block = _one_hot(block, [len(column.values or ()) for column in columns])
        yield _to_parts(block) if what == "parts" else block


def _to_dense(cells: Cells) -> npt.NDArray[np.float64]:
    return cells.toarray() if sparse.issparse(cells) else cells


def _to_codes(cells: Cells, columns: Sequence[Column]) -> Cells:
    """Replace numbers that are values of a nominal column by the places of these values."""
    if all(column.is_coded for column in columns):
        return cells
    codes = cells.toarray() if sparse.issparse(cells) else np.array(cells)
    for place, column in enumerate(columns):
        if column.numbers is not None:
            order = np.argsort(column.numbers)
            found = order[np.searchsorted(column.numbers, codes[:, place], sorter=order).clip(max=len(order) - 1)]
            codes[:, place] = np.where(np.isnan(codes[:, place]), np.nan, found)
    return sparse.csr_array(codes) if sparse.issparse(cells) else codes


def _to_parts(seconds: Cells) -> Cells:
    """Take dates apart, each column into the features of `_PARTS`."""
    dense = _to_dense(seconds)
    known = ~np.isnan(dense)
    times = np.floor(np.where(known, dense, 0)).astype(np.int64).astype("datetime64[s]")
    days, months, years = (times.astype(f"datetime64[{unit}]") for unit in "DMY")
    since = (times - days).astype(np.int64)
    parts = (
        years.astype(np.int64) + 1970,
        (months - years).astype(np.int64) + 1,
        (days - months).astype(np.int64) + 1,
        # 1 January 1970 was a Thursday; Monday is 0.
        (days.astype(np.int64) + 3) % 7,
        since // 3600,
        since // 60 % 60,
        since % 60,
    )
    found = np.where(known[..., np.newaxis], np.stack(parts, axis=2), np.nan)
    return found.reshape(len(dense), -1)


def _one_hot(codes: Cells, n_values: Sequence[int]) -> Cells:
    dense = _to_dense(codes)
    first_places = np.concatenate([[0], np.cumsum(n_values)[:-1]])
    missing = np.isnan(dense)
    # The 1 of each code stands at its own place, after the places of the columns before.
    places = np.where(missing, 0, dense).astype(np.int64) + first_places
    starts = np.arange(0, places.size + 1, len(n_values))
    values = np.where(missing, 0.0, 1.0).ravel()
    X = sparse.csr_array((values, places.ravel(), starts), shape=(len(dense), sum(n_values)))
    if missing.any():
        X = X + sparse.csr_array(np.where(np.repeat(missing, n_values, axis=1), np.nan, 0.0))
    return X if sparse.issparse(codes) else X.toarray()
