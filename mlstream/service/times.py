"""Times of rows, in microseconds since 1970."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

_SECOND = 1_000_000
_MAX_SECONDS = np.iinfo(np.int64).max / _SECOND
_RULE = "must be datetimes, ISO 8601 texts, or seconds since 1970, without a time zone"


def read_times(times: Any, n_rows: int) -> list[int]:
    """Return a time for each row, in microseconds since 1970; one time may stand alone for one row."""
    if type(times) in {int, float} and n_rows == 1 and abs(times) < _MAX_SECONDS:
        return [round(times * _SECOND)]
    array = np.atleast_1d(np.asarray(times))
    if array.dtype.kind in "OU":
        array = _from_objects(array)
    if array.shape != (n_rows,):
        raise ValueError(f"times must hold one time for each of {n_rows} rows. Got shape {array.shape} instead.")
    if array.dtype.kind == "M":
        moments = array.astype("datetime64[us]")
        wrong = np.isnat(moments)
    elif array.dtype.kind in "iuf":
        wrong = ~(np.abs(array) < _MAX_SECONDS)
        moments = np.round(np.where(wrong, 0, array) * float(_SECOND))
    else:
        raise ValueError(f"times {_RULE}. Got {array.dtype} instead.")
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"times must hold a time for every row. Got {array[row]} at row {row} instead.")
    return moments.astype(np.int64).tolist()  # type: ignore[no-any-return]


def _from_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Read datetimes and texts."""
    given = array.ravel().tolist()
    try:
        times = [datetime.fromisoformat(time) if isinstance(time, str) else time for time in given]
        if all(getattr(time, "tzinfo", None) is None for time in times):
            return np.array(times, "datetime64[us]").reshape(array.shape)
    except (ValueError, TypeError):
        pass
    raise ValueError(f"times {_RULE}. Got {given[0]!r} instead; `.timestamp()` of a datetime gives seconds.")
