"""Operations on parts of flat arrays: n numbers of one array from an offset, and n of another.

Unsigned offsets instead of slices: Numba then neither counts references nor looks for negative indices, and LLVM turns
the loops into vector instructions.
"""

from estimators._kernels.compile import FUSED, INLINE, njit, uint64
from estimators._typing import Number
from estimators.networks._kernels.lanes import N_LANES, lane_products
from estimators.networks._kernels.state import Floats

Four = tuple[Number, Number, Number, Number]


@njit(**INLINE)
def copy(z: Floats, at: int, w: Floats, start: int, n: int) -> None:
    """Copy n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = w[w_at + k]


@njit(**INLINE)
def clear(z: Floats, start: int, stop: int) -> None:
    """Fill with zeros from start to stop."""
    for k in range(uint64(start), uint64(stop)):
        z[k] = 0


@njit(**INLINE, **FUSED)
def put(z: Floats, at: int, w: Floats, start: int, n: int, x: Number) -> None:
    """Put x times n numbers of w into z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] = x * w[w_at + k]


@njit(**INLINE, **FUSED)
def add(z: Floats, at: int, w: Floats, start: int, n: int, x: Number) -> None:
    """Add x times n numbers of w to those of z."""
    z_at, w_at = uint64(at), uint64(start)
    for k in range(uint64(n)):
        z[z_at + k] += x * w[w_at + k]


@njit(**INLINE, **FUSED)
def put4(z: Floats, at: int, w: Floats, starts: tuple[int, int, int, int], x: Four, n: int) -> None:
    """Put into z the sum, over four offsets in w, of their x times n numbers of w."""
    z_at, a, b, c, d = uint64(at), uint64(starts[0]), uint64(starts[1]), uint64(starts[2]), uint64(starts[3])
    x_a, x_b, x_c, x_d = x
    for k in range(uint64(n)):
        z[z_at + k] = x_a * w[a + k] + x_b * w[b + k] + x_c * w[c + k] + x_d * w[d + k]


@njit(**INLINE, **FUSED)
def add4(z: Floats, at: int, w: Floats, starts: tuple[int, int, int, int], x: Four, n: int) -> None:
    """Add the sum, over four offsets in w, of their x times n numbers of w to z: one pass over z instead of four."""
    z_at, a, b, c, d = uint64(at), uint64(starts[0]), uint64(starts[1]), uint64(starts[2]), uint64(starts[3])
    x_a, x_b, x_c, x_d = x
    for k in range(uint64(n)):
        z[z_at + k] += x_a * w[a + k] + x_b * w[b + k] + x_c * w[c + k] + x_d * w[d + k]


@njit(**INLINE, **FUSED)
def dot(a: Floats, at: int, b: Floats, start: int, n: int) -> Number:
    """Return the scalar product of n numbers of a and n of b, with the same bits on all processors."""
    a_at, b_at, n_in_lanes = uint64(at), uint64(start), uint64(n) // N_LANES * N_LANES
    total = lane_products(a, a_at, b, b_at, n_in_lanes)
    for k in range(n_in_lanes, uint64(n)):
        total += a[a_at + k] * b[b_at + k]
    return total


@njit(**INLINE, fastmath={"reassoc", "nsz", "contract"})
def l1_norm(a: Floats, at: int, n: int) -> float:
    """Return the sum of the absolute values of n numbers of a, at least one, to be compared with a limit."""
    a_at = uint64(at)
    total = abs(a[a_at])
    for k in range(uint64(1), uint64(n)):
        total += abs(a[a_at + k])
    return total


@njit(**INLINE)
def relu(z: Floats, at: int, n: int) -> None:
    """Replace negative numbers by 0; NaN stays, as it has to be noticed."""
    for k in range(uint64(at), uint64(at + n)):
        z[k] *= z[k] > 0  # not a conditional: LLVM would store under a mask, and the next load would wait for it


@njit(**INLINE)
def clear_inactive(z: Floats, at: int, units: Floats, n: int) -> None:
    """Replace numbers by 0 where the units are not positive."""
    for k in range(uint64(at), uint64(at + n)):
        z[k] *= units[k] > 0
