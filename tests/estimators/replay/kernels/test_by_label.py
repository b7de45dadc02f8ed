"""Optimising class distribution in memory plans as the slow loop of its paper, row by row."""

from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import OCDMMemory
from tests.estimators.replay.kernels.test_partitioning import OPTIONS, compare, label_tables
from tests.estimators.replay.slow_memories import SlowOCDM


@settings(max_examples=100)
@given(label_tables(), st.integers(2, 9), st.integers(0, 9), OPTIONS)
def test_every_row_is_placed_as_in_the_slow_loop(Y, size, seed, options):
    memory = OCDMMemory(size, 1, **options).begin(seed)
    compare(memory, SlowOCDM(memory, 1), Y)
