"""Lists of integers as short text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.formats.integer_ranges import format_ranges, format_repeats, parse_ranges, parse_repeats
from tests.loops import check_all

INTEGERS = st.integers(-(10**17), 10**17) | st.integers(-3, 3)


@given(st.lists(INTEGERS))
def test_ranges_are_read_as_they_were(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    read = parse_ranges(format_ranges(array), len(values))
    assert (read.dtype, read.tolist()) == (np.int64, values)


@given(st.lists(st.integers(0, 3) | st.integers(0, 10**17)))
def test_repeats_are_read_as_they_were(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    read = parse_repeats(format_repeats(array), len(values))
    assert (read.dtype, read.tolist()) == (np.int64, values)


def test_long_runs_are_short() -> None:
    assert format_ranges(np.arange(10**6)) == "0..999999"
    assert format_repeats(np.full(10**6, 7)) == "7*1000000"


def test_wrong_ranges_are_errors_before_memory_is_taken() -> None:
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="a list of numbers must"):
            parse_ranges(text, 2)

    check_all(["x", "1.5", "1..", "..1", "3..1", " 1", "1 ", "1  2", "1*2", "٣", "9" * 30, "0..99999999"], check)


def test_wrong_repeats_are_errors_before_memory_is_taken() -> None:
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="a list of numbers must"):
            parse_repeats(text, 2)

    check_all(["x", "1", "1*", "*1", "-1*2", "1*0", "1*2 ", "1*-2", "0*999999999999", "9*" + "9" * 30], check)
