"""Each perturbation changes what it says, as often as it says, and never the truth to be judged by."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators.strategies import make_strategy
from mlstream.evaluation.evaluate import evaluate
from mlstream.generators import multiplier_stream, task_stream
from mlstream.generators.perturb.perturbations import (
    duplicated_rows,
    missing_features,
    missing_labels,
    noisy_features,
    noisy_labels,
    rare_labels,
    reordered_rows,
)
from mlstream.streams.label_values import filled
from mlstream.streams.stream import Stream, StreamParts
from tests.loops import check_all
from tests.mlstream.generators.tables import dense, make_table

ALL = [
    (noisy_labels, {"rate": 0.3}),
    (missing_labels, {"rate": 0.3}),
    (missing_labels, {"rate": 0.3, "per": "row"}),
    (noisy_features, {"scale": 0.3}),
    (missing_features, {"rate": 0.3}),
    (duplicated_rows, {"rate": 0.3}),
    (reordered_rows, {}),
    (rare_labels, {"keep": {"y1": 0.3}}),
]


def streams(as_sparse=False, window=0):
    rng = np.random.default_rng(0)
    X = rng.random((900, 4)) * (rng.random((900, 4)) < 0.7)
    table = make_table(rng.random((900, 5)) < 0.4, sparse.csr_array(X) if as_sparse else X)
    return task_stream(table, n_tasks=2, window=window, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(("perturb", "options"), ALL)
@pytest.mark.parametrize("as_sparse", [False, pytest.param(True, marks=pytest.mark.slow)])
@given(seed=st.integers(0, 5))
@settings(max_examples=4, deadline=None)
def test_rows_keep_their_identity_and_evaluation_sets_stay(perturb, options, as_sparse, seed):
    stream = streams(as_sparse, window=20)
    before = [(dense(experience.X).copy(), experience.Y.copy()) for experience in stream]
    changed, again = (perturb(stream, **options, seed=seed) for _ in range(2))
    assert changed.card == again.card
    assert changed.card.data_sha256 != stream.card.data_sha256
    assert changed.card.source == stream.card.source
    assert [experience.n_samples for experience in changed.card.experiences] == [len(part) for part in changed]
    for kept, held_out in zip(stream.evaluation_sets, changed.evaluation_sets, strict=True):
        assert kept is held_out
    for (X, Y), old, new in zip(before, stream, changed, strict=True):
        np.testing.assert_array_equal(dense(old.X), X)
        np.testing.assert_array_equal(old.Y, Y)
        assert type(new.X) is type(old.X)
        assert new.X.dtype == old.X.dtype
        assert set(new.row_ids.tolist()) <= set(old.row_ids.tolist())
        task_of = dict(zip(old.row_ids.tolist(), old.task_ids.tolist(), strict=True))
        assert [task_of[row] for row in new.row_ids.tolist()] == new.task_ids.tolist()
        masks = np.broadcast_to(new.label_mask, new.Y.shape)
        signatures = np.array([task.signature for task in stream.tasks])[new.task_ids]
        assert not (masks & ~signatures).any()
        assert not (filled(new.Y) & ~masks).any()


def test_labels_are_turned_round_within_the_signature():
    stream = multiplier_stream("bilab", n_rows=4000, seed=0)
    for old, new in zip(stream, noisy_labels(stream, rate=0.2), strict=True):
        turned = old.Y != new.Y
        assert not turned[:, ~old.label_mask].any()
        assert abs(turned[:, old.label_mask].mean() - 0.2) < 0.04


@pytest.mark.parametrize("per", ["label", "row"])
def test_missing_labels_are_unknown(per):
    stream = multiplier_stream("rand", n_rows=4000, seed=0)
    for old, new in zip(stream, missing_labels(stream, rate=0.4, per=per), strict=True):
        missing = np.isnan(new.Y)
        assert abs(missing.mean() - 0.4) < 0.04
        assert per == "label" or set(missing.sum(axis=1).tolist()) == {0, 4}
        np.testing.assert_array_equal(new.Y[~missing], old.Y[~missing])
        np.testing.assert_array_equal(new.label_mask, old.label_mask)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "per", "is_same"),
    [("NN_TL", "label", True), ("NN_TL", "row", True), ("NN", "label", False), ("NN", "row", True)],
)
def test_missing_labels_are_masked_labels_to_learners_that_use_masks_and_absent_to_none(strategy, per, is_same):
    hidden = missing_labels(streams(), rate=0.4, per=per)
    # Hidden labels as they were before NaN: absent, and outside the mask.
    masked = [
        replace(part, Y=filled(part.Y) * part.label_mask, label_mask=part.label_mask & ~np.isnan(part.Y))
        for part in hidden
    ]
    masked = Stream(StreamParts(hidden.tasks, tuple(masked), hidden.evaluation_sets), hidden.card)
    one, other = (
        evaluate(make_strategy(strategy), stream, label_space="all", energy="none") for stream in (hidden, masked)
    )
    assert (one.scores == other.scores) == is_same
    assert (one.R == other.R) == is_same


@pytest.mark.parametrize(("perturb", "options"), ALL)
def test_unknown_labels_stay_unknown(perturb, options):
    hidden = missing_labels(streams(), rate=0.5, seed=7)
    for old, new in zip(hidden, perturb(hidden, **options, seed=1), strict=True):
        truth = dict(zip(old.row_ids.tolist(), old.Y, strict=True))
        unknown = np.isnan([truth[row] for row in new.row_ids.tolist()])
        assert np.isnan(new.Y)[unknown].all()
        assert perturb is missing_labels or not np.isnan(new.Y)[~unknown].any()


def test_an_unknown_label_is_no_reason_to_leave_a_row_out():
    hidden = missing_labels(streams(), rate=0.5, seed=7)
    rare = rare_labels(hidden, keep={"y1": 0.0})
    for old, new in zip(hidden, rare, strict=True):
        assert new.row_ids.tolist() == old.row_ids[old.Y[:, 1] != 1].tolist()


def test_noise_is_as_wide_as_asked():
    stream = multiplier_stream("rand", n_rows=6000, seed=0)
    for old, new in zip(stream, noisy_features(stream, scale=0.5), strict=True):
        np.testing.assert_allclose((new.X - old.X).std(axis=0), 0.5 * old.X.std(axis=0), rtol=0.1)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_features_go_missing(as_sparse):
    stream = streams(as_sparse)
    for old, new in zip(stream, missing_features(stream, rate=0.25), strict=True):
        before, after = dense(old.X), dense(new.X)
        assert ((after == before) | (after == 0)).all()
        assert abs((after == 0)[before != 0].mean() - 0.25) < 0.1


def test_rows_come_twice_or_in_another_order():
    stream = streams()
    for old, new in zip(stream, duplicated_rows(stream, rate=1), strict=True):
        np.testing.assert_array_equal(new.row_ids, np.repeat(old.row_ids, 2))
        np.testing.assert_array_equal(new.Y, np.repeat(old.Y, 2, axis=0))
    for old, new in zip(stream, reordered_rows(stream), strict=True):
        assert new.row_ids.tolist() != old.row_ids.tolist()
        assert sorted(new.row_ids.tolist()) == sorted(old.row_ids.tolist())


def test_rare_labels_lose_rows_and_the_card_counts_them():
    stream = streams()
    rare = rare_labels(stream, keep={"y1": 0.2, "y3": 0.0})
    Y = np.concatenate([experience.Y for experience in stream])
    left = np.concatenate([experience.Y for experience in rare])
    assert not left[:, 3].any()
    assert (left[:, [1, 3]].any(axis=1) == 0).sum() == (Y[:, [1, 3]].any(axis=1) == 0).sum()
    share = left[:, 1].sum() / ((Y[:, 1] == 1) & (Y[:, 3] == 0)).sum()
    assert abs(share - 0.2) < 0.12
    assert rare.card.drops[-1].count == len(Y) - len(left)


def test_errors_name_rule_and_value():
    def check(case):
        perturb, options, message = case
        with pytest.raises(ValueError, match=message):
            perturb(streams(), **options)

    check_all(
        [
            (noisy_labels, {"rate": 1.1}, r"rate must lie in \[0, 1\]. Got 1.1"),
            (missing_labels, {"rate": -0.1}, r"rate must lie in \[0, 1\]. Got -0.1"),
            (missing_labels, {"rate": 0.1, "per": "task"}, r"per must be one of 'label', 'row'. Got 'task'"),
            (noisy_features, {"scale": -1}, r"scale must be at least 0 and finite. Got -1"),
            (noisy_features, {"scale": float("nan")}, r"scale must be at least 0 and finite. Got nan"),
            (missing_features, {"rate": 2}, r"rate must lie in \[0, 1\]. Got 2"),
            (duplicated_rows, {"rate": 2}, r"rate must lie in \[0, 1\]. Got 2"),
            (reordered_rows, {"seed": -1}, r"seed must be a whole number, at least 0. Got -1"),
            (rare_labels, {"keep": {"cat": 0.5}}, r"keep must name labels of the stream. Got 'cat'"),
            (rare_labels, {"keep": {"y0": 1.5}}, r"the share of 'y0' must lie in \[0, 1\]. Got 1.5"),
        ],
        check,
    )


def test_an_experience_that_loses_all_its_rows_is_refused():
    stream = multiplier_stream([[2.0], [2.0]], threshold=0.0, n_rows=20)
    with pytest.raises(ValueError, match=r"must keep a row. Got 0 rows in experience 0 after rare_labels"):
        rare_labels(stream, keep={"y0": 0.0})
