"""Stretches of flat arrays: n numbers of one array from a place, and n of another.

Offsets instead of slices, and unsigned ones: Numba then neither counts references nor looks for negative indices, and
LLVM turns the loops into vector instructions.
"""

from numba import njit, uint64

from estimators._kernels.state import JIT


@njit(**JIT)
def copy(z, at, w, start, n):  # type: ignore[no-untyped-def]
    """Put n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = w[w_at + k]


@njit(**JIT)
def clear(z, start, stop):  # type: ignore[no-untyped-def]
    """Put zeros from start to stop."""
    for k in range(uint64(start), uint64(stop)):
        z[k] = 0


@njit(**JIT)
def put(z, at, w, start, n, x):  # type: ignore[no-untyped-def]
    """Put x times n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = x * w[w_at + k]


@njit(**JIT)
def add(z, at, w, start, n, x):  # type: ignore[no-untyped-def]
    """Add x times n numbers of w to those of z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] += x * w[w_at + k]


@njit(**JIT, fastmath={"reassoc", "nsz"})
def dot(a, at, b, start, n):  # type: ignore[no-untyped-def]
    """Multiply n numbers of a with those of b, and add up."""
    a_at, b_at = uint64(at), uint64(start)
    total = 0 * a[a_at]
    for k in range(uint64(n)):
        total += a[a_at + k] * b[b_at + k]
    return total


@njit(**JIT, fastmath={"reassoc", "nsz"})
def size(a, at, n):  # type: ignore[no-untyped-def]
    """Add up the absolute values of n numbers of a."""
    a_at = uint64(at)
    total = 0 * abs(a[a_at])
    for k in range(uint64(n)):
        total += abs(a[a_at + k])
    return total
