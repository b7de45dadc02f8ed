"""Random numbers are those published for SplitMix64, and those of the slow generator of the tests of ensembles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from estimators._kernels.randomness import advance, draw_subset, fill_chances, uniform
from tests.estimators.ensembles.draws import BITS, uniforms

# the first outputs for the seed 1234567 in Rosetta Code's task "Pseudo-random numbers/Splitmix64", which are those of
# Vigna's splitmix64.c
PUBLISHED = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)
STATES = st.integers(0, BITS) | st.sampled_from([0, BITS, BITS - 1, 2**63])


def take(state, n):
    stream = uniforms(state)
    return [next(stream) for _ in range(n)]


def test_the_numbers_are_those_published():
    state, found = np.uint64(1234567), []
    for _ in PUBLISHED:
        state = np.uint64(advance(state))
        found.append(uniform(state))
    assert found == [(number >> 11) / 2**53 for number in PUBLISHED]


@given(STATES)
def test_every_state_goes_on_as_the_slow_generator(state):
    following = np.uint64(advance(np.uint64(state)))
    assert int(following) == (state + 0x9E3779B97F4A7C15) & BITS
    assert [uniform(following)] == take(state, 1)


@given(st.integers(0, 2**31 - 1), st.lists(st.integers(0, 2**40), max_size=4), st.integers(1, 4))
def test_chances_are_those_at_the_places_of_the_rows(seed, rows, n):
    chances = np.full((len(rows), n), np.nan)
    fill_chances(seed, np.array(rows, np.int64), chances)
    golden = 0x9E3779B97F4A7C15
    expected = [take(((seed << 32) + row * n * golden) & BITS, n) for row in rows]
    assert chances.tolist() == expected


@njit
def drawn(state, n, subset):
    return draw_subset(state, n, subset)


@given(STATES, st.integers(1, 12), st.data())
def test_a_subset_is_drawn_by_algorithm_s(state, n, data):
    size = data.draw(st.integers(0, n))
    subset = np.full(size, -1, np.int64)
    drawn(np.uint64(state), n, subset)
    left, expected = size, []
    for number, chance in enumerate(take(state, n)):
        # Knuth: record t of n is taken with probability (wanted - taken) / (n - t)
        if chance * (n - number) < left:
            expected.append(number)
            left -= 1
    assert subset.tolist() == expected
    assert left == 0
