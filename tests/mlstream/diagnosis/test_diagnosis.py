"""A diagnosis counts what a slow loop over rows counts."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mlstream.diagnosis.diagnosis import describe_labels, diagnose, duplicated_evaluation_rows, row_digests
from mlstream.generators import duplicated_rows, iirc_stream, multiplier_stream, scenario_stream, task_stream
from tests.mlstream.generators.tables import make_table
from tests.mlstream.small_streams import Shape, build_stream, streams

LABELS = hnp.arrays(np.uint8, st.tuples(st.integers(0, 12), st.integers(1, 5)), elements=st.integers(0, 1))
SMALL = hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.sampled_from([0.0, -0.0, 1.0]))


@pytest.mark.slow
@given(LABELS, st.data())
def test_labels_are_described_as_by_a_loop(Y, data):
    n_labels = Y.shape[1]
    signature = data.draw(hnp.arrays(bool, n_labels))
    found = describe_labels(Y, signature)
    sets = [frozenset(label for label in range(n_labels) if row[label] and signature[label]) for row in Y]
    counts = [sum(label in labels for labels in sets) for label in range(n_labels)]
    occurring = [count for count in counts if count]
    size = int(signature.sum())
    assert found.cardinality == pytest.approx(sum(counts) / len(Y) if len(Y) else 0)
    assert found.density == pytest.approx(found.cardinality / size if size else 0)
    assert found.diversity == (len(set(sets)) / min(len(Y), 2**size) if len(Y) and size else 0)
    if occurring:
        expected = sum(max(occurring) / count for count in occurring) / len(occurring)
        assert found.imbalance == pytest.approx(expected)
    else:
        assert np.isnan(found.imbalance)
    pairs = found.co_occurrence.toarray()
    assert np.diag(pairs).tolist() == counts
    for one, other in combinations(range(n_labels), 2):
        assert pairs[one, other] == pairs[other, one] == sum({one, other} <= labels for labels in sets)


@given(streams())
@settings(max_examples=25, deadline=None)
def test_any_stream_is_diagnosed_as_by_a_loop(stream):
    found = diagnose(stream, max_rows=20)
    learnt = [row for experience in stream for row in zip(experience.task_ids, experience.Y, strict=True)]
    for task, (one, held_out) in enumerate(zip(found.tasks, stream.evaluation_sets, strict=True)):
        mine = [Y for of_task, Y in learnt if of_task == task]
        signature = stream.tasks[task].signature
        known = {tuple(Y[signature] == 1) for Y in mine}
        assert one.labels.n_rows == len(mine) + len(held_out)
        cells = [cell for Y in (*mine, *held_out.Y) for cell in Y[signature].tolist()]
        assert one.labels.unknown_share == pytest.approx(sum(map(math.isnan, cells)) / max(1, len(cells)))
        assert one.n_new_label_sets == sum(tuple(Y[signature] == 1) not in known for Y in held_out.Y)
        absent = [label for label in np.flatnonzero(signature) if not any(Y[label] == 1 for Y in mine)]
        assert one.unlearnt_labels == tuple(stream.card.label_names[label] for label in absent)
        for other, second in enumerate(stream.tasks):
            either = (signature | second.signature).sum()
            expected = (signature & second.signature).sum() / either if either else 1
            assert found.signature_overlap[task, other] == pytest.approx(expected)
    rows = [
        set(np.concatenate([part.row_ids for part in parts]).tolist()) for parts in (stream, stream.evaluation_sets)
    ]
    assert found.n_reused_rows == len(rows[0] & rows[1])
    assert found.n_unlearnt_rows == stream.card.source.n_samples - len(rows[0])
    assert found.n_unused_rows == stream.card.source.n_samples - len(rows[0] | rows[1])


def test_rows_that_are_shown_twice_in_learning_are_no_leak():
    stream = multiplier_stream("rand", n_rows=60)
    found = diagnose(duplicated_rows(stream, rate=0.5))
    assert [task.n_duplicates for task in found.tasks] == [0] * 4
    assert found.n_reused_rows == 0


def test_equal_rows_of_a_table_are_found_on_both_sides():
    Y = np.repeat(np.array([[1, 1, 0, 0], [0, 0, 1, 1]]), 50, axis=0)
    found = diagnose(
        task_stream(make_table(Y, np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)), n_tasks=2, merge_single_label=False)
    )
    assert [task.n_duplicates for task in found.tasks] == [15, 15]
    assert found.distances.labels[0, 1] == pytest.approx(1)


def test_labels_that_come_later_than_evaluation_are_named():
    Y = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]), 20, axis=0)
    stream = iirc_stream(make_table(Y), labels_per_task=3)
    found = diagnose(stream)
    assert found.unlearnt_labels == ()
    assert found.tasks[1].unlearnt_labels == ("y0",)


@given(streams())
@settings(max_examples=25, deadline=None)
def test_persistence_is_that_of_a_loop_within_each_experience(stream):
    found = diagnose(stream, max_rows=20)
    assert len(found.experiences) == len(stream)
    n_repeated = n_rows = 0
    for one, experience in zip(found.experiences, stream, strict=True):
        rows = ((experience.Y == 1) & experience.label_mask).astype(int).tolist()
        before = [[0] * stream.n_labels, *rows][: len(rows)]
        n_right = sum(row == last for row, last in zip(rows, before, strict=True))
        assert one.n_rows == len(rows)
        assert np.isnan(one.repeated) if not rows else one.repeated == pytest.approx(n_right / len(rows))
        n_repeated, n_rows = n_repeated + n_right, n_rows + len(rows)
    if n_rows:
        assert stream.card.persistence.repeated == pytest.approx(n_repeated / n_rows)


def test_sorted_rows_persist_and_shuffled_ones_do_not():
    Y = np.repeat(np.eye(2, dtype=np.uint8), 50, axis=0)
    table = make_table(Y=Y, X=np.arange(200.0).reshape(100, 2))
    in_order = scenario_stream(table, "domain-incremental", by="time", n_tasks=1)
    (one,) = diagnose(in_order).experiences
    assert one.repeated > 0.9
    assert one.kappa > 0.9
    assert 0.4 < one.by_chance < 0.65
    assert in_order.card.source.persistence.repeated == 0.98
    assert in_order.card.source.persistence.by_chance == pytest.approx(0.49)
    (shuffled,) = diagnose(scenario_stream(table, "online", by="time", n_tasks=1, stratified=True)).experiences
    assert shuffled.repeated < 0.75
    assert abs(shuffled.kappa) < 0.5


@given(SMALL, st.booleans())
def test_rows_with_equal_numbers_have_equal_digests(X, as_sparse):
    digests = row_digests(sparse.csr_array(X) if as_sparse else X)
    for one, first in zip(digests, X, strict=True):
        for other, second in zip(digests, X, strict=True):
            assert (one == other) == (first == second).all()


def test_stored_zeros_and_the_order_of_columns_do_not_count():
    stored = sparse.csr_array((np.array([2.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 3))
    assert row_digests(stored) == row_digests(sparse.csr_array(np.array([[1.0, 0.0, 2.0]])))
    assert stored.nnz == 3


@pytest.mark.parametrize("as_sparse", [False, True])
def test_evaluation_rows_are_compared_with_all_learning_rows(as_sparse):
    X = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    stream = build_stream(X, Shape(sparse=as_sparse, sizes=(4, 0, 3), evaluation_sizes=(50, 3)))
    learnt = {tuple(row) for row in X[:7]}
    expected = [tuple(row) in learnt for row in X[7:60]]
    assert np.concatenate(duplicated_evaluation_rows(stream)).tolist() == expected
    assert 0 < sum(expected) < 53
