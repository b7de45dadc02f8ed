"""Random numbers inside compiled loops: a state of 64 bits goes in and comes out (SplitMix64, Steele et al. 2014)."""

import numpy as np

from estimators._kernels.compile import JIT, LOOP, PART, njit
from estimators._typing import Array, Integer

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(**LOOP)
def advance(state: Integer) -> np.uint64:
    """Step to the next state."""
    return np.uint64(state) + GOLDEN


@njit(**LOOP)
def uniform(state: Integer) -> float:
    """Turn a state into a number in [0, 1)."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**JIT)
def fill_chances(seed: int, rows: Array, chances: Array) -> None:
    """Fill the line of each row with numbers in [0, 1): those that the states at its places in the sequence give."""
    n = chances.shape[1]
    for i in range(rows.size):
        for j in range(n):
            place = np.uint64(rows[i]) * np.uint64(n) + np.uint64(j)
            chances[i, j] = uniform(np.uint64(seed << 32) + (place + np.uint64(1)) * GOLDEN)


@njit(**PART)
def draw_subset(state: Integer, n: int, subset: Array) -> Integer:
    """Draw len(subset) distinct numbers below n, sorted, each subset equally likely, and return the new state.

    Every number in turn is taken with the probability that as many as are still wanted fall on it (Knuth's
    algorithm S).
    """
    taken = 0
    for number in range(n):
        state = advance(state)
        if uniform(state) * (n - number) < len(subset) - taken:
            subset[taken] = number
            taken += 1
    return state
