"""Decimal numbers to the nearest double, compiled.

References
----------
.. [1] Lemire: Number parsing at a gigabyte per second. Software: Practice and Experience 51(8), 2021.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import JIT, SPLICED, int64, njit, uint64

Bytes: TypeAlias = npt.NDArray[np.uint8]

PLUS, MINUS, POINT, ZERO, NINE = ord("+"), ord("-"), ord("."), ord("0"), ord("9")
SMALL_E, LARGE_E = ord("e"), ord("E")

_MIN_EXPONENT, _MAX_EXPONENT = -342, 308
_MAX_DIGITS = 19
# Powers of ten that are doubles, and the greatest integer below which all integers are.
_EXACT_POWERS = np.array([float(10**exponent) for exponent in range(23)])
_EXACT = np.uint64(2**53)
_LOW = np.uint64(2**32 - 1)
_ALL = np.uint64(2**64 - 1)


def _power_of_five(exponent: int) -> int:
    """Give the leading 128 bits of a power of five: rounded down, or up if it is a fraction."""
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


@njit(**SPLICED)
def multiply(a: Any, b: Any) -> Any:
    """Multiply two 64-bit integers into the high and the low half of 128 bits."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> uint64(32), b & _LOW, b >> uint64(32)
    middle = a_high * b_low + (a_low * b_low >> uint64(32))
    carry = (middle & _LOW) + a_low * b_high
    return a_high * b_high + (middle >> uint64(32)) + (carry >> uint64(32)), a * b


@njit(**SPLICED)
def _leading_zeros(value: Any) -> Any:
    n_zeros, rest = 0, value
    for step in (32, 16, 8, 4, 2, 1):
        if not rest >> uint64(64 - step):
            n_zeros += step
            rest <<= uint64(step)
    return n_zeros


@njit(**JIT)
def to_double(mantissa: Any, exponent: int) -> tuple[float, bool]:
    """Round mantissa * 10 ** exponent to the nearest double, ties to even.

    The second value is False where 128 bits of the power do not tell, or the result is not a normal number.
    """
    if mantissa == 0:
        return 0.0, True
    if mantissa <= _EXACT and -22 <= exponent <= 22:
        # One exact operation on exact numbers rounds once.
        number = float(mantissa)
        return (number / _EXACT_POWERS[-exponent] if exponent < 0 else number * _EXACT_POWERS[exponent]), True
    if not _MIN_EXPONENT <= exponent <= _MAX_EXPONENT:
        return 0.0, False
    shift = _leading_zeros(mantissa)
    high, low = _scale(uint64(mantissa) << uint64(shift), exponent)
    upper = high >> uint64(63)
    binary_exponent = ((217706 * exponent) >> 16) + 63 + int64(upper) - shift + 1023
    if low == _ALL or not 0 < binary_exponent < 2046:
        return 0.0, False
    bits = high >> (upper + uint64(9))
    # Halfway between two doubles, exactly: to the even one.
    is_tie = low <= 1 and -4 <= exponent <= 23 and bits & uint64(3) == uint64(1)
    if is_tie and bits << (upper + uint64(9)) == high:
        bits &= ~uint64(1)
    bits = (bits + (bits & uint64(1))) >> uint64(1)
    # Rounding up may carry into the exponent, which is where the bits belong then.
    word = bits - uint64(2**52) + (uint64(binary_exponent) << uint64(52))
    return np.uint64(word).view(np.float64), True


@njit(**SPLICED)
def _scale(mantissa: Any, exponent: int) -> Any:
    """Multiply by a power of five, to as many bits as are needed."""
    high, low = multiply(mantissa, _POWERS_HIGH[exponent - _MIN_EXPONENT])
    if high & uint64(0x1FF) == uint64(0x1FF):
        more, _ = multiply(mantissa, _POWERS_LOW[exponent - _MIN_EXPONENT])
        low += more
        high += uint64(low < more)
    return high, low


@njit(**SPLICED)
def read_digits(text: Bytes, position: int, mantissa: Any) -> Any:
    """Append the digits at a position to an integer; give it, and where they end."""
    digit = text[position] - ZERO
    while 0 <= digit <= 9:
        mantissa = mantissa * uint64(10) + uint64(digit)
        position += 1
        digit = text[position] - ZERO
    return mantissa, position


@njit(**SPLICED)
def _skip_zeros(text: Bytes, position: int) -> int:
    while text[position] == ZERO:
        position += 1
    return position


@njit(**JIT)
def read_number(text: Bytes, position: int) -> tuple[float, int]:
    """Read the number at a position of a text that goes on behind it.

    The second value is where the number ends, or -1 if there is none that can be read here: no digits, more than 19 of
    them, infinity, or a result that needs more precision.
    """
    is_negative = text[position] == MINUS
    if is_negative or text[position] == PLUS:
        position += 1
    start = position
    first = _skip_zeros(text, position)
    mantissa, position = read_digits(text, first, uint64(0))
    n_read, n_digits, exponent = position - start, position - first, 0
    if text[position] == POINT:
        start = position + 1
        first = start if n_digits else _skip_zeros(text, start)
        mantissa, position = read_digits(text, first, mantissa)
        n_read += position - start
        n_digits += position - first
        exponent = start - position
    if n_read == 0 or n_digits > _MAX_DIGITS:
        return 0.0, -1
    if text[position] == SMALL_E or text[position] == LARGE_E:
        power, position = _read_exponent(text, position + 1)
        if position < 0:
            return 0.0, -1
        exponent += power
    number, is_sure = to_double(mantissa, exponent)
    return (-number if is_negative else number), (position if is_sure else -1)


@njit(**JIT)
def _read_exponent(text: Bytes, position: int) -> tuple[int, int]:
    is_negative = text[position] == MINUS
    if is_negative or text[position] == PLUS:
        position += 1
    start = position
    power, position = read_digits(text, position, uint64(0))
    if not 0 < position - start < 9:
        return 0, -1
    return (-int64(power) if is_negative else int64(power)), position
