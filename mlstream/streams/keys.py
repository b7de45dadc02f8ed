"""Keys of rows: whose a row is. They travel beside features and labels, and nobody learns them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.content import show
from mlstream.streams.frames import is_frame, iter_columns

Keys: TypeAlias = npt.NDArray[np.void]
KeysLike: TypeAlias = Any
"""What `settle_keys` takes: a structured array, a mapping of names to columns, or a data frame."""

_TIME = np.dtype("datetime64[us]")
_MISSING_NAMES = {"NAType", "NaTType", "NoneType"}
# Of names that files do not hold: breaks of lines, zero bytes, halves of characters.
_BROKEN = re.compile("[\n\r\0\ud800-\udfff]")
# Keys are told apart by a number of 64 bits.
_MAX_NUMBER, _MAX_SPAN = 2**62, 2**45
_SURROGATES = 0xD800, 0xDFFF


def settle_keys(keys: KeysLike, n_rows: int, taken: Collection[str], table: str) -> Keys:
    """Hold the keys of a table's rows as a structured array of texts, whole numbers, floats and times.

    `taken` are the names of features and labels. Raises TypeError if `keys` is something else than `KeysLike`;
    ValueError, which begins with `table`, if a column has another type or length or the name of another, or if keys are
    missing or come twice.
    """
    columns = dict(_iter_columns(keys, table))
    _require_names(columns, taken, table)
    settled = {name: _settle_column(values, f"{table}: keys {name!r}") for name, values in columns.items()}
    for name, values in settled.items():
        if len(values) != n_rows:
            raise ValueError(f"{table}: keys must have one row per row of X, {n_rows}. Got {len(values)} in {name!r}.")
    found = make_keys(settled)
    require_own_keys(found, table)
    return found


def _require_names(names: Collection[str], taken: Collection[str], table: str) -> None:
    """Refuse columns without a name, or with the name of a feature or a label."""
    wrong = next((repr(name) for name in names if not name or _BROKEN.search(name)), "no column")
    if not names or wrong != "no column":
        raise ValueError(f"{table}: keys must have a column at least, each with a name of one line. Got {wrong}.")
    if both := next((name for name in names if name in taken), None):
        way_out = "keys are neither features nor labels; rename one of the columns, or leave it out there"
        raise ValueError(f"{table}: a column of keys must have a name of its own. Got {both!r} twice; {way_out}.")


def make_keys(columns: Mapping[str, np.ndarray]) -> Keys:
    """Make a structured array of columns of as many rows, one at least."""
    n_rows = len(next(iter(columns.values())))
    keys = np.empty(n_rows, dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        keys[name] = values
    return keys


def require_own_keys(keys: Keys, table: str) -> None:
    """Raise ValueError, which begins with `table`, if a key is missing, or two rows have the same."""
    rule = f"{table}: every row must have a key of its own"
    for name in key_names(keys):
        missing = np.flatnonzero(_is_missing(keys[name]))
        if len(missing):
            raise ValueError(f"{rule}. Got no {name!r} in row {missing[0]}; fill it in, or leave the row out.")
    codes = _number(keys)
    # Three times as fast as to count the distinct ones.
    if np.diff(np.sort(codes)).all():
        return
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    row = int(np.argmax(first[place] != np.arange(len(keys))))
    shown = ", ".join(f"{name}={show(str(keys[name][row]))}" for name in key_names(keys))
    way_out = "add a column that tells them apart, or leave one out"
    raise ValueError(f"{rule}. Got {shown} in rows {first[place][row]} and {row}; {way_out}.")


def _number(keys: Keys) -> npt.NDArray[np.int64]:
    """Give different keys different numbers."""
    codes, size = np.zeros(len(keys), np.int64), 1
    for name in key_names(keys) if len(keys) else ():
        code, n_codes = _number_column(keys[name])
        if size * n_codes > _MAX_NUMBER:
            # From here on, numbers are less than the square of the number of rows.
            (codes, size), (code, n_codes) = _count(codes), _count(code)
        codes, size = codes * n_codes + code, size * n_codes
    return codes


def _number_column(values: np.ndarray) -> tuple[npt.NDArray[np.int64], int]:
    # Whole numbers and times within a day or a year need no sorting.
    if values.dtype.kind in "iM":
        whole = values.astype(np.int64)
        least, most = int(whole.min()), int(whole.max())
        if most - least < _MAX_SPAN:
            return whole - least, most - least + 1
    return _count(values)


def _count(values: np.ndarray) -> tuple[npt.NDArray[np.int64], int]:
    found, code = np.unique(values, return_inverse=True)
    return code, len(found)


def key_names(keys: Keys | None) -> tuple[str, ...]:
    """Return the names of the columns of keys; none where there are no keys."""
    return () if keys is None else tuple(keys.dtype.names or ())


def take_keys(keys: Keys | None, rows: Any) -> Keys | None:
    """Return the keys of some rows, if there are any."""
    return None if keys is None else keys[rows]


def join_keys(parts: Sequence[Keys | None]) -> Keys | None:
    """Put keys one below the other; None if a part has none."""
    found = [keys for keys in parts if keys is not None]
    return np.concatenate(found) if found and len(found) == len(parts) else None


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken, with as few underscores behind it as it takes."""
    while name in taken:
        name += "_"
    return name


