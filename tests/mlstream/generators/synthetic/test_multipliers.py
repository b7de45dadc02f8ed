"""Synthetic tasks follow their rule, in the shape of the literature, for any matrix."""

import json
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mlstream.generators.synthetic.multipliers import PRESETS, multiplier_rows, multiplier_stream, possible_labels


def all_parts(stream):
    return (*stream.experiences, *stream.evaluation_sets)


matrices = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**32)).map(
    lambda shape: np.random.default_rng(shape[3]).normal(size=[size for size in shape[:3] if size])
)


def slow_labels(row, weights, threshold):
    if weights.ndim == 1:
        return [int(weight * value > threshold) for weight, value in zip(weights, row, strict=True)]
    return [int(sum(w * value for w, value in zip(line, row, strict=True)) > threshold) for line in weights]


@given(matrices, st.floats(-1, 1), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_labels_follow_the_rule(matrix, threshold, seed):
    stream = multiplier_stream(matrix, seed=seed, n_rows=12, threshold=threshold)
    for part in all_parts(stream):
        task = int(np.unique(part.task_ids)[0]) if hasattr(part, "task_ids") else part.task_id
        for row, labels in zip(part.X, part.Y, strict=True):
            assert labels.tolist() == slow_labels(row, matrix[task], threshold)
        assert not part.Y[:, ~part.label_mask].any()
    rows = np.sort(np.concatenate([part.row_ids for part in all_parts(stream)]))
    np.testing.assert_array_equal(rows, np.arange(12 * len(matrix)))


@pytest.mark.parametrize("name", ["monolab", "bilab", "rand"])
def test_presets_have_the_published_shape(shared_data, name):
    stream = multiplier_stream(name, seed=1)
    published = json.loads(shared_data(f"osc-mlc/Labels/synthetic_{name}_cluster_labels_task_based.json").read_text())
    assert [len(task.signature) for task in stream.card.tasks] == [len(labels) for labels in published.values()]
    lengths = json.loads(shared_data(f"osc-mlc/Length/synthetic_{name}_stream_length_task_based.json").read_text())
    assert sorted(len(part) for part in all_parts(stream)) == sorted(lengths.values())
    table = np.loadtxt(shared_data(f"multilabel/synthetic_{name}.csv"), delimiter=",", skiprows=1)
    learnt = np.concatenate([part.Y for part in all_parts(stream)])
    np.testing.assert_allclose(learnt.mean(axis=0), table[:, 4:].mean(axis=0), atol=0.05)


@pytest.mark.parametrize("name", ["monolab", "bilab", "rand"])
def test_presets_give_the_published_labels_on_the_published_features(shared_data, name):
    table = np.loadtxt(shared_data(f"multilabel/synthetic_{name}.csv"), delimiter=",", skiprows=1)
    for task, weights in enumerate(PRESETS[name]):
        rows = table[task * 1000 : (task + 1) * 1000]
        wrong = (rows[:, 4:] != (rows[:, :4] * weights > 0.5)).any(axis=1)
        assert not wrong.any()


def test_features_are_uniform_and_fresh():
    stream = multiplier_stream("monolab", n_rows=4000, seed=0)
    parts = [part.X for part in all_parts(stream)]
    assert stats.kstest(np.concatenate(parts).ravel(), "uniform").pvalue > 1e-4
    assert all(not np.array_equal(a[:5], b[:5]) for a, b in pairwise(parts))


def test_noise_turns_labels_of_the_signature_round():
    clean, noisy = (multiplier_stream("bilab", n_rows=5000, seed=3, noise=noise) for noise in (0, 0.2))
    for a, b in zip(all_parts(clean), all_parts(noisy), strict=True):
        np.testing.assert_array_equal(a.X, b.X)
        turned = a.Y != b.Y
        assert not turned[:, ~a.label_mask].any()
        assert abs(turned[:, a.label_mask].mean() - 0.2) < 0.03


@given(matrices, st.floats(-1, 1))
@settings(max_examples=40, deadline=None)
def test_signature_is_what_a_corner_of_the_cube_can_reach(matrix, threshold):
    for weights in matrix:
        corners = np.array(list(np.ndindex(*[2] * weights.shape[-1])))
        reached = (corners * weights if weights.ndim == 1 else corners @ weights.T).max(axis=0)
        certain = np.abs(reached - threshold) > 1e-9
        np.testing.assert_array_equal(possible_labels(weights, threshold)[certain], (reached > threshold)[certain])


def test_endless_rows_go_on_and_start_again():
    chunks = list(islice(multiplier_rows([1, 0, 0.8], seed=4, chunk_size=7), 3))
    again = list(islice(multiplier_rows([1, 0, 0.8], seed=4, chunk_size=7), 3))
    for (X, Y), (other, _) in zip(chunks, again, strict=True):
        np.testing.assert_array_equal(X, other)
        assert [row.tolist() for row in Y] == [slow_labels(row, np.array([1, 0, 0.8]), 0.5) for row in X]
    assert not np.array_equal(chunks[0][0], chunks[1][0])


@pytest.mark.parametrize(
    ("multipliers", "options", "message"),
    [
        ("trilab", {}, "multipliers must be numbers or one of monolab, bilab, rand. Got 'trilab'"),
        ([1, 2], {}, r"multipliers must be finite, of shape .* Got shape \(2,\)"),
        ([[1, np.nan]], {}, "Got shape .* with NaN or infinity"),
        ("rand", {"noise": 1.5}, r"noise must lie in \[0, 1\]. Got 1.5"),
        ("rand", {"noise": float("nan")}, r"noise must lie in \[0, 1\]. Got nan"),
        ("rand", {"threshold": float("inf")}, "threshold must be finite. Got inf"),
        ("rand", {"n_rows": 0}, "n_rows must be a whole number, at least 1. Got 0"),
        ("rand", {"n_rows": 2}, "must hold rows. Got 1 of 3 without any"),
    ],
)
def test_errors_name_rule_and_value(multipliers, options, message):
    with pytest.raises(ValueError, match=message):
        multiplier_stream(multipliers, **options)
