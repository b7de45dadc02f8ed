"""Poisson numbers are those whose share, added up from the definition, first exceeds a uniform number."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from estimators.ensembles._kernels.draws import MOST_MEAN, MOST_TIMES, draw_poisson
from tests.estimators.ensembles.draws import BITS, PoissonDraws


@njit
def draw_many(states, k, means):
    numbers = np.empty(len(means), np.int64)
    for i in range(len(means)):
        numbers[i] = draw_poisson(states, k, means[i])
    return numbers


@given(
    st.lists(st.integers(0, BITS), min_size=1, max_size=3), st.lists(st.sampled_from([0.0, 0.3, 1.0, 5.5])), st.data()
)
def test_numbers_are_those_of_the_definition(states, means, data):
    k, slow = data.draw(st.integers(0, len(states) - 1)), PoissonDraws(states)
    found = np.array(states, np.uint64)
    numbers = draw_many(found, k, np.array(means))
    assert numbers.tolist() == [slow.draw(k, mean) for mean in means]
    assert [int(state) for i, state in enumerate(found) if i != k] == [one for i, one in enumerate(states) if i != k]


@given(st.integers(0, BITS), st.sampled_from([100.0, 1e300, math.inf]))
def test_means_are_held(state, mean):
    states = np.full(2, state, np.uint64)
    expected = draw_many(states, 0, np.array([MOST_MEAN]))
    assert draw_many(states, 1, np.array([mean])).tolist() == expected.tolist()
    assert expected[0] <= MOST_TIMES