def key_levels(keys: Keys | None, taken: Collection[str]) -> dict[str, np.ndarray]:
    """Return the columns of keys as levels of an index, those that have the name of another level with ``_`` behind."""
    levels: dict[str, np.ndarray] = {}
    for name in key_names(keys):
        levels[free_name(name, {*taken, *levels})] = np.asarray(None if keys is None else keys[name])
    return levels


def _iter_columns(keys: KeysLike, table: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(keys, np.ndarray) and keys.dtype.names:
        if keys.ndim != 1:
            raise ValueError(f"{table}: keys must have one row per row of X. Got the shape {keys.shape}.")
        yield from ((name, keys[name]) for name in keys.dtype.names)
    elif isinstance(keys, Mapping):
        yield from ((str(name), _as_column(values, f"{table}: keys {name!r}")) for name, values in keys.items())
    elif is_frame(keys):
        # Lists keep whole numbers beside missing ones, which arrays of floats round.
        yield from ((column.name, to_objects(column.to_list())) for column in iter_columns(keys))
    else:
        rule = f"{table}: keys must be a structured array, a mapping of names to columns, or a data frame"
        raise TypeError(f"{rule}. Got {type(keys).__name__} instead.")


def _as_column(values: Any, what: str) -> np.ndarray:
    plain = values if isinstance(values, np.ndarray) else getattr(values, "to_numpy", lambda: values)()
    if not isinstance(plain, np.ndarray):
        plain = to_objects(list(plain))
    if plain.ndim != 1:
        raise ValueError(f"{what} must be one column. Got the shape {plain.shape}.")
    return plain


def to_objects(values: Sequence[object]) -> np.ndarray:
    """Make an array of objects, lists among them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _settle_column(values: np.ndarray, what: str) -> np.ndarray:
    """Hold a column in one of the four types."""
    if values.dtype.kind in "OT":
        values = _settle_objects(values.astype(object), what)
    kind = values.dtype.kind
    if kind == "U":
        return _settle_texts(values, what)
    if kind == "M":
        return values.astype(_TIME)
    if kind in "iu":
        if kind == "u" and values.size and int(values.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{what} must be whole numbers below 2**63. Got a larger one; write it as text.")
        return values.astype(np.int64)
    if kind == "f":
        return values.astype(np.float64)
    raise ValueError(f"{what} must hold texts, numbers or times. Got the type {values.dtype}.")


def _settle_objects(values: np.ndarray, what: str) -> np.ndarray:
    """Find the type that all values of a column have; a missing one is an empty text, NaN or NaT."""
    missing = [_is_none(value) for value in values]
    kind = _common_kind(values[np.logical_not(missing)].tolist(), has_missing=any(missing), what=what)
    blank, read, dtype = _READERS[kind]
    return np.array([blank if absent else read(value) for value, absent in zip(values, missing, strict=True)], dtype)


def _common_kind(values: Sequence[object], *, has_missing: bool, what: str) -> type | None:
    kinds = set(map(_kind_of, values)) or {str}
    if kinds == {int, float} or (kinds == {int} and has_missing):
        return float
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in _READERS:
        got = ", ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"{what} must hold texts, numbers or times, all of one type. Got {got}.")
    return kind


def _is_none(value: object) -> bool:
    if type(value).__name__ in _MISSING_NAMES:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _kind_of(value: object) -> type:
    kinds = ((bool, bool), (str, str), (Integral, int), (Real, float), (date | np.datetime64, date))
    return next((kind for bases, kind in kinds if isinstance(value, bases)), type(value))


def to_time(value: Any) -> np.datetime64:
    """Turn a datetime, with or without a zone, or a date into a time in UTC."""
    zone = getattr(value, "utcoffset", lambda: None)()
    return np.datetime64(value if zone is None else value.replace(tzinfo=None) - zone, "us")


# Of each kind of values: what stands for a missing one, how others are read, and the type of the column.
_READERS: Mapping[type | None, tuple[object, Callable[[Any], object], npt.DTypeLike | None]] = {
    str: ("", str, np.str_),
    int: (0, int, None),
    float: (np.nan, float, np.float64),
    date: (np.datetime64("NaT", "us"), to_time, _TIME),
}


def _settle_texts(values: np.ndarray, what: str) -> np.ndarray:
    """Make the type of texts as wide as the longest; the same texts have the same type."""
    lengths = np.strings.str_len(values)
    width = max(int(lengths.max(initial=0)), 1)
    settled = np.ascontiguousarray(values.astype(f"<U{width}"))
    codes = settled.view(np.uint32).reshape(len(settled), width)
    least, most = _SURROGATES
    wrong = ((codes >= least) & (codes <= most)).any(axis=1) | (np.count_nonzero(codes, axis=1) < lengths)
    if wrong.any():
        rule = "must be text that UTF-8 can hold, without zero bytes"
        raise ValueError(f"{what} {rule}. Got another in row {np.argmax(wrong)}; repair it.")
    return settled


def _is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "U":
        return np.asarray(np.strings.strip(values) == "")
    if values.dtype.kind in "Mf":
        return np.asarray(np.isnat(values) if values.dtype.kind == "M" else np.isnan(values))
    return np.zeros(len(values), dtype=bool)
