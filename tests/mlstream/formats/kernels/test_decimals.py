"""Decimal numbers are rounded as `float` rounds them, to the bit, or left to it."""

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.mlstream.formats.kernels.plain_rows import compiled_scan, number

MANTISSAS = st.integers(0, 10**19 - 1) | st.sampled_from([0, 1, 2**53, 2**53 + 1, 10**19 - 1, 9007199254740993])


def read(text):
    """Return the number, None if it takes care."""
    found = compiled_scan(text + "\n", [False], 1, is_sparse=False)
    return found.values[0] if found.values else None


def assert_rounded(text):
    found, expected = read(text), number(text)
    # some numbers are left to `float` because 128 bits of a power do not suffice, but hardly any
    assert found is None or (expected is not None and found.hex() == expected.hex())
    return found is not None or expected is None


@settings(max_examples=200)
@given(MANTISSAS, st.integers(-345, 320), st.sampled_from(["", "-", "+"]))
@example(9007199254740993, 0, "")
@example(5, -324, "")
@example(17976931348623159, 292, "-")
def test_mantissa_and_exponent_are_rounded(mantissa, exponent, sign):
    assert assert_rounded(f"{sign}{mantissa}e{exponent}")


@settings(max_examples=200)
@given(MANTISSAS, st.integers(0, 19), st.sampled_from(["", "e5", "E-3", "e+0"]))
def test_the_point_may_be_anywhere(mantissa, n_behind, power):
    digits = str(mantissa).rjust(n_behind, "0")
    before = len(digits) - n_behind
    assert assert_rounded(f"{digits[:before]}.{digits[before:]}{power}")


@settings(max_examples=200)
@given(st.integers(2**52, 2**53 - 1), st.integers(-3, 0) | st.integers(-55, 10))
def test_halfway_between_two_doubles_is_the_even_one(bits, exponent):
    halfway = Fraction(2 * bits + 1, 2) * Fraction(2) ** exponent
    for places in range(20):
        digits = halfway * 10**places
        if digits.denominator == 1 and digits < 10**19:
            text = f"{digits.numerator}e-{places}"
            assert read(text) in (None, float(halfway))
            assert assert_rounded(text)
            return
