"""Values of label cells: 1 present, 0 absent, NaN unknown."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.mapped import pieces

Indicator: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.float32]
Mask: TypeAlias = npt.NDArray[np.bool_]

# 0, 1 and NaN as float32: the bits are compared, since a -0.0 or another NaN would change the hash of equal labels.
_ABSENT, _PRESENT, _UNKNOWN = np.array([0, 1, np.nan], dtype=np.float32).view(np.uint32)


def known(Y: Indicator) -> Mask | None:
    """Find the label cells whose value is known (not NaN); None where every label is."""
    if not np.issubdtype(Y.dtype, np.floating):
        return None
    cells: Mask = ~np.isnan(Y)
    return None if cells.all() else cells


def unknown_share(Y: Indicator) -> float:
    """Return the number of unknown label cells divided by that of all; 0 where there is no cell."""
    cells = known(Y)
    return 0.0 if cells is None else 1 - float(cells.mean())


def filled(Y: Indicator, value: int = 0) -> npt.NDArray[np.uint8]:
    """Write a whole number, 0 to 255, into the unknown label cells.

    Returns `Y` itself where it is of uint8, which holds no unknown label.
    """
    if Y.dtype == np.uint8:
        return np.asarray(Y, dtype=np.uint8)
    return np.nan_to_num(Y, nan=value).astype(np.uint8)


def with_unknown_of(Y: Indicator, present: Mask) -> Indicator:
    """Make labels of those that are to be present, unknown where they are unknown in `Y`, and absent elsewhere.

    >>> with_unknown_of(np.array([[1, np.nan, 1]], dtype=np.float32), np.array([[True, False, False]])).tolist()
    [[1.0, nan, 0.0]]
    """
    cells = known(Y)
    return present.astype(np.uint8) if cells is None else np.where(cells, present, np.float32(np.nan))


def as_indicator(Y: npt.ArrayLike, what: str = "Y") -> Indicator:
    """Check labels and hold them in the type that their values need: uint8, or float32 where one is unknown.

    Labels are numbers or booleans: 1 present, 0 absent, NaN (or None, or NA of pandas) unknown. They are not copied
    where they are such already. Raises ValueError if `Y` is not 2-D, or a cell holds anything but 0, 1 and NaN.
    """
    cells = _as_numbers(Y, what)
    if cells.ndim != 2:
        raise ValueError(
            f"{what} must be 2-D, one column for each label. Got the shape {cells.shape}{_way_out(cells)}."
        )
    indicator = cells if _is_indicator(cells) else _convert(cells, what)
    return filled(indicator) if known(indicator) is None else indicator


def _way_out(cells: np.ndarray) -> str:
    """Return the end of an error about labels that are no table."""
    if cells.ndim != 1:
        return ""
    if np.isin(cells, (0, 1)).all() or np.isnan(cells).any():
        return "; Y.reshape(-1, 1) makes one column of an array, Y.to_frame() of a series"
    return "; Y.reshape(-1, 1) == np.unique(Y) makes one column of each class"


def _as_numbers(Y: Any, what: str) -> np.ndarray:
    cells, rule = np.asarray(Y), f"{what} must hold 0, 1 and NaN (unknown) only"
    if cells.dtype.kind == "U":
        raise ValueError(f"{rule}. Got text; Y == 'TRUE', say, makes labels of words.")
    if cells.dtype.kind == "O" and cells.ndim:
        try:
            # NA, as tables of pandas with nullable columns hold it, is not a number for NumPy.
            return Y.to_numpy(np.float64, na_value=np.nan) if hasattr(Y, "iloc") else cells.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{rule}. Got objects: {error}; Y == 'TRUE', say, makes labels of words.") from error
    if cells.dtype.kind not in "buif":
        raise ValueError(f"{what} must be a dense array of 0, 1 and NaN (unknown). Got {type(Y).__name__} instead.")
    return cells


def _is_indicator(cells: np.ndarray) -> bool:
    if cells.dtype == np.uint8:
        return all(int(piece.max(initial=0)) <= 1 for piece in pieces(cells))
    return cells.dtype == np.float32 and bool(np.isin(cells.view(np.uint32), [_ABSENT, _PRESENT, _UNKNOWN]).all())


def _convert(cells: np.ndarray, what: str) -> Indicator:
    unknown = cells != cells  # noqa: PLR0124 - whole numbers and booleans have no NaN to test for
    present = cells == 1
    wrong = ~(unknown | present | (cells == 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{what} must hold 0, 1 and NaN (unknown) only. Got {cells[row, column]} in row {row}, column {column}."
        )
    return (
        np.where(unknown, np.float32(np.nan), present).astype(np.float32) if unknown.any() else present.view(np.uint8)
    )
