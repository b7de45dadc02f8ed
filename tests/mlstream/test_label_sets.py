"""Rows have one number exactly when they have the same labels, and sets are counted alike."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.label_sets import count_label_sets, count_labels, label_set_ids


@given(st.integers(1, 140), st.integers(0, 20), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_numbers_tell_label_sets_apart(n_labels, n_rows, seed):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.02).astype(np.uint8)
    ids = label_set_ids(Y).tolist()
    sets = [row.tobytes() for row in Y]
    assert len(set(zip(ids, sets, strict=True))) == len(set(ids)) == len(set(sets))
    assert set(ids) == set(range(len(set(ids))))
    assert count_label_sets(Y) == len(set(sets))


@given(st.integers(0, 9), st.integers(0, 1100), st.integers(0, 2**32), st.booleans())
@settings(max_examples=50, deadline=None)
def test_labels_are_counted_as_in_a_loop(n_labels, n_rows, seed, by_columns):
    Y = np.random.default_rng(seed).integers(0, 2, (n_rows, n_labels), dtype=np.uint8)
    Y = np.asfortranarray(Y) if by_columns else Y
    assert count_labels(Y).tolist() == [sum(column.tolist()) for column in Y.T]
