"""DER++ learns as a loop from its paper: logits of earlier rows are held where they were, labels are learnt again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.networks._kernels.dark_experience import ExperienceWork, run
from estimators.networks._kernels.state import RunOptions, make_context
from estimators.networks._network_state import as_network, layers_of, make_batch
from tests.estimators.networks.kernels.passes import assert_same, chunks, coded, drawn_state, draws_of, stored
from tests.estimators.networks.kernels.slow_network import SlowNetwork, add
from tests.scattered import tables

SIZES, N_SLOTS = (4, 3, 2), 3


class SlowDER(SlowNetwork):
    """Rows held with their logits, None where a label had not counted in any row."""

    def begin(self, held, known, alpha, beta):
        self.held, self.known, self.alpha, self.beta = list(held), list(known), alpha, beta
        return self

    def logit_gradients(self, drawn):
        """The gradients of the mean of the squared changes of logits, each times the weight of its row."""
        cells = sum(z is not None for _, before in drawn for z in before)
        for row, before in drawn:
            changes = [0.0 if z is None else now - z for now, z in zip(self.logits(row.x), before, strict=True)]
            yield self.gradient(row.x, [2 * self.alpha * row.weight * change / max(cells, 1) for change in changes])

    def predict_then_learn(self, row, from_slots, slot):
        found, logits = self.predict(row.x), self.logits(row.x)
        if row.weight == 0:
            return found
        self.known = [known or counts for known, counts in zip(self.known, row.mask, strict=True)]
        parts = [self.loss_gradient(row)]
        if from_slots and from_slots[0] >= 0:
            n = len(from_slots) // 2
            first, second = ([self.held[one] for one in part] for part in (from_slots[:n], from_slots[n:]))
            again = [self.loss_gradient(one, n) for one, _ in second]
            parts += self.logit_gradients(first)
            parts += [{key: self.beta * g for key, g in one.items()} for one in again]
        self.step(add(parts))
        if slot >= 0:
            self.held[slot] = row, [z if known else None for z, known in zip(logits, self.known, strict=True)]
        return found


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=50)
@given(st.data(), st.booleans(), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([0.0, 1.0]), st.integers(0, 99))
def test_every_step_is_that_of_the_paper(dense, data, adam, alpha, beta, seed):
    rows, store = data.draw(chunks(4, 2)), data.draw(chunks(4, 2, st.just(N_SLOTS)))
    draws, slots = data.draw(draws_of(len(rows), N_SLOTS, 2)), data.draw(tables((len(rows),), (-1, 0, 1, 2), np.int64))
    held = data.draw(tables((N_SLOTS, 2), (0.5, np.nan, -2.0)))
    known = data.draw(tables((2,), (True, False)))
    state, options = drawn_state(SIZES, seed), RunOptions(learn=True, dense=dense, rate=0.1, adam=adam)
    logits = [[None if np.isnan(z) else z for z in line] for line in held.tolist()]
    slow = SlowDER(layers_of(state), rate=0.1, adam=adam)
    slow.begin(zip(store, logits, strict=True), known.tolist(), alpha, beta)
    ours, kept = coded(rows, dense=dense), stored(store, dense=dense)
    net = as_network(state, options)
    batch = make_batch(net, ours, kept, (4 + draws.shape[1]) // 4 * 4)
    numbers = map(np.float64, (alpha, beta, np.nan))
    work = ExperienceWork(net, batch, kept, np.empty(N_SLOTS, np.int64), held.copy(), known.copy(), *numbers)
    proba, met = (np.full(ours.codes.shape, np.nan) for _ in range(2))
    assert run(make_context(work), draws, slots, met, proba.reshape(-1), *ours) == -1
    plan = zip(rows, draws.tolist(), slots.tolist(), strict=True)
    assert_same(state, slow, proba, [slow.predict_then_learn(*one) for one in plan])
    assert work.known.tolist() == slow.known
