"""Distances see what they are said to see, and nothing else."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from mlstream.diagnosis.task_distances import task_distances
from mlstream.generators import environment_stream, multiplier_stream
from mlstream.streams.stream import EvaluationSet, Experience, Stream, StreamParts, Task
from tests.mlstream.small_streams import Shape, make_stream


def two_tasks(draw, n_rows=1500, as_sparse=False):
    """Make a stream of two tasks; `draw` gives X and Y of each."""
    rng = np.random.default_rng(0)
    experiences, evaluation_sets, tasks = [], [], []
    for task in range(2):
        X, Y = draw(rng, task, n_rows)
        X, Y = sparse.csr_array(X) if as_sparse else X, Y.astype(np.uint8)
        signature, half = np.ones(Y.shape[1], dtype=bool), n_rows // 2
        tasks.append(Task(f"task-{task}", signature))
        rows = np.arange(n_rows) + task * n_rows
        experiences.append(Experience(X[:half], Y[:half], np.full(half, task), signature, rows[:half]))
        evaluation_sets.append(EvaluationSet(X[half:], Y[half:], task, signature, rows[half:]))
    parts = StreamParts(tuple(tasks), tuple(experiences), tuple(evaluation_sets))
    return Stream(parts, make_stream().card)


def same(rng, task, n_rows):
    X = rng.random((n_rows, 2))
    return X, X > 0.5


def other_inputs(rng, task, n_rows):
    X = rng.random((n_rows, 2)) + 0.5 * task
    return X, X > 0.7


def other_labels_only(rng, task, n_rows):
    X = rng.random((n_rows, 2))
    return X, (X > 0.5) ^ bool(task)


def noisy(rng, task, n_rows):
    X = rng.random((n_rows, 2))
    return X, rng.random((n_rows, 2)) < [0.2, 0.7][task]


@pytest.mark.slow
@pytest.mark.parametrize("as_sparse", [False, True])
def test_equal_tasks_are_near(as_sparse):
    found = task_distances(two_tasks(same, as_sparse=as_sparse))
    assert found.inputs[0, 1] < 0.01
    assert found.labels[0, 1] < 0.01
    assert found.labels_given_inputs[0, 1] < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("as_sparse", [False, True])
def test_each_distance_sees_its_own_change(as_sparse):
    found = task_distances(two_tasks(other_inputs, as_sparse=as_sparse))
    assert found.inputs[0, 1] > 0.2
    assert found.labels[0, 1] > 0.1
    assert found.labels_given_inputs[0, 1] < 0.25
    found = task_distances(two_tasks(other_labels_only, as_sparse=as_sparse))
    assert found.inputs[0, 1] < 0.01
    assert found.labels[0, 1] < 0.01
    assert found.labels_given_inputs[0, 1] > 0.95


def test_noise_in_labels_cancels_out():
    found = task_distances(two_tasks(noisy), max_rows=3000)
    assert found.labels_given_inputs[0, 1] == pytest.approx(0.5, abs=0.06)


def test_the_energy_coefficient_is_the_slow_one():
    stream = two_tasks(other_inputs, n_rows=60)
    first, second = (
        np.concatenate([learning.X, held_out.X])
        for learning, held_out in zip(stream, stream.evaluation_sets, strict=True)
    )
    spread = np.concatenate([first, second]).std(axis=0)
    first, second = first / spread, second / spread
    expected = 1 - (pdist(first).mean() + pdist(second).mean()) / 2 / cdist(first, second).mean()
    assert task_distances(stream).inputs[0, 1] == pytest.approx(expected)


def test_sparse_equals_dense_and_matrices_are_symmetric():
    dense, stored = (task_distances(two_tasks(same, n_rows=100, as_sparse=kind)) for kind in (False, True))
    for one, other in zip(dense, stored, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
        np.testing.assert_array_equal(one, one.T)
        assert not np.diag(one).any()


def test_the_draw_is_bounded_and_seeded():
    stream = multiplier_stream("rand", n_rows=2000)
    small, again, other = (task_distances(stream, max_rows=200, seed=seed) for seed in (0, 0, 1))
    assert small.inputs.tolist() == again.inputs.tolist() != other.inputs.tolist()


def test_tasks_that_are_only_evaluated_have_distances():
    found = task_distances(environment_stream(("train", "unseen"), n_rows=300))
    assert np.isfinite(found.inputs).all()


def test_a_task_without_rows_has_none():
    shape = Shape(sizes=(9, 0), evaluation_sizes=(5, 0))
    found = task_distances(make_stream(shape))
    assert all(np.isnan(matrix[0, 1]) for matrix in found)


def test_max_rows_is_checked():
    with pytest.raises(ValueError, match="max_rows must be"):
        task_distances(make_stream(), max_rows=1)
