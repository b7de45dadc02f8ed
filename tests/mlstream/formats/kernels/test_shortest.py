"""Doubles are written as `repr` writes them, digit by digit."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mlstream.formats._kernels.print import LONGEST, write_double

FINITE = st.floats(allow_nan=False, allow_infinity=False)
BITS = st.integers(0, 2**64 - 1).map(lambda bits: float(np.uint64(bits).view(np.float64))).filter(np.isfinite)
POWERS = st.integers(-1074, 1023).map(lambda exponent: 2.0**exponent)
DECIMALS = st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(0, 10**17), st.integers(-330, 290))


@settings(max_examples=300)
@given(FINITE | BITS | POWERS | DECIMALS | st.integers(-(2**60), 2**60).map(float), st.integers(0, 3))
@example(9007199254740992.0, 0)
@example(1e16, 0)
@example(1e-4, 0)
@example(9.999999999999999e22, 0)
@example(5e-324, 0)
@example(-1.7976931348623157e308, 0)
@example(-0.0, 0)
def test_numbers_are_written_as_repr_does(number, position):
    out = np.full(position + LONGEST, ord("#"), np.uint8)
    end = write_double(out, position, number)
    assert out.tobytes()[:end].decode() == "#" * position + repr(number)
