"""Rows have one number exactly when they have the same labels, and sets are counted alike."""

import math
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import label_persistence
from mlstream.streams.label_sets import (
    count_label_sets,
    count_labels,
    count_repeated,
    expected_counts,
    expected_labels,
    label_frequencies,
    label_set_ids,
    label_statistics,
    signature_overlap,
)
from tests.mlstream.small_streams import hide_cells


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


@given(st.integers(1, 5), st.integers(0, 40), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_statistics_are_those_of_a_loop_over_the_labels_that_can_occur(n_labels, n_rows, seed):
    rng = np.random.default_rng(seed)
    Y, signature = rng.integers(0, 2, (n_rows, n_labels), dtype=np.uint8), rng.random(n_labels) < 0.7
    rows = [[int(value) for value, can in zip(row, signature, strict=True) if can] for row in Y]
    n_kept = int(signature.sum())
    found = label_statistics(Y, signature)
    cardinality = sum(map(sum, rows)) / n_rows if n_rows else 0
    np.testing.assert_allclose(found.cardinality, cardinality)
    np.testing.assert_allclose(found.density, cardinality / n_kept if n_kept else 0)
    np.testing.assert_allclose(
        found.diversity, len(set(map(tuple, rows))) / min(n_rows, 2**n_kept) if n_rows and n_kept else 0
    )
    counts = [count for column in zip(*rows, strict=True) if (count := sum(column))]
    np.testing.assert_allclose(
        found.imbalance, np.mean([max(counts) / count for count in counts]) if counts else np.nan
    )


def test_overlap_is_the_jaccard_index():
    signatures = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    expected = [[1, 1 / 3, 0, 0], [1 / 3, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    np.testing.assert_allclose(signature_overlap(signatures), expected)


@given(st.integers(1, 20), st.integers(0, 30), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_repeated_label_sets_are_what_the_no_change_predictor_gets_right(n_labels, n_rows, seed):
    Y = (np.random.default_rng(seed).random((n_rows, n_labels)) < 1 / n_labels).astype(np.uint8)
    found = count_repeated(Y)
    last, n_right = [0] * n_labels, 0
    for row in Y.tolist():
        n_right += row == last
        last = row
    assert (found.n_rows, found.n_repeated) == (n_rows, n_right)
    if n_rows:
        np.testing.assert_allclose(label_persistence(Y).subset_accuracy, n_right / n_rows)


@given(st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_chance_is_the_mean_over_all_orders(n_rows, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (n_rows, 2), dtype=np.uint8)
    counts = [count_repeated(Y[list(order)]).n_repeated for order in permutations(range(n_rows))]
    np.testing.assert_allclose(count_repeated(Y).n_by_chance, np.mean(counts))
    for order in list(permutations(range(n_rows)))[:9]:
        np.testing.assert_allclose(count_repeated(Y[list(order)]).n_by_chance, np.mean(counts))


@given(st.integers(1, 30), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_unknown_labels_repeat_as_absent_ones(n_labels, seed):
    Y = hide_cells((np.random.default_rng(seed).random((20, n_labels)) < 1 / n_labels).astype(np.uint8), 0.3, seed)
    assert count_repeated(Y) == count_repeated((Y == 1).astype(np.uint8))


def test_many_labels_repeat_as_few_do():
    Y = np.zeros((4, 70), np.uint8)
    Y[2:, 69] = 1
    assert count_repeated(Y) == (4, 3, 1.5)


@given(st.integers(1, 20), st.integers(0, 40), st.integers(0, 2**32))
def test_unknown_labels_are_left_out_of_counts_and_frequencies(n_labels, n_rows, seed):
    Y = hide_cells(np.random.default_rng(seed).integers(0, 2, (n_rows, n_labels), dtype=np.uint8), 0.4, seed + 1)
    columns = [[cell for cell in column if not math.isnan(cell)] for column in Y.T.tolist()]
    frequencies = [sum(column) / len(column) if column else 0 for column in columns]
    assert count_labels(Y).tolist() == [sum(column) for column in columns]
    np.testing.assert_allclose(label_frequencies(Y), frequencies)
    np.testing.assert_allclose(expected_counts(Y), np.multiply(frequencies, n_rows))
    filled_in = [[frequencies[j] if math.isnan(cell) else cell for j, cell in enumerate(row)] for row in Y.tolist()]
    np.testing.assert_allclose(expected_labels(Y), np.reshape(filled_in, Y.shape))


@given(st.integers(1, 80), st.integers(1, 20), st.integers(0, 2**32))
def test_the_label_set_of_a_row_is_that_of_the_labels_known_to_be_present(n_labels, n_rows, seed):
    Y = hide_cells((np.random.default_rng(seed).random((n_rows, n_labels)) < 0.1).astype(np.uint8), 0.3, seed + 1)
    sets = [tuple(j for j, cell in enumerate(row) if cell == 1) for row in Y.tolist()]
    ids = label_set_ids(Y).tolist()
    assert len(set(zip(ids, sets, strict=True))) == len(set(ids)) == len(set(sets)) == count_label_sets(Y)


def test_statistics_take_an_unknown_label_for_its_frequency():
    # Frequencies 2/3, 1/2 and 0; labels known to be present: {0}, {0, 1}, {} and {}.
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, np.nan, 0], [np.nan, np.nan, 0]], dtype=np.float32)
    found = label_statistics(Y, np.ones(3, dtype=bool))
    np.testing.assert_allclose(found, [2 / 3 + 1 / 2, (2 / 3 + 1 / 2) / 3, 3 / 4, (1 + (2 / 3) / (1 / 2)) / 2])
