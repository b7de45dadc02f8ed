"""Votes of the nodes of a tree by the shares of classes in them and in the nodes above, and their sum over rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from estimators._kernels.randomness import JIT

Array = npt.NDArray[Any]


@njit(**JIT)
def shrink(values: Array, weights: Array, left: Array, right: Array, strength: float) -> Array:
    """Return, for each node, the mean of its shares (n_nodes, width) and of these shrunken along its path.

    Shrunken (Agarwal et al., ICML 2022): from the root on, a step down to a child counts by N / (N + strength), N being
    the rows of the upper node. Children have greater numbers than their parent.
    """
    out = np.empty_like(values)
    out[0] = values[0]
    for parent in range(len(left)):
        if left[parent] < 0:
            continue
        part = weights[parent] / (weights[parent] + strength)
        for child in (left[parent], right[parent]):
            for k in range(values.shape[1]):
                out[child, k] = out[parent, k] + part * (values[child, k] - values[parent, k])
    return (out + values) / 2.0


@njit(**JIT)
def add_shares(shares: Array, leaves: Array, rows: Array, total: Array) -> None:
    """Add the shares of the leaf that each of the listed rows falls into."""
    for i in range(len(rows)):
        for k in range(shares.shape[1]):
            total[rows[i], k] += shares[leaves[i], k]
