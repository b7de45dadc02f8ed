"""When rows were, and whose they are, from the keys that come with them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from estimators._typing import Array
from metrics.validation import shown

# a structured array, a mapping or a frame: named fields with an entry a row
KeysLike = Any

# what most keys of a single row are
_NAMES = (str, int, np.str_, np.int64)
_MICROSECONDS, _INTEGERS, _FLOATS = np.dtype("datetime64[us]"), np.dtype(np.int64), np.dtype(np.float64)


def read_times(keys: KeysLike, field: str | None, n_rows: int) -> Array:
    """Return the time of each row in microseconds; without a field, of the only one that holds times."""
    moment = _single(keys, field)
    if type(moment) is np.datetime64 and not np.isnat(moment):
        return np.array([moment.astype(_MICROSECONDS).astype(_FLOATS)])
    values, name = _read(keys, field, n_rows, "time", lambda column: _as_times(column).dtype.kind == "M")
    times = _as_times(values)
    if times.dtype.kind != "M":
        raise ValueError(f"keys must hold times in {name!r}, as datetime64 or datetime. Got {values.dtype} instead.")
    unknown = np.isnat(times)
    if unknown[0] if n_rows == 1 else unknown.any():
        raise ValueError(f"keys must hold a time for each row. Got NaT in row {unknown.argmax()} of {name!r}.")
    return times.astype(_MICROSECONDS).view(_INTEGERS).astype(_FLOATS)


def read_owners(keys: KeysLike, field: str | None, n_rows: int) -> list[Any]:
    """Return whose each row is; without a field, by the only one that holds no times."""
    owner = _single(keys, field)
    if type(owner) in _NAMES:
        return [owner]
    values, name = _read(keys, field, n_rows, "key", lambda column: _as_times(column).dtype.kind != "M")
    owners: list[Any] = values.tolist()
    # NaN differs from itself: it would be another key in each row
    missing = [row for row, owner in enumerate(owners) if owner is None or owner != owner]  # noqa: PLR0124
    if missing:
        raise ValueError(
            f"keys must hold a key for each row. Got {owners[missing[0]]} in row {missing[0]} of {name!r}."
        )
    return owners


def check_order(times: Array, last: float) -> None:
    """Refuse times that fall, or are before the last one."""
    if not times[0] < last and (len(times) == 1 or (np.diff(times) >= 0).all()):
        return
    before = np.concatenate([[last], times[:-1]])
    row = int((times < before).argmax())
    earlier, later = (np.datetime64(int(time), "us") for time in (times[row], before[row]))
    raise ValueError(
        f"Times of rows must not fall. Got {earlier} in row {row} after {later}; sort the rows by their times."
    )


def _single(keys: KeysLike, field: str | None) -> Any:
    """Return the value of a named field of a single row, for which the checks of columns take longer than the rest."""
    if field is None or type(keys) not in {dict, np.void}:
        return None
    names = keys if type(keys) is dict else keys.dtype.names or ()
    return keys[field] if field in names else None


def _read(
    keys: KeysLike, field: str | None, n_rows: int, parameter: str, fits: Callable[[Array], bool]
) -> tuple[Array, str]:
    names = _fields(keys, parameter)
    if field is None:
        fitting = [name for name in names if fits(_column(keys, name))]
        if len(fitting) != 1:
            raise ValueError(
                f"{parameter} must name one of the fields of keys ({', '.join(map(str, names))}), unless only one can "
                f"be meant. Got None, and {len(fitting)} that can."
            )
        field = fitting[0]
    elif field not in names:
        raise ValueError(f"keys must have the field {field!r}. Got {', '.join(map(str, names)) or 'no field'} instead.")
    values = _column(keys, field)
    if values.shape != (n_rows,):
        raise ValueError(f"keys must have an entry for each of the {n_rows} rows. Got {values.shape} in {field!r}.")
    return values, field


def _fields(keys: KeysLike, parameter: str) -> list[str]:
    names = getattr(getattr(keys, "dtype", None), "names", None)
    if names is None:
        names = keys if isinstance(keys, Mapping) else getattr(keys, "columns", None)
    if names is None:
        raise ValueError(
            f"keys must have named fields with an entry for each row, since a {parameter} is read from them: a "
            f"structured array, a mapping or a data frame. Got {shown(keys)} instead."
        )
    return list(names)


def _column(keys: KeysLike, name: str) -> Array:
    return np.atleast_1d(np.asarray(keys[name]))


def _as_times(values: Array) -> Array:
    """Return Python's datetimes as NumPy's, in UTC if they name a zone, and other values as they are."""
    if values.dtype.kind != "O" or not all(isinstance(moment, datetime) for moment in values.flat):
        return values
    plain = [time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time for time in values.flat]
    return np.array(plain, dtype=_MICROSECONDS)
