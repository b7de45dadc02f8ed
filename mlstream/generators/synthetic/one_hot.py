"""Categories as 0/1 columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def one_hot(codes: npt.NDArray[np.int64], sizes: Iterable[int]) -> npt.NDArray[np.float64]:
    """Make a column of each category of each feature, from codes of shape (n_rows, n_features)."""
    return np.hstack([np.eye(size)[column] for column, size in zip(codes.T, sizes, strict=True)])


def one_hot_names(names: Iterable[str], sizes: Iterable[int]) -> tuple[str, ...]:
    """Name these columns."""
    return tuple(f"{name}={value}" for name, size in zip(names, sizes, strict=True) for value in range(size))
