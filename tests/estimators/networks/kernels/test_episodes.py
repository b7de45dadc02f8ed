"""A-GEM learns as a loop from its paper: a gradient loses its part against that of rows of earlier tasks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.networks._kernels.episodes import EpisodicWork, run
from estimators.networks._kernels.state import RunOptions, make_context
from estimators.networks._network_state import as_network, layers_of, make_batch
from tests.estimators.networks.kernels.passes import assert_same, chunks, coded, drawn_state, draws_of, stored
from tests.estimators.networks.kernels.slow_network import SlowNetwork, add
from tests.scattered import tables

SIZES, N_SLOTS = (4, 3, 2), 3


def dot(one, other):
    return math.fsum(one[key] * other[key] for key in one)


def loop(slow, rows, store, draws, slots):
    held, found = list(store), []
    for row, from_slots, slot in zip(rows, draws.tolist(), slots.tolist(), strict=True):
        found.append(slow.predict(row.x))
        if row.weight == 0:
            continue
        g = slow.loss_gradient(row)
        if from_slots and from_slots[0] >= 0:
            r = add([slow.loss_gradient(held[one], len(from_slots)) for one in from_slots])
            if dot(g, r) < 0:
                share = dot(g, r) / dot(r, r)
                g = {key: g[key] - share * r[key] for key in g}
        slow.step(g)
        if slot >= 0:
            held[slot] = row
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=50)
@given(st.data(), st.booleans(), st.integers(0, 99))
def test_every_step_is_that_of_the_paper(dense, data, adam, seed):
    rows, store = data.draw(chunks(4, 2)), data.draw(chunks(4, 2, st.just(N_SLOTS)))
    draws, slots = data.draw(draws_of(len(rows), N_SLOTS)), data.draw(tables((len(rows),), (-1, 0, 1, 2), np.int64))
    state, options = drawn_state(SIZES, seed), RunOptions(learn=True, dense=dense, rate=0.1, adam=adam)
    slow = SlowNetwork(layers_of(state), rate=0.1, adam=adam)
    ours, kept = coded(rows, dense=dense), stored(store, dense=dense)
    net = as_network(state, options)
    batch = make_batch(net, ours, kept, (4 + draws.shape[1]) // 4 * 4)
    work = EpisodicWork(net, batch, kept, np.empty(N_SLOTS, np.int64), np.empty_like(net.w))
    proba = np.full(ours.codes.shape, np.nan)
    assert run(make_context(work), draws, slots, proba.reshape(-1), *ours) == -1
    assert_same(state, slow, proba, loop(slow, rows, store, draws, slots))
