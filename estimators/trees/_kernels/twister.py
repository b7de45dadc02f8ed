"""The random numbers of Python's ``random.Random``, and River's Poisson draws from them, inside compiled loops.

A state is what ``random.Random.getstate`` returns: the 624 words of the Mersenne Twister (MT19937; Matsumoto and
Nishimura, 1998), and the number of words that have been used.
"""

import math
import random

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array

N_WORDS, DISTANCE = 624, 397
N_STATE = N_WORDS + 1
HIGH_BIT, LOW_BITS, TWIST = 0x80000000, 0x7FFFFFFF, 0x9908B0DF
NOTHING_HAPPENS = math.exp(-1.0)


def seeded(seeds: list[int]) -> Array:
    """Return the states of ``random.Random(seed)`` for some seeds, of shape (n_seeds, N_STATE)."""
    states = np.empty((len(seeds), N_STATE), dtype=np.uint32)
    for state, seed in zip(states, seeds, strict=True):
        state[:] = random.Random(seed).getstate()[1]  # noqa: S311 - River draws from it
    return states


@njit(**HOT)
def draw_poisson(states: Array, t: int) -> int:
    """Draw from the Poisson distribution of mean 1 as ``river.utils.random.poisson`` does."""
    k, p = 0, 1.0
    while p > NOTHING_HAPPENS:
        k += 1
        p *= _uniform(states, t)
    return k - 1


@njit(**HOT)
def _uniform(states: Array, t: int) -> float:
    """Draw a number in [0, 1) with 53 random bits."""
    high, low = _next_word(states, t) >> 5, _next_word(states, t) >> 6
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)


@njit(**HOT)
def _next_word(states: Array, t: int) -> np.int64:
    if states[t, N_WORDS] >= N_WORDS:
        _renew(states, t)
    y = np.int64(states[t, states[t, N_WORDS]])
    states[t, N_WORDS] += 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


@njit(**PART)
def _renew(states: Array, t: int) -> None:
    """Compute the next 624 words."""
    for k in range(N_WORDS):
        y = (np.int64(states[t, k]) & HIGH_BIT) | (np.int64(states[t, (k + 1) % N_WORDS]) & LOW_BITS)
        states[t, k] = np.int64(states[t, (k + DISTANCE) % N_WORDS]) ^ (y >> 1) ^ (TWIST if y & 1 else 0)
    states[t, N_WORDS] = 0
