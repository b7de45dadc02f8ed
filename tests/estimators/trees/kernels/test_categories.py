"""Bins, and the children of branches, are those of dictionaries and lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from estimators.trees._bins import Bins
from estimators.trees._kernels.categories import MAX_BINS, NONE

CODES = st.lists(st.integers(0, 6) | st.integers(0, 2**53 - 1), max_size=60)


@given(st.lists(st.tuples(CODES, st.booleans()), max_size=4), st.integers(2, MAX_BINS))
def test_values_get_bins_in_the_order_in_which_they_are_learnt(chunks, n_before):
    bins, known = Bins(np.array([1], np.int32)), {}
    started = np.column_stack([np.zeros(n_before), np.arange(n_before)]) + 2.0**52
    chunks = [(started[:, 1].tolist(), True), *chunks]
    for codes, learning in chunks:
        rows = np.column_stack([np.full(len(codes), 0.5), codes]) if codes else np.zeros((0, 2))
        got = bins.of(rows, learning=learning)
        expected = []
        for code in codes:
            if learning and code not in known:
                # the last bin is for all values that come after the others
                known[code] = min(len(known), MAX_BINS - 1)
            shared = len(known) >= MAX_BINS
            expected.append(known.get(code, MAX_BINS - 1 if shared else NONE))
        assert got[:, 1].tolist() == expected
        assert (got[:, 0] == 0.5).all()
    codes = bins.values[0]["code"]
    assert np.array_equal(np.sort(codes), codes)
