"""Columns in memory as a table: arrays of numbers, truth values or words, by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, first_repeated, show
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.table import Column, Table
from mlstream.streams.tables.text_columns import Words, read_cells


def tabulate(
    names: Sequence[str], columns: Sequence[npt.ArrayLike], title: str, reading: ReadingCard = BY_DEFAULT
) -> Table:
    """Put columns side by side as a table, which `part` divides into features and labels.

    Columns hold numbers, booleans or strings; None, NaN, NaT and NA are missing values and, under any `missing` but
    "error", so are words such as NA. Booleans, and columns of the words true and false or yes and no, are 0 and 1;
    other words are nominal columns, their values in alphabetical order. Errors call the table `title` and number its
    rows from 1. Raises FormatError if names repeat, or a column holds dates, infinity, or more different words than
    columns of words may.
    """
    path = Path(title)
    if not names or len(set(names)) < len(names):
        got = f"{show(str(first_repeated(names)))} twice" if names else "no column"
        raise FormatError(f"{path} must have columns with different names. Got {got}.")
    read = [read_array(name, np.asarray(column), path, reading) for name, column in zip(names, columns, strict=True)]
    cells = np.column_stack([cells for _, cells in read])
    return Table(path, tuple(column for column, _ in read), cells, np.arange(1, len(cells) + 1), unit="row")


def read_array(
    name: str, values: np.ndarray, path: Path, reading: ReadingCard
) -> tuple[Column, npt.NDArray[np.float64]]:
    """Read one column in memory, as `tabulate` does."""
    if values.dtype.kind in "biuf":
        return Column(name), _require_finite(name, values.astype(np.float64), path)
    if values.dtype.kind in "mM":
        rule = "must hold numbers or words. Got dates or times; write them as numbers, such as days"
        raise FormatError(f"{path}: column {show(name)} {rule}, or leave the column out.")
    known = [not _is_missing(value) for value in values]
    if all(isinstance(value, Real | np.bool_) for value, is_known in zip(values, known, strict=True) if is_known):
        numbers = [float(value) if is_known else math.nan for value, is_known in zip(values, known, strict=True)]
        return Column(name), _require_finite(name, np.array(numbers, dtype=np.float64), path)
    texts = [str(value) if is_known else "" for value, is_known in zip(values, known, strict=True)]
    return _read_texts(name, texts, path, reading)


def _read_texts(
    name: str, texts: Sequence[str], path: Path, reading: ReadingCard
) -> tuple[Column, npt.NDArray[np.float64]]:
    takes_missing = reading.missing != "error"
    words = Words(name, path, takes_missing=takes_missing, unit="row")
    words.add(texts, range(1, len(texts) + 1))
    found = words.settle()
    column, codes = (Column(name), None) if found is None else found
    # Whatever is neither a number nor a word was refused.
    return column, np.array(read_cells(texts, codes, takes_missing=takes_missing), dtype=np.float64)


def _is_missing(value: object) -> bool:
    # NA of pandas equals nothing, and is not a truth value either.
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _require_finite(name: str, numbers: npt.NDArray[np.float64], path: Path) -> npt.NDArray[np.float64]:
    if np.isinf(numbers).any():
        raise FormatError(f"{path}: column {show(name)} must hold finite numbers. Got infinity.")
    return numbers
