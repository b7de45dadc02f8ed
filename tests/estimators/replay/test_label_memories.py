"""Memories balanced by label hold the rows that slow loops hold, written from the papers, and do what these promise."""

import pickle
from copy import copy
from itertools import pairwise, product

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from estimators import (
    HoeffdingTreeClassifier,
    OCDMMemory,
    OnlineNeuralClassifier,
    PRSMemory,
    ReplayClassifier,
    ReservoirMemory,
)
from tests.estimators.replay.slow_memories import SlowOCDM, kullback_leibler, label_sets, slow
from tests.estimators.streams import drawn, tasks_that_return
from tests.loops import check_all

KINDS = [PRSMemory, OCDMMemory]
VARIANTS = [{}, {"rho": 0.7, "ties": "random"}, {"rho": -0.03, "count_empty": True}]


def imbalanced(n_rows=1500, n_labels=6, seed=0):
    """Draw labels from frequent to rare; a third of the rows has none."""
    return np.random.default_rng(seed).random((n_rows, n_labels)) < 0.3 / np.arange(1, n_labels + 1)


# ----------------------------------------------------------------- a slow loop
@pytest.mark.slow
def test_slots_and_draws_are_those_of_a_slow_loop():
    def check(parameters, kind):
        Y = imbalanced(700).astype(float)
        Y[np.random.default_rng(1).random(Y.shape) < 0.1] = np.nan
        Y = Y[~np.isnan(Y).all(axis=1)]
        memory = kind(25, 3, **parameters).begin(0)
        oracle = slow(memory)
        expected = oracle.plan(label_sets(Y, count_empty=memory.count_empty))
        plans = [memory.plan(Y[i : i + 37]) for i in range(0, len(Y), 37)]
        np.testing.assert_array_equal(np.vstack([plan.draws for plan in plans]), [draws for draws, _ in expected])
        np.testing.assert_array_equal(np.concatenate([plan.slots for plan in plans]), [slot for _, slot in expected])
        inside, p = oracle.held(), oracle.p
        assert memory.held_counts_.tolist() == [inside.get(c, 0) for c in range(6)]
        assert memory.seen_counts_.tolist() == np.nansum(Y, axis=0).tolist()
        np.testing.assert_allclose(memory.targets_, [p.get(c, 0) for c in range(6)], rtol=1e-12)

    check_all(product(VARIANTS, KINDS), lambda case: check(*case))


# ------------------------------------------------------------------ properties
@given(st.integers(2, 12), st.sampled_from(KINDS), st.sampled_from(VARIANTS), st.integers(0, 2**31 - 2))
def test_a_memory_is_never_larger_than_it_may_be_and_draws_what_it_holds(size, kind, parameters, seed):
    Y, held = imbalanced(80, seed=seed % 100), set()
    plan = kind(size, 1, **parameters).begin(seed).plan(Y)
    for draws, slot in zip(plan.draws, plan.slots, strict=True):
        assert set(draws) <= (held if len(held) > 1 else {-1})
        held |= {slot} - {-1}
    assert held <= set(range(size))
    has_label = Y.any(axis=1) | bool(parameters.get("count_empty"))
    assert (plan.slots[~has_label] == -1).all()
    assert len(held) == min(size, has_label.sum())


@given(st.lists(st.integers(0, 30), max_size=5), st.sampled_from(KINDS), st.sampled_from(VARIANTS))
def test_the_cut_of_a_stream_changes_nothing(cuts, kind, parameters):
    Y = imbalanced(sum(cuts) + 1)
    whole, cut = (kind(9, 2, **parameters).begin(0) for _ in range(2))
    ends = np.cumsum([0, *cuts, 1])
    plans = [cut.plan(Y[a:b]) for a, b in pairwise(ends) if b > a]
    expected = whole.plan(Y)
    np.testing.assert_array_equal(np.vstack([plan.draws for plan in plans]), expected.draws)
    np.testing.assert_array_equal(np.concatenate([plan.slots for plan in plans]), expected.slots)
    assert cut.n_seen_ == whole.n_seen_ == len(Y)


@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_labels_come_close_to_their_targets(kind, rho):
    Y = imbalanced(20_000)
    memory = kind(200, rho=rho).begin(0)
    memory.plan(Y)
    n = Y.sum(axis=0)
    np.testing.assert_allclose(memory.targets_, n**rho / (n**rho).sum(), rtol=1e-12)
    held = memory.held_counts_ / memory.held_counts_.sum()
    np.testing.assert_allclose(held, memory.targets_, atol=0.02)
    assert abs(n / n.sum() - memory.targets_).max() > 0.1


@pytest.mark.parametrize("parameters", VARIANTS, ids=repr)
def test_no_row_makes_ocdm_diverge_from_its_targets(parameters):
    memory = OCDMMemory(25, 3, **parameters).begin(0)
    oracle, n_fewer = SlowOCDM(memory, 1), 0
    for own in label_sets(imbalanced(400), count_empty=memory.count_empty):
        before = list(oracle.slots)
        oracle.plan([own])
        if own and len(before) == 25:
            kept, now = ({c: n for c, n in oracle.held(slots).items() if n} for slots in (before, oracle.slots))
            divergences = [kullback_leibler(counts, oracle.p) for counts in (kept, now)]
            assert divergences[1] <= divergences[0] + 1e-12
            n_fewer += divergences[1] < divergences[0] - 1e-9
    assert n_fewer > 10


