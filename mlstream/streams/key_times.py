"""The times that the keys of rows hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def times_in_keys(keys: Any) -> Any:
    """Return the only field of times of keys: a structured array, a mapping, or a data frame."""
    columns = _columns(keys)
    found = [name for name, column in columns.items() if column.dtype.kind == "M"]
    if len(found) != 1:
        raise ValueError(
            f"keys must have one field of times (datetime64), or times= must be given. Got {len(found)} among "
            f"{list(columns)} instead."
        )
    return columns[found[0]]


def _columns(keys: Any) -> dict[str, npt.NDArray[Any]]:
    names = getattr(getattr(keys, "dtype", None), "names", None)
    if names is None:
        names = keys if isinstance(keys, Mapping) else getattr(keys, "columns", None)
    if names is None:
        raise ValueError(f"keys must be a structured array, a mapping, or a data frame. Got {type(keys)} instead.")
    return {str(name): np.asarray(keys[name]) for name in names}
