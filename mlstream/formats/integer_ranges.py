"""Lists of integers as short text: ``3..5 9`` for ranges, ``2*350 0*10`` for repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mlstream._support.content import show
from mlstream.streams.stream import Index

# Eighteen digits fit into 64 bits.
_RANGES = re.compile(r"(?:-?\d{1,18}(?:\.\.-?\d{1,18})?(?: (?!$)|$))*", re.ASCII)
_REPEATS = re.compile(r"(?:\d{1,18}\*\d{1,18}(?: (?!$)|$))*", re.ASCII)


def format_ranges(values: Index) -> str:
    """Write integers, each stretch of consecutive ones as ``first..last``.

    >>> format_ranges(np.array([3, 4, 5, 9, -2, -1]))
    '3..5 9 -2..-1'
    """
    if not len(values):
        return ""
    cuts = np.flatnonzero(np.diff(values) != 1) + 1
    firsts, lasts = values[np.r_[0, cuts]], values[np.r_[cuts, len(values)] - 1]
    pairs = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return " ".join(str(first) if first == last else f"{first}..{last}" for first, last in pairs)


def parse_ranges(text: str, n_values: int) -> Index:
    """Read what `format_ranges` wrote.

    Raises ValueError if the text is nothing that `format_ranges` writes, or, before memory is taken, if there are not
    `n_values` integers.
    """
    _require(_RANGES, text)
    pairs = [run.partition("..") for run in text.split()]
    firsts = [int(first) for first, _, _ in pairs]
    lengths = [int(last or first) - int(first) + 1 for first, _, last in pairs]
    first_of_each = _repeat(firsts, lengths, n_values)
    steps = np.array(lengths, dtype=np.int64)
    return first_of_each + np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)


def format_repeats(values: Index) -> str:
    """Write integers that are not negative, each stretch of equal ones as ``value*length``.

    >>> format_repeats(np.array([2, 2, 2, 0]))
    '2*3 0*1'
    """
    if not len(values):
        return ""
    cuts = np.flatnonzero(np.diff(values)) + 1
    starts = np.r_[0, cuts]
    lengths = np.diff(np.r_[starts, len(values)])
    return " ".join(f"{value}*{n}" for value, n in zip(values[starts].tolist(), lengths.tolist(), strict=True))


def parse_repeats(text: str, n_values: int) -> Index:
    """Read what `format_repeats` wrote; the arguments are those of `parse_ranges`."""
    _require(_REPEATS, text)
    pairs = [run.split("*") for run in text.split()]
    return _repeat([int(value) for value, _ in pairs], [int(length) for _, length in pairs], n_values)


def _require(pattern: re.Pattern[str], text: str) -> None:
    if not pattern.fullmatch(text):
        example = "3..5 9" if pattern is _RANGES else "2*350 0*10"
        raise ValueError(f"a list of numbers must look like {example}. Got {show(text)}.")


def _repeat(values: Sequence[int], lengths: Sequence[int], n_values: int) -> Index:
    if min(lengths, default=1) < 1 or sum(lengths) != n_values:
        raise ValueError(f"a list of numbers must have {n_values} entries. Got {sum(lengths)}.")
    return np.repeat(np.array(values, dtype=np.int64), np.array(lengths, dtype=np.int64))
