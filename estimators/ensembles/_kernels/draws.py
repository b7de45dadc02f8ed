"""Random numbers of times that a member learns a row."""

import math

from estimators._kernels.compile import HOT, njit
from estimators._kernels.randomness import advance, uniform
from estimators._typing import Array

# with means of at most MOST_MEAN, fewer than one number in 1e100 would be greater
MOST_TIMES, MOST_MEAN = 1000, 100.0


@njit(**HOT)
def draw_poisson(states: Array, k: int, mean: float) -> int:
    """Draw a Poisson number by the state of member k, which steps on: the smallest whose share reaches the draw."""
    mean = min(mean, MOST_MEAN)
    states[k] = advance(states[k])
    u = uniform(states[k])
    times, probability = 0, math.exp(-mean)
    share = probability
    while u >= share and times < MOST_TIMES:
        times += 1
        probability *= mean / times
        share += probability
    return times
