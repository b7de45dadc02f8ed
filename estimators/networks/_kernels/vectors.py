"""Stretches of flat arrays: n numbers of one array from a place, and n of another.

Offsets instead of slices, and unsigned ones: Numba then neither counts references nor looks for negative indices, and
LLVM turns the loops into vector instructions.
"""

from estimators._kernels.compile import FUSED, INLINE, SUM, njit, uint64


@njit(**INLINE)
def copy(z, at, w, start, n):  # type: ignore[no-untyped-def]
    """Put n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = w[w_at + k]


@njit(**INLINE)
def clear(z, start, stop):  # type: ignore[no-untyped-def]
    """Put zeros from start to stop."""
    for k in range(uint64(start), uint64(stop)):
        z[k] = 0


@njit(**INLINE, **FUSED)
def put(z, at, w, start, n, x):  # type: ignore[no-untyped-def]
    """Put x times n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = x * w[w_at + k]


@njit(**INLINE, **FUSED)
def add(z, at, w, start, n, x):  # type: ignore[no-untyped-def]
    """Add x times n numbers of w to those of z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] += x * w[w_at + k]


@njit(**INLINE, **FUSED)
def put4(z, at, w, starts, x, n):  # type: ignore[no-untyped-def]
    """Put, for four places in w, their x times n numbers of w into z."""
    z_at, a, b, c, d = uint64(at), uint64(starts[0]), uint64(starts[1]), uint64(starts[2]), uint64(starts[3])
    x_a, x_b, x_c, x_d = x
    for k in range(uint64(n)):
        z[z_at + k] = x_a * w[a + k] + x_b * w[b + k] + x_c * w[c + k] + x_d * w[d + k]


@njit(**INLINE, **FUSED)
def add4(z, at, w, starts, x, n):  # type: ignore[no-untyped-def]
    """Add, for four places in w, their x times n numbers of w to those of z: one trip through z instead of four."""
    z_at, a, b, c, d = uint64(at), uint64(starts[0]), uint64(starts[1]), uint64(starts[2]), uint64(starts[3])
    x_a, x_b, x_c, x_d = x
    for k in range(uint64(n)):
        z[z_at + k] += x_a * w[a + k] + x_b * w[b + k] + x_c * w[c + k] + x_d * w[d + k]


@njit(**INLINE, **SUM)
def dot(a, at, b, start, n):  # type: ignore[no-untyped-def]
    """Multiply n numbers of a, one at least, with those of b, and add up."""
    a_at, b_at = uint64(at), uint64(start)
    total = a[a_at] * b[b_at]
    for k in range(uint64(1), uint64(n)):
        total += a[a_at + k] * b[b_at + k]
    return total


@njit(**INLINE, **SUM)
def size(a, at, n):  # type: ignore[no-untyped-def]
    """Add up the absolute values of n numbers of a, one at least."""
    a_at = uint64(at)
    total = abs(a[a_at])
    for k in range(uint64(1), uint64(n)):
        total += abs(a[a_at + k])
    return total


@njit(**INLINE)
def rectify(z, at, n):  # type: ignore[no-untyped-def]
    """Put 0 for what is negative; NaN goes on, as it has to be seen."""
    for k in range(uint64(at), uint64(at + n)):
        z[k] *= z[k] > 0  # not a choice: LLVM would store under a mask, and the next load would wait for it


@njit(**INLINE)
def keep_active(z, at, units, n):  # type: ignore[no-untyped-def]
    """Put 0 where the units are not positive."""
    for k in range(uint64(at), uint64(at + n)):
        z[k] *= units[k] > 0
