"""Decimal numbers to the nearest double, compiled.

References
----------
.. [1] Lemire: Number parsing at a gigabyte per second. Software: Practice and Experience 51(8), 2021.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, PART, int64, leading_zeros, multiply, njit, uint64

Bytes: TypeAlias = npt.NDArray[np.uint8]

# Bytes less bytes are unsigned, so that one comparison finds a digit; unsigned positions never count from the end.
PLUS, MINUS, POINT, ZERO, SMALL_E, LARGE_E = np.frombuffer(b"+-.0eE", np.uint8)
NINE, ONE, TEN = np.uint64(9), np.uint64(1), np.uint64(10)
NOWHERE = np.uint64(0)
"""In place of the position behind something that could not be read."""

_MIN_EXPONENT, _MAX_EXPONENT = -342, 308
_UNSURE = -1.0
_MAX_DIGITS = np.uint64(19)
# Powers of ten that are doubles, and the greatest integer below which all integers are.
_EXACT_POWERS = np.array([float(10**exponent) for exponent in range(23)])
_EXACT = np.uint64(2**53)
_LOW_BITS = np.uint64(0x1FF)
_ALL = np.uint64(2**64 - 1)


def _power_of_five(exponent: int) -> int:
    """Return the leading 128 bits of a power of five: rounded down, or up if it is a fraction."""
    power = 5 ** abs(exponent)
    if exponent >= 0:
        return power << 128 >> power.bit_length()
    n_bits = (power - 1).bit_length()
    # Reciprocals of the smaller powers are good to the last of 128 bits; the others are cut there.
    reciprocal = (1 << (n_bits + 127 if exponent >= -27 else 2 * n_bits + 128)) // power + 1
    return reciprocal >> max(0, reciprocal.bit_length() - 128)


_POWERS = [_power_of_five(exponent) for exponent in range(_MIN_EXPONENT, _MAX_EXPONENT + 1)]
_POWERS_HIGH = np.array([power >> 64 for power in _POWERS], dtype=np.uint64)
_POWERS_LOW = np.array([power & (2**64 - 1) for power in _POWERS], dtype=np.uint64)


@njit(**HOT)
def to_double(mantissa: Any, exponent: int) -> float:
    """Round mantissa * 10 ** exponent to the nearest double, ties to even.

    It is negative where 128 bits of the power do not suffice, or the result is not a normal number.
    """
    if mantissa <= _EXACT and -22 <= exponent <= 22:
        # One exact operation on exact numbers rounds once.
        if exponent < 0:
            return float(mantissa) / _EXACT_POWERS[-exponent]
        return float(mantissa) * _EXACT_POWERS[exponent]
    if mantissa == 0:
        return 0.0
    return _round(mantissa, exponent) if _MIN_EXPONENT <= exponent <= _MAX_EXPONENT else _UNSURE


@njit(**PART)
def _round(mantissa: Any, exponent: int) -> float:
    shift = leading_zeros(mantissa)
    mantissa <<= shift
    high, low = multiply(mantissa, _POWERS_HIGH[exponent - _MIN_EXPONENT])
    if high & _LOW_BITS == _LOW_BITS:
        # The upper half of the power does not determine the result.
        more, _ = multiply(mantissa, _POWERS_LOW[exponent - _MIN_EXPONENT])
        low += more
        high += uint64(low < more)
    upper = high >> uint64(63)
    binary_exponent = ((217706 * exponent) >> 16) + 63 + int64(upper) - int64(shift) + 1023
    if low == _ALL or not 0 < binary_exponent < 2046:
        return _UNSURE
    bits = high >> (upper + NINE)
    # Halfway between two doubles, exactly: to the even one.
    is_tie = low <= ONE and -4 <= exponent <= 23 and bits & uint64(3) == ONE
    if is_tie and bits << (upper + NINE) == high:
        bits &= ~ONE
    bits = (bits + (bits & ONE)) >> ONE
    # Rounding up may carry into the exponent, which is where the bits belong then.
    word = bits - uint64(2**52) + (uint64(binary_exponent) << uint64(52))
    return np.uint64(word).view(np.float64)


@njit(**HOT)
def read_digits(text: Bytes, position: Any, mantissa: Any) -> Any:
    """Append the digits at a position to an integer; give it, and where they end."""
    digit = text[position] - ZERO
    while digit <= NINE:
        mantissa = mantissa * TEN + digit
        position += ONE
        digit = text[position] - ZERO
    return mantissa, position


@njit(**HOT)
def read_number(text: Bytes, position: Any) -> Any:
    """Read the number at a position of a text that goes on behind it.

    The second value is where the number ends, or `NOWHERE` where no number can be read here: no digits, more than 19
    of them, infinity, or a result that needs more precision.
    """
    is_negative = text[position] == MINUS
    start = position + ONE if is_negative or text[position] == PLUS else position
    mantissa, position = read_digits(text, start, NOWHERE)
    n_digits, exponent = position - start, 0
    if text[position] == POINT:
        behind = position + ONE
        mantissa, position = read_digits(text, behind, mantissa)
        n_digits += position - behind
        exponent = int64(behind - position)
    if n_digits > _MAX_DIGITS:
        # Zeros before the first other digit do not count.
        while text[start] == ZERO or text[start] == POINT:
            n_digits -= uint64(text[start] == ZERO)
            start += ONE
    if n_digits == 0 or n_digits > _MAX_DIGITS:
        return 0.0, NOWHERE
    if text[position] == SMALL_E or text[position] == LARGE_E:
        power, position = _read_power(text, position + ONE)
        exponent += power
    number = to_double(mantissa, exponent)
    if number < 0.0:
        return number, NOWHERE
    return (-number if is_negative else number), position


@njit(**PART)
def _read_power(text: Bytes, position: Any) -> Any:
    is_negative = text[position] == MINUS
    start = position + ONE if is_negative or text[position] == PLUS else position
    power, position = read_digits(text, start, NOWHERE)
    is_read = ONE <= position - start < NINE
    return int64(-power if is_negative else power), (position if is_read else NOWHERE)