def test_rare_labels_are_held_that_a_reservoir_loses():
    Y = np.random.default_rng(0).random((20_000, 3)) < [0.5, 0.2, 0.001]
    held = {}
    for kind in (PRSMemory, OCDMMemory):
        memory = kind(100).begin(0)
        memory.plan(Y)
        held[kind] = memory.held_counts_[2]
    slots = ReservoirMemory(100).begin(0).plan(len(Y)).slots
    last = {slot: row for row, slot in enumerate(slots) if slot >= 0}
    assert Y[list(last.values()), 2].sum() <= 2
    assert min(held.values()) >= Y[:, 2].sum() > 10


def test_one_label_a_row_makes_prs_a_reservoir_of_each():
    # 60 places for 3 labels: a row of a label with n rows is held with probability 20 / n
    n_rows, times = 300, np.zeros(300)
    Y = np.eye(3, dtype=int)[np.random.default_rng(0).integers(0, 3, n_rows)]
    for seed in range(600):
        slots = PRSMemory(60, ties="random").begin(seed).plan(Y).slots
        times[list({slot: row for row, slot in enumerate(slots) if slot >= 0}.values())] += 1
    early, late = times[:150].sum(), times[150:].sum()
    assert chisquare([early, late]).pvalue > 1e-9  # half of the rows are held half of the time
    assert 0.9 < early / late < 1.1


def test_rows_without_labels_are_held_as_one_more_label_if_wanted():
    Y = imbalanced(3000)
    for kind in KINDS:
        memory = kind(70, count_empty=True).begin(0)
        slots = memory.plan(Y).slots
        last = list({slot: row for row, slot in enumerate(slots) if slot >= 0}.values())
        n_empty = (~Y[last].any(axis=1)).sum()
        assert abs(n_empty - memory.held_counts_.mean()) < 3


# ----------------------------------------------------------------- around them
MEMORIES = [PRSMemory(12, 3), OCDMMemory(12, 3, count_empty=True, ties="random")]


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_a_network_replays_the_same_by_itself(memory):
    X, Y, mask, weight = tasks_that_return()
    options = {"targeted_loss": "signature", "dtype": "float64"}
    network = OnlineNeuralClassifier(7, reservoir=memory, random_state=0, **options).begin(X, Y)
    ours = ReplayClassifier(OnlineNeuralClassifier(7, random_state=0, **options), reservoir=memory).begin(X, Y)
    ours.memories_[0].seed_ = network._memories[0].seed_
    for learner in (network, ours):
        learner.partial_fit(X, Y, label_mask=mask, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), network.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_only_labels_that_count_are_labels_of_a_row():
    X, Y, mask, _ = tasks_that_return()
    network = OnlineNeuralClassifier(targeted_loss="signature", reservoir=PRSMemory(50), random_state=0)
    network.partial_fit(X, np.ones_like(Y), label_mask=mask)
    np.testing.assert_array_equal(network._memories[0].seen_counts_, mask.sum(axis=0))
    plain = OnlineNeuralClassifier(reservoir=PRSMemory(50), random_state=0).partial_fit(X, np.ones_like(Y))
    np.testing.assert_array_equal(plain._memories[0].seen_counts_, [len(Y)] * 5)


def test_classes_are_labels_of_their_rows():
    X, Y = drawn(900)
    y = np.array(["a", "b", "c"])[np.minimum(Y.sum(axis=1), 2) * (X[:, 0] > 0.8)]
    learner = ReplayClassifier(HoeffdingTreeClassifier(), reservoir=OCDMMemory(60), random_state=0).fit(X, y)
    np.testing.assert_array_equal(learner.memories_[0].seen_counts_, [(y == name).sum() for name in "abc"])
    np.testing.assert_array_equal(learner.memories_[0].held_counts_, [20, 20, 20])


@pytest.mark.parametrize("kind", KINDS)
def test_new_labels_widen_a_memory(kind):
    Y = imbalanced(300)
    narrow, wide = kind(20).begin(0), kind(20).begin(0)
    first = Y[:100] & (np.arange(6) < 3)
    plans = [narrow.plan(first[:, :3]), narrow.plan(Y[100:])]
    expected = wide.plan(np.vstack([first, Y[100:]]))
    np.testing.assert_array_equal(np.concatenate([plan.slots for plan in plans]), expected.slots)
    np.testing.assert_array_equal(narrow.held_counts_, wide.held_counts_)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_copied_or_loaded_read_only_it_goes_on_the_same(kind, tmp_path):
    Y = imbalanced(300)
    memory = kind(20).begin(0)
    memory.plan(Y[:150])
    joblib.dump(memory, tmp_path / "memory")
    twins = [copy(memory), pickle.loads(pickle.dumps(memory)), joblib.load(tmp_path / "memory", mmap_mode="r")]  # noqa: S301
    expected = memory.plan(Y[150:]).slots
    for twin in twins:
        assert twin.n_seen_ == 150
        np.testing.assert_array_equal(twin.plan(Y[150:]).slots, expected)


# ------------------------------------------------------------------- bad input
def test_parameters_that_make_no_sense_are_refused():
    def check(parameters, message, kind):
        with pytest.raises(ValueError, match=message):
            kind(**parameters).begin(0)

    check_all(
        product(
            [
                ({"rho": np.nan}, "rho must be a finite number from -10 to 10. Got nan instead"),
                ({"ties": "last"}, "ties must be one of 'first', 'random'. Got 'last' instead"),
                ({"size": 5}, "size must be greater than draws.*Got size 5 and draws 5"),
            ],
            KINDS,
        ),
        lambda case: check(*case[0], case[1]),
    )


def test_a_memory_stands_where_it_belongs():
    X, Y = drawn(10)
    with pytest.raises(TypeError, match=r"fifo must be a FIFOMemory or None\. Got PRSMemory\(\) instead"):
        OnlineNeuralClassifier(fifo=PRSMemory()).fit(X, Y)
