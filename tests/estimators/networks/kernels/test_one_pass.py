"""A pass over rows is a loop of single steps by a slow network; also what it is made of: network, weight_pass, vectors.

Features that are zero in a sparse row skip steps in the kernel and take them in the loop.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.networks._kernels.one_pass import run
from estimators.networks._kernels.state import RunOptions, make_context
from estimators.networks._network_state import layers_of, make_workspace
from tests.estimators.networks.kernels.passes import assert_same, chunks, coded, drawn_state, stored
from tests.estimators.networks.kernels.slow_network import Row, SlowLearner
from tests.loops import check_all
from tests.scattered import tables

N_FEATURES, N_LABELS, N_SLOTS = 5, 3, 3
LAYERS = st.sampled_from([(), (4,), (3, 2)])


@st.composite
def plans(draw, n_rows):
    """Slots drawn for each row, and slots that it is put into; -1 for no slot."""
    n_draws = draw(st.integers(0, 5))
    slots = tuple(range(-1, N_SLOTS))
    return draw(tables((n_rows, n_draws), slots, np.int64)), draw(tables((n_rows, 2), slots, np.int64))


def loop(slow, rows, store, draws, slots):
    held, found = list(store), []
    for row, from_slots, into in zip(rows, draws.tolist(), slots.tolist(), strict=True):
        found.append(slow.predict_then_learn(row, [held[slot] for slot in from_slots if slot >= 0]))
        for slot in into:
            if slot >= 0 and row.weight > 0:
                held[slot] = row
    return found


def compare(data, options, freeze=False):
    sizes = (N_FEATURES, *data.draw(LAYERS), N_LABELS)
    rows = data.draw(chunks(N_FEATURES, N_LABELS))
    store = data.draw(chunks(N_FEATURES, N_LABELS, st.just(N_SLOTS)))
    draws, slots = data.draw(plans(len(rows)))
    state = drawn_state(sizes, data.draw(st.integers(0, 99)), freeze=freeze)
    slow = SlowLearner(layers_of(state), options, freeze=freeze)
    ours, kept = coded(rows, dense=options.dense), stored(store, dense=options.dense)
    n_rows = (4 + draws.shape[1]) // 4 * 4 if options.mini_batch else min(1 + draws.shape[1], 2)
    proba = np.full(ours.codes.shape, np.nan)
    context = make_context(make_workspace(state, options, ours, kept, n_rows))
    assert run(context, draws, slots, proba.reshape(-1), *ours) == -1
    assert_same(state, slow, proba, loop(slow, rows, store, draws, slots))


STEPS = st.builds(
    RunOptions,
    learn=st.just(True),
    dense=st.just(True),
    rate=st.sampled_from([0.01, 0.3]),
    adam=st.booleans(),
    mini_batch=st.booleans(),
    published=st.booleans(),
    balance=st.just(False),
    scale=st.just(False),
    centre=st.just(False),
)


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
@given(st.data(), STEPS)
def test_every_step_is_that_of_the_slow_network(dense, data, options):
    compare(data, options._replace(dense=dense))


@pytest.mark.parametrize("dense", [True, False])
@given(st.data(), STEPS)
def test_outputs_that_no_row_counts_stay(dense, data, options):
    compare(data, options._replace(dense=dense), freeze=True)


@given(st.data(), st.booleans())
def test_rows_that_are_not_learnt_are_predicted_by_one_network(data, dense):
    rows = data.draw(chunks(N_FEATURES, N_LABELS))
    state = drawn_state((N_FEATURES, *data.draw(LAYERS), N_LABELS), 0)
    options, nothing = RunOptions(learn=False, dense=dense, rate=0.01), np.empty((len(rows), 0), np.int64)
    slow, ours = SlowLearner(layers_of(state), options), coded(rows, dense=dense)
    store, proba = stored(rows, dense=dense), np.empty((len(rows), N_LABELS))
    context = make_context(make_workspace(state, options, ours, store, 1))
    assert run(context, nothing, nothing, proba.reshape(-1), *ours) == -1
    assert_same(state, slow, proba, [slow.predict(row.x) for row in rows])


def test_the_row_at_which_numbers_leave_their_range_is_returned():
    def check(dense, greatest):
        plain, great = (Row([x] * N_FEATURES, [0] * N_LABELS, [True] * N_LABELS, 1.0) for x in (1.0, greatest))
        rows = [plain, plain, great, great]
        state, options = drawn_state((N_FEATURES, 4, N_LABELS), 0), RunOptions(learn=True, dense=dense, rate=0.01)
        ours, nothing = coded(rows, dense=dense), np.empty((4, 0), np.int64)
        context = make_context(make_workspace(state, options, ours, stored(rows, dense=dense), 1))
        # the logits are infinite, or the step that follows is: it is taken together with the next row
        assert run(context, nothing, nothing, np.empty(4 * N_LABELS), *ours) == 2

    check_all(product([True, False], [1e200, np.inf, np.nan]), lambda case: check(*case))


@pytest.mark.parametrize("dense", [True, False])
@given(st.data(), STEPS, st.booleans(), st.booleans(), st.booleans())
def test_deviations_and_counts_are_those_of_lists(dense, data, options, scale, centre, balance):
    scale = scale or not balance
    centre = centre and dense and scale
    compare(data, options._replace(dense=dense, scale=scale, centre=centre, balance=balance))
