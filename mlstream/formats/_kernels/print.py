"""Compiled loops that write rows of ARFF: labels, then numbers as the shortest decimals that `repr` writes.

A label is the distance of its sign from the sign 0: 0, 1, or that of an unknown label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import INLINE, JIT, int64, multiply, njit, uint64
from mlstream.formats._kernels.decimals import MINUS, PLUS, POINT, SMALL_E, ZERO, Bytes

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]

BLANK, NEWLINE, COMMA, OPEN, CLOSE = ord(" "), ord("\n"), ord(","), ord("{"), ord("}")
# A column's number, a blank, and a comma or brace.
_AROUND_CELL = 22
LONGEST = 24
"""The greatest number of characters of a double."""

_MIN_EXPONENT, _MAX_EXPONENT = -292, 324
_TENS = np.array([10**exponent for exponent in range(20)], dtype=np.uint64)
_HIDDEN_BIT = np.uint64(2**52)
# From here on, and below, numbers are written with an exponent.
_MAX_DIGITS_BEFORE_POINT, _MAX_ZEROS_BEHIND_POINT = 16, 3


def print_dense(X: Doubles, Y: Bytes) -> bytes:
    """Write rows that list every cell."""
    out = np.empty(len(X) * (2 * Y.shape[1] + (LONGEST + 1) * X.shape[1] + 1), np.uint8)
    return out[: _print_dense(X, Y, out)].tobytes()


def print_sparse(values: Doubles, columns: Integers, ends: Integers, Y: Bytes) -> bytes:
    """Write rows of ``{index value, ...}``: the arrays of a CSR matrix, whose columns follow those of the labels."""
    n_cells = len(values) + int(np.count_nonzero(Y)) + len(Y)
    out = np.empty(n_cells * (LONGEST + _AROUND_CELL) + 3 * len(Y), np.uint8)
    return out[: _print_sparse((values, columns, ends), Y, out)].tobytes()


@njit(**JIT)
def _print_dense(X: Doubles, Y: Bytes, out: Bytes) -> int:
    position = 0
    for row in range(len(X)):
        for label in range(Y.shape[1]):
            out[position], out[position + 1] = ZERO + Y[row, label], COMMA
            position += 2
        for column in range(X.shape[1]):
            position = write_double(out, position, X[row, column])
            out[position] = COMMA
            position += 1
        out[position - 1] = NEWLINE
    return position


@njit(**INLINE)
def _print_column(out: Bytes, position: int, column: int) -> int:
    position = write_integer(out, position, uint64(column))
    out[position] = BLANK
    return position + 1


@njit(**JIT)
def _print_sparse(matrix: tuple[Doubles, Integers, Integers], Y: Bytes, out: Bytes) -> int:
    values, columns, ends = matrix
    n_labels, position = Y.shape[1], 0
    for row in range(len(Y)):
        out[position] = OPEN
        position += 1
        start = position
        for label in range(n_labels):
            if Y[row, label]:
                position = _print_column(out, position, label)
                out[position], out[position + 1] = ZERO + Y[row, label], COMMA
                position += 2
        for place in range(ends[row], ends[row + 1]):
            position = _print_column(out, position, columns[place] + n_labels)
            position = write_double(out, position, values[place])
            out[position] = COMMA
            position += 1
        if position == start:
            # River cannot read {}, the row of zeros only.
            position = _print_column(out, position, 0)
            out[position] = ZERO
            position += 2
        out[position - 1], out[position] = CLOSE, NEWLINE
        position += 1
    return position


def _power_of_ten(exponent: int) -> int:
    """Return the leading 128 bits of a power of ten, rounded up."""
    power = 10 ** abs(exponent)
    if exponent >= 0:
        shift = power.bit_length() - 128
        return power << -shift if shift <= 0 else -(-power >> shift)
    return -(-(1 << (power.bit_length() + 127)) // power)


_POWERS = [_power_of_ten(exponent) for exponent in range(_MIN_EXPONENT, _MAX_EXPONENT + 1)]
_POWERS_HIGH = np.array([power >> 64 for power in _POWERS], dtype=np.uint64)
_POWERS_LOW = np.array([power & (2**64 - 1) for power in _POWERS], dtype=np.uint64)


@njit(**INLINE)
def _scale(power: int, number: Any) -> Any:
    """Multiply by a power of ten and round to odd, so that later roundings see that the rest was not zero."""
    over, _ = multiply(_POWERS_LOW[power - _MIN_EXPONENT], number)
    high, low = multiply(_POWERS_HIGH[power - _MIN_EXPONENT], number)
    low += over
    high += uint64(low < over)
    return high | uint64(low > uint64(1))


@njit(**JIT)
def _shorten(significand: Any, exponent: int, is_power_of_two: bool) -> tuple[Any, int]:
    """Find the shortest decimal in the interval of numbers that round to significand * 2 ** exponent."""
    is_odd = significand & uint64(1)
    # The interval below a power of two is half as wide.
    power = (exponent * 1262611 - (524031 if is_power_of_two else 0)) >> 22
    shift = uint64(exponent + ((-power * 1741647) >> 19) + 1)
    middle = significand << uint64(2)
    lower = _scale(-power, (middle - uint64(2) + uint64(is_power_of_two)) << shift) + is_odd
    upper = _scale(-power, (middle + uint64(2)) << shift) - is_odd
    found = _scale(-power, middle << shift)
    digits = found >> uint64(2)
    if digits >= uint64(10):
        fewer = digits // uint64(10)
        is_below, is_above = lower <= fewer * uint64(40), fewer * uint64(40) + uint64(40) <= upper
        if is_below != is_above:
            return fewer + uint64(is_above), power + 1
    is_below, is_above = lower <= digits << uint64(2), (digits << uint64(2)) + uint64(4) <= upper
    if is_below != is_above:
        return digits + uint64(is_above), power
    halfway = (digits << uint64(2)) + uint64(2)
    is_up = found > halfway or (found == halfway and digits & uint64(1) == uint64(1))
    return digits + uint64(is_up), power


@njit(**JIT)
def _to_decimal(bits: Any) -> tuple[Any, int]:
    fraction, biased = bits & (_HIDDEN_BIT - uint64(1)), int64((bits >> uint64(52)) & uint64(0x7FF))
    if biased == 0:
        return _shorten(fraction, 1 - 1075, False)
    significand, exponent = fraction | _HIDDEN_BIT, biased - 1075
    if -53 < exponent <= 0 and significand & ((uint64(1) << uint64(-exponent)) - uint64(1)) == uint64(0):
        return significand >> uint64(-exponent), 0
    return _shorten(significand, exponent, fraction == 0 and biased > 1)


@njit(**INLINE)
def _count_digits(number: Any) -> int:
    n_digits = 1
    while n_digits < len(_TENS) and number >= _TENS[n_digits]:
        n_digits += 1
    return n_digits


@njit(**INLINE)
def _strip_zeros(digits: Any, power: int) -> Any:
    for n_zeros in (8, 4, 2, 1):
        fewer = digits // _TENS[n_zeros]
        if fewer * _TENS[n_zeros] == digits:
            digits, power = fewer, power + n_zeros
    return digits, power


@njit(**INLINE)
def _write_digits(out: Bytes, start: int, stop: int, number: Any) -> Any:
    """Write the last digits of a number to the places from start to stop; give the digits before."""
    for place in range(stop - 1, start - 1, -1):
        following = number // uint64(10)
        out[place] = ZERO + int64(number - following * uint64(10))
        number = following
    return number


@njit(**INLINE)
def write_integer(out: Bytes, position: int, number: Any) -> int:
    """Write an integer that is not negative; give where it ends."""
    end = position + _count_digits(number)
    _write_digits(out, position, end, number)
    return end


@njit(**JIT)
def write_double(out: Bytes, position: int, number: float) -> int:
    """Write a finite number as `repr` does; give where it ends."""
    bits = np.float64(number).view(np.uint64)
    if bits >> uint64(63):
        out[position] = MINUS
        position += 1
    if number == 0.0:
        out[position], out[position + 1], out[position + 2] = ZERO, POINT, ZERO
        return position + 3
    digits, power = _to_decimal(bits & uint64(2**63 - 1))
    digits, power = _strip_zeros(digits, power)
    n_digits = _count_digits(digits)
    # The point stands behind so many digits.
    point = n_digits + power
    if not -_MAX_ZEROS_BEHIND_POINT <= point <= _MAX_DIGITS_BEFORE_POINT:
        return _write_exponent(out, position, digits, point - 1)
    if power >= 0:
        return _write_whole(out, position, digits, n_digits, point)
    end = position + max(point, 1) + 1 - power
    # Behind the point, and before it: a zero if nothing else.
    digits = _write_digits(out, end + power, end, digits)
    out[end + power - 1] = POINT
    _write_digits(out, position, end + power - 1, digits)
    return end


@njit(**INLINE)
def _write_whole(out: Bytes, position: int, digits: Any, n_digits: int, point: int) -> int:
    _write_digits(out, position, position + n_digits, digits)
    out[position + n_digits : position + point] = ZERO
    out[position + point], out[position + point + 1] = POINT, ZERO
    return position + point + 2


@njit(**JIT)
def _write_exponent(out: Bytes, position: int, digits: Any, exponent: int) -> int:
    n_behind = _count_digits(digits) - 1
    end = position + 1 + n_behind
    if n_behind:
        digits = _write_digits(out, position + 2, end + 1, digits)
        out[position + 1] = POINT
        end += 1
    out[position] = ZERO + int64(digits)
    out[end], out[end + 1] = SMALL_E, MINUS if exponent < 0 else PLUS
    end += 2
    if -10 < exponent < 10:
        out[end] = ZERO
        end += 1
    return write_integer(out, end, uint64(abs(exponent)))
