"""The card says what the stream holds, and its hash changes with every value."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream.cards.description import describe_stream, hash_data
from mlstream.streams.card_model import GeneratorCard, ScenarioCard
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, StreamParts, Task

RNG = np.random.default_rng(0)
X = RNG.normal(size=(10, 3))
Y = RNG.integers(0, 2, size=(10, 4)).astype(np.uint8)


def parts(X=X, Y=Y):
    signatures = [np.array([True, True, False, True]), np.array([True, True, True, True])]
    tasks = tuple(Task(f"task {i}", signature) for i, signature in enumerate(signatures))
    mixed = np.array([0, 1, 0, 1])
    experiences = (
        Experience(X[:3], Y[:3], np.zeros(3, int), signatures[0], np.arange(3)),
        Experience(X[3:7], Y[3:7], mixed, np.stack(signatures)[mixed], np.arange(3, 7)),
    )
    held_out = (
        EvaluationSet(X[7:8], Y[7:8], 0, signatures[0], np.arange(7, 8)),
        EvaluationSet(X[8:], Y[8:], 1, signatures[1], np.arange(8, 10)),
    )
    return StreamParts(tasks, experiences, held_out)


def card():
    dataset = Dataset(X, Y, ("a", "b", "c"), ("p", "q", "r", "s"), "tiny")
    return describe_stream(
        dataset,
        parts(),
        name="tiny",
        description="Ten rows.",
        generator=GeneratorCard(name="by hand", parameters={}, seed=0),
        scenario=ScenarioCard(name="task-based", boundary="abrupt", task_identity="training"),
    )


def test_a_task_is_measured_over_all_its_rows_wherever_they_are():
    rows = {0: [0, 1, 2, 3, 5, 7], 1: [4, 6, 8, 9]}
    for task, described in zip((0, 1), card().tasks, strict=True):
        mine = [Y[row].tolist() for row in rows[task]]
        assert described.label_frequencies == [sum(column) / len(mine) for column in zip(*mine, strict=True)]
        assert described.cardinality == sum(map(sum, mine)) / len(mine)
        assert described.n_label_sets == len({tuple(row) for row in mine})
        signature = parts().tasks[task].signature
        kept = [[value for value, can in zip(row, signature, strict=True) if can] for row in mine]
        counts = [sum(column) for column in zip(*kept, strict=True) if sum(column)]
        assert described.density == pytest.approx(sum(map(sum, kept)) / len(kept) / sum(signature))
        assert described.diversity == len(set(map(tuple, kept))) / min(len(kept), 2 ** sum(signature))
        assert described.imbalance == pytest.approx(sum(max(counts) / count for count in counts) / len(counts))
    one, other = ({label for label, can in enumerate(task.signature) if can} for task in parts().tasks)
    assert [task.overlap for task in card().tasks] == [len(one & other) / len(one | other)] * 2
    assert [(task.n_learning, task.n_evaluation) for task in card().tasks] == [(5, 1), (2, 2)]
    assert [(part.tasks, part.n_samples) for part in card().experiences] == [([0], 3), ([0, 1], 4)]


def test_the_hash_is_that_of_the_data_alone():
    assert card().data_sha256 == hash_data(parts()) == hash_data(parts(X.copy(), np.asfortranarray(Y)))


@given(st.integers(0, 9), st.integers(0, 2))
def test_the_hash_changes_with_any_feature(row, column):
    changed = X.copy()
    changed[row, column] += 1
    assert hash_data(parts(changed)) != hash_data(parts())


@given(st.integers(0, 9), st.integers(0, 3))
def test_the_hash_changes_with_any_label(row, column):
    changed = Y.copy()
    changed[row, column] ^= 1
    assert hash_data(parts(X, changed)) != hash_data(parts())


def test_the_hash_does_not_depend_on_the_width_of_sparse_indices():
    narrow = sparse.csr_array(X)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)
    whole = parts()
    hashes = {hash_data(whole._replace(experiences=(replace(whole.experiences[0], X=x[:3]),))) for x in (narrow, wide)}
    assert len(hashes) == 1
