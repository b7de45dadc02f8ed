"""When rows were, and whose they are, from the keys that come with them."""

from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from estimators._typing import Array
from metrics.validation import shown

# a structured array, a mapping or a frame: named fields with an entry a row
KeysLike = Any

# what most keys of a single row are
_NAMES = (str, int, np.str_, np.int64)
_TIME, _SECOND = np.dtype("datetime64[us]"), 10**6
# in the year 5138; milliseconds of our time lie above
_MAX_SECONDS = 1e11


def read_times(keys: KeysLike, field: str | None, n_rows: int) -> Array:
    """Return the time of each row, as `as_moments` does; without a field, of the only one that holds times."""
    moment = _single(keys, field)
    if type(moment) is np.datetime64 and not np.isnat(moment):
        return np.array([moment], dtype=_TIME).view(np.int64)
    values, name = _read(keys, field, n_rows, "time", lambda column: _from_datetimes(column).dtype.kind == "M")
    return as_moments(values, n_rows, f"times in {name!r}")


def as_moments(times: object, n_rows: int, name: str) -> Array:
    """Return times in microseconds since 1970, int64: datetimes, ISO 8601 texts, or seconds; UTC if without a zone."""
    array = _from_datetimes(_from_texts(np.atleast_1d(np.asarray(times))))
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must hold one for each of {n_rows} rows. Got shape {array.shape} instead.")
    moments: Array
    if array.dtype.kind == "M":
        moments, wrong = array.astype(_TIME), np.isnat(array)
    elif array.dtype.kind in "iuf":
        wrong = ~(np.abs(array) < _MAX_SECONDS)
        if not np.isnan(array).any() and wrong.any():
            rule = f"{name} must be seconds since 1970, below 1e11, where they are numbers"
            raise ValueError(f"{rule}. Got {array[wrong][0]}; divide milliseconds by 1000.")
        moments = np.round(np.where(wrong, 0, array) * float(_SECOND))
    else:
        raise ValueError(
            f"{name} must be datetimes, ISO 8601 texts, or seconds since 1970. Got {shown(array[0])} instead."
        )
    if wrong[0] if n_rows == 1 else wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{name} must hold one for each row. Got {array[row]} in row {row}.")
    return moments.astype(np.int64)


def read_owners(keys: KeysLike, field: str | None, n_rows: int) -> list[Hashable]:
    """Return whose each row is; without a field, by the only one that holds no times."""
    owner = _single(keys, field)
    if type(owner) in _NAMES:
        return [owner]
    values, name = _read(keys, field, n_rows, "key", lambda column: _from_datetimes(column).dtype.kind != "M")
    owners: list[Hashable] = values.tolist()
    missing = [row for row, owner in enumerate(owners) if _is_missing(owner)]
    if missing:
        raise ValueError(
            f"keys must hold a key for each row. Got {owners[missing[0]]} in row {missing[0]} of {name!r}."
        )
    return owners


def _is_missing(owner: object) -> bool:
    """Return whether a key is None or differs from itself, as NaN does; pandas' NA does not say."""
    return owner is None or type(owner).__name__ == "NAType" or bool(owner != owner)  # noqa: PLR0124


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


def _from_datetimes(values: Array) -> Array:
    """Return Python's datetimes as NumPy's, in UTC if they name a zone, and other values as they are."""
    if values.dtype.kind != "O":
        return values
    if {datetime if isinstance(time, datetime) else type(time) for time in values.flat if time is not None} != {
        datetime
    }:
        return values
    # pandas' NaT is a datetime that differs from itself
    times = [None if time is None or time != time else time for time in values.flat]  # noqa: PLR0124
    plain = [time.astimezone(UTC).replace(tzinfo=None) if time and time.tzinfo else time for time in times]
    return np.array(plain, dtype=_TIME).reshape(values.shape)


def _from_texts(values: Array) -> Array:
    """Return texts that name times as datetimes, and other values as they are."""
    if values.dtype.kind not in "OU":
        return values
    try:
        read = [datetime.fromisoformat(time) if isinstance(time, str) else time for time in values.ravel().tolist()]
    except ValueError:
        return values
    return np.array(read, dtype=object).reshape(values.shape)
