"""Random numbers of compiled trees are those of Python and of River."""

import random

import numpy as np
import pytest
from river.utils.random import poisson

from estimators._kernels.compile import JIT, njit
from estimators.trees._kernels.twister import draw_poisson, seeded


@njit(**JIT)
def draw(states, t, drawn):
    for k in range(len(drawn)):
        drawn[k] = draw_poisson(states, t)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31 - 2, 2**40 + 1])
def test_draws_are_rivers(seed):
    states, drawn = seeded([9, seed]), np.empty(5000, dtype=np.int64)
    draw(states, 1, drawn)
    rng = random.Random(seed)  # noqa: S311 - the peer
    assert drawn.tolist() == [poisson(1, rng) for _ in range(5000)]
    assert states[1].tolist() == list(rng.getstate()[1])
    assert states[0].tolist() == list(random.Random(9).getstate()[1])  # noqa: S311
