"""Partitioning reservoir sampling plans as the slow loop of its paper, row by row."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import PRSMemory
from tests.estimators.replay.slow_memories import SlowPRS, label_sets
from tests.scattered import tables

CELLS = (0.0, 1.0, 0.0, np.nan)
OPTIONS = st.fixed_dictionaries(
    {
        "rho": st.sampled_from([0.0, 0.7, -0.5, 10.0]),
        "count_empty": st.booleans(),
        "ties": st.sampled_from(["first", "random"]),
    }
)


def compare(memory, oracle, Y):
    """Compare draws, slots, counts and targets after some rows."""
    expected = oracle.plan(label_sets(Y, count_empty=memory.count_empty))
    plan = memory.plan(Y)
    assert plan.draws.tolist() == [draws for draws, _ in expected]
    assert plan.slots.tolist() == [slot for _, slot in expected]
    inside = oracle.held()
    assert memory.held_counts_.tolist() == [inside.get(label, 0) for label in range(Y.shape[1])]
    assert memory.seen_counts_.tolist() == np.nansum(Y, axis=0).tolist()
    # powers are summed in another order
    np.testing.assert_allclose(memory.targets_, [oracle.p.get(k, 0.0) for k in range(Y.shape[1])], rtol=1e-12)


@st.composite
def label_tables(draw):
    Y = draw(tables((draw(st.integers(1, 40)), draw(st.integers(1, 6))), CELLS))
    Y[np.isnan(Y).all(axis=1), 0] = 0.0
    return Y


@settings(max_examples=100)
@given(label_tables(), st.integers(2, 9), st.integers(0, 9), OPTIONS)
def test_every_row_is_placed_as_in_the_slow_loop(Y, size, seed, options):
    memory = PRSMemory(size, 1, **options).begin(seed)
    compare(memory, SlowPRS(memory, 3), Y)
