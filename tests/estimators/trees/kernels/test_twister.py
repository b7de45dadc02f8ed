"""Random numbers of compiled trees are those of Python and of River, from any state."""

import math
import random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from river.utils.random import poisson

from estimators._kernels.compile import JIT, njit
from estimators.trees._kernels.twister import N_WORDS, draw_poisson, seeded

SEEDS = st.integers(0, 2**70)


@njit(**JIT)
def draw(states, t, drawn):
    for k in range(len(drawn)):
        drawn[k] = draw_poisson(states, t)


def python_states(seeds):
    return [random.Random(seed) for seed in seeds]  # noqa: S311 - the peer


def assert_draws(states, generators, t, n):
    """Compare draws with those of River from Python's generator, and then the states, whether drawn from or not."""
    drawn = np.empty(n, dtype=np.int64)
    draw(states, t, drawn)
    assert drawn.tolist() == [poisson(1, generators[t]) for _ in range(n)]
    assert states.tolist() == [list(rng.getstate()[1]) for rng in generators]


@given(st.lists(SEEDS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 900))))
@example([0, 2**31 - 2], [(1, 5000)])
def test_draws_from_seeds_in_turn_are_rivers(seeds, turns):
    states, generators = seeded(seeds), python_states(seeds)
    for t, n in turns:
        assert_draws(states, generators, t % len(seeds), n)


# words of few bits make long draws, and words of ones the longest numbers
WORDS = st.lists(st.sampled_from([0, 1, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1), min_size=1, max_size=12)


@given(WORDS, st.integers(0, N_WORDS), st.integers(0, 700))
def test_draws_from_any_state_are_rivers(words, used, n):
    state = (*np.resize(words, N_WORDS).tolist(), used)
    [rng] = python_states([0])
    rng.setstate((3, state, None))
    if any(words):
        assert_draws(np.array([state], dtype=np.uint32), [rng], 0, n)


@given(SEEDS)
def test_a_draw_counts_the_numbers_whose_product_stays_above_the_inverse_of_e(seed):
    [rng], states, drawn = python_states([seed]), seeded([seed]), np.empty(20, dtype=np.int64)
    draw(states, 0, drawn)
    for count in drawn.tolist():
        numbers = [rng.random() for _ in range(count + 1)]
        assert math.prod(numbers) <= math.exp(-1)
        assert not count or math.prod(numbers[:-1]) > math.exp(-1)
