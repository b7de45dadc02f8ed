"""Networks that hold on to earlier tasks learn as loops from the papers of EWC and LwF."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.networks._kernels.regularised import PastTasks, Regularisation, RegularisedWork, run
from estimators.networks._kernels.state import RunOptions, make_context
from estimators.networks._network_state import as_network, layers_of, make_batch
from tests.estimators.networks.kernels.passes import assert_same, chunks, coded, drawn_state, stored
from tests.estimators.networks.kernels.slow_network import SlowNetwork, add, sigmoid

SIZES = (4, 3, 3)


class SlowTasks(SlowNetwork):
    """Keep the rows of a task as gradients, and of earlier ones what the subclass says."""

    def begin(self, max_rows, **strength):
        self.max_rows, self.strength = max_rows, strength
        self.task, self.gradients = None, []
        self.old, self.importance, self.known = None, dict.fromkeys(self.w, 0.0), [False] * self.widths[-1]
        return self

    def predict_then_learn(self, row):
        if row.weight > 0:
            if self.gradients and (row.mask != self.task or len(self.gradients) == self.max_rows):
                self.end_task()
            self.task = row.mask
        found = self.predict(row.x)
        if row.weight > 0:
            self.gradients.append(self.loss_gradient(row))
            self.step(add([self.gradients[-1], self.held(row)]))
        return found

    def end_task(self):
        self.known = [known or counts for known, counts in zip(self.known, self.task, strict=True)]
        self.remember()
        self.old = SlowNetwork([], rate=0.0)
        self.old.w, self.old.widths = dict(self.w), self.widths
        self.gradients = []


class SlowEWC(SlowTasks):
    """Half the penalty times the importance of each weight times its squared distance from where a task left it."""

    def remember(self):
        n, decay = len(self.gradients), self.strength["decay"]
        for key, before in self.importance.items():
            self.importance[key] = decay * before + sum(g[key] ** 2 for g in self.gradients) / n

    def held(self, row):
        if self.old is None:
            return dict.fromkeys(self.w, 0.0)
        return {
            key: self.strength["penalty"] * f * (self.w[key] - self.old.w[key]) for key, f in self.importance.items()
        }


class SlowLwF(SlowTasks):
    """The cross-entropy between softened probabilities, of now and of then, of the labels that no longer count."""

    def remember(self):
        pass

    def held(self, row):
        absent = [known and not counts for known, counts in zip(self.known, row.mask, strict=True)]
        if self.old is None or not any(absent):
            return dict.fromkeys(self.w, 0.0)
        heat, share = self.strength["temperature"], row.weight * self.strength["distillation"] / sum(absent)
        pairs = zip(absent, self.logits(row.x), self.old.logits(row.x), strict=True)
        # d/dz of T**2 * BCE(sigmoid(z / T), sigmoid(old / T))
        return self.gradient(
            row.x, [is_absent * share * heat * (sigmoid(z / heat) - sigmoid(old / heat)) for is_absent, z, old in pairs]
        )


def compare(data, dense, max_rows, kind, **strength):
    rows, seed = data.draw(chunks(4, 3, st.integers(1, 8))), data.draw(st.integers(0, 99))
    state = drawn_state(SIZES, seed)
    slow = kind(layers_of(state), rate=0.1).begin(max_rows, **strength)
    ours, net = coded(rows, dense=dense), as_network(state, RunOptions(learn=True, dense=dense, rate=0.1))
    n = net.w.size if kind is SlowEWC else 0
    past = PastTasks(*np.zeros((2, 3), bool), np.zeros(1, np.int64), np.zeros_like(net.w), *np.zeros((2, n)))
    numbers = {"penalty": 0.0, "decay": 0.0, "distillation": 0.0, "temperature": 1.0} | strength
    regularisation = Regularisation(*map(np.float64, numbers.values()))
    batch = make_batch(net, ours, stored(rows, dense=dense), 1)
    work = RegularisedWork(net, batch, past, regularisation, max_rows, np.empty(3))
    proba = np.full(ours.codes.shape, np.nan)
    assert run(make_context(work), proba.reshape(-1), *ours) == -1
    assert_same(state, slow, proba, [slow.predict_then_learn(row) for row in rows])


@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=50)
@given(st.data(), st.sampled_from([-1, 1, 2]), st.sampled_from([1.0, 100.0]), st.sampled_from([1.0, 0.5]))
def test_weights_are_held_by_their_importance(dense, data, max_rows, penalty, decay):
    compare(data, dense, max_rows, SlowEWC, penalty=penalty, decay=decay)


@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=50)
@given(st.data(), st.sampled_from([-1, 2]), st.sampled_from([1.0, 20.0]), st.sampled_from([1.0, 2.0]))
def test_outputs_are_held_where_they_were(dense, data, max_rows, distillation, temperature):
    compare(data, dense, max_rows, SlowLwF, distillation=distillation, temperature=temperature)
