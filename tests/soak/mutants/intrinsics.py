"""What kernels take from the machine, in Python, for kernels that are not compiled."""

import numpy as np


def multiply(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Multiply two unsigned 64-bit integers into the high and the low half of 128 bits."""
    high, low = divmod(int(a) * int(b), 2**64)
    return np.uint64(high), np.uint64(low)


def leading_zeros(value: np.uint64) -> np.uint64:
    """Count the zeros before the first bit of an unsigned 64-bit integer that is set."""
    return np.uint64(64 - int(value).bit_length())


def install() -> None:
    """Let the kernels that are imported from now on run these."""
    from estimators._kernels import compile as kernels

    kernels.multiply, kernels.leading_zeros = multiply, leading_zeros
