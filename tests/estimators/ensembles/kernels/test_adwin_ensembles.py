"""Ensembles with ADWIN learn as slow models, with windows that keep every number and draws from the definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import sparse

from estimators._kernels.label_codes import UNKNOWN
from estimators.ensembles._kernels.adwin_ensembles import (
    MOST_MEAN,
    MOST_TIMES,
    Answers,
    Params,
    draw_poisson,
    learn,
    new_ensembles,
    new_work,
    predict,
)
from estimators.linear._kernels.logistic import Step
from estimators.linear._rows import as_rows
from tests.estimators.ensembles.draws import BITS, PoissonDraws
from tests.estimators.linear.kernels.slow_model import SlowModel
from tests.estimators.neighbours.slow_aesaknns import SlowDetector
from tests.scattered import tables

D = 2
STEP = Step(0.1, 0.1, 1e12)


class SlowMember:
    """A model, a window over how it does, and the weights of the rows that it predicted rightly and wrongly."""

    def __init__(self, delta):
        self.model, self.window, self.right, self.wrong = SlowModel(D, STEP), SlowDetector(delta), 0.0, 0.0
        self.delta, self.mean = delta, 0.0

    def vote(self):
        """Return the log-odds of being right, 1 where they would be negative."""
        error = (self.wrong + 1e-16) / (self.right + self.wrong + 1e-16)
        return 1.0 if error > 0.5 else math.log((1 - error) / error)

    def watch(self, value):
        """Add a value to the window, and return whether its mean has changed and risen."""
        before, changed = self.window.mean(), self.window.add(value)
        self.mean = self.window.mean()
        if changed:
            self.window = SlowDetector(self.delta)
        return changed and self.mean > before


class SlowEnsemble:
    """The ensemble of one label; by the rules of the papers, or of River."""

    def __init__(self, states, delta, *, boosting, river):
        self.draws, self.delta, self.boosting, self.river = PoissonDraws(states), delta, boosting, river
        self.members, self.n_replaced = [SlowMember(delta) for _ in states], [0] * len(states)

    def predict(self, x):
        votes = [member.vote() if self.boosting else 1.0 for member in self.members]
        present = math.fsum(v * m.model.predict(x) for v, m in zip(votes, self.members, strict=True))
        return present / math.fsum(votes) if math.fsum(votes) > 0 else 0.5

    def learn(self, x, y, weight):
        often, changed = 1.0, False
        for k, member in enumerate(self.members):
            times = self.draws.draw(k, min(often, 100.0) if self.boosting and not self.river else 1.0)
            for _ in range(times):
                member.model.learn(x, y, weight)
            is_right = member.model.decide(x) == bool(y)
            if self.boosting:
                member.right += often * is_right
                member.wrong += often * (not is_right)
                often *= (member.right + member.wrong) / (2 * (member.right if is_right else member.wrong))
            # River's windows are over right predictions
            changed |= member.watch(int(is_right == self.river))
        if changed:
            means = [member.mean for member in self.members]
            worst = means.index(max(means))
            self.members[worst] = SlowMember(self.delta)
            self.n_replaced[worst] += 1


@st.composite
def streams(draw):
    """Draw rows whose label is turned round twice, so that members are replaced."""
    n = draw(st.integers(0, 150))
    X, noise = draw(tables((n, D), (0.0, 1.0, -0.5, 0.3))), draw(tables((n, 2), (0, 0, 0, 0, 1)))
    turned = (np.arange(n) * 3 // max(n, 1)) % 2
    codes = ((X > 0.2).astype(np.uint8) ^ turned[:, np.newaxis] ^ noise).astype(np.uint8)
    codes[draw(tables((n, 2), (False,) * 9 + (True,)))] = UNKNOWN
    return X, codes, draw(tables((n if draw(st.booleans()) else 0,), (1.0, 1.0, 0.0, 2.5)))


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@given(streams(), st.integers(1, 3), st.sampled_from([0.5, 0.002]), st.booleans(), st.booleans())
def test_every_prediction_is_that_of_the_slow_ensemble(kind, stream, n_models, delta, boosting, river):
    X, codes, weights = stream
    n = len(X)
    seeds = np.arange(1, 2 * n_models + 1, dtype=np.uint64)
    ensembles, params = new_ensembles(D, seeds), Params(n_models, STEP, delta, boosting, river)
    work, answers = new_work(ensembles.models), Answers(np.zeros((n, 2), bool), np.full((n, 2), np.nan))
    assert learn(ensembles, as_rows(kind(X)), codes, weights, params, work, answers)
    parts = seeds.reshape(2, n_models).tolist()
    slow = [SlowEnsemble(states, delta, boosting=boosting, river=river) for states in parts]
    for i, x in enumerate(X.tolist()):
        for k, label in enumerate(slow):
            proba, weight = label.predict(x), weights[i] if len(weights) else 1.0
            assert abs(answers.proba[i, k] - proba) < 1e-9
            assert abs(proba - 0.5) < 1e-9 or answers.decided[i, k] == (proba > 0.5)
            if codes[i, k] != UNKNOWN and weight > 0:
                label.learn(x, codes[i, k], weight)
    assert ensembles.n_replaced.reshape(2, -1).tolist() == [label.n_replaced for label in slow]
    assert predict(ensembles, as_rows(kind(X)), params, work, answers)
    expected = [[label.predict(x) for label in slow] for x in X.tolist()]
    np.testing.assert_allclose(answers.proba, np.array(expected).reshape(n, 2), atol=1e-9)


@njit
def draw_many(states, k, means):
    numbers = np.empty(len(means), np.int64)
    for i in range(len(means)):
        numbers[i] = draw_poisson(states, k, means[i])
    return numbers


@given(
    st.lists(st.integers(0, BITS), min_size=1, max_size=3), st.lists(st.sampled_from([0.0, 0.3, 1.0, 5.5])), st.data()
)
def test_numbers_are_those_of_the_definition(states, means, data):
    k, slow = data.draw(st.integers(0, len(states) - 1)), PoissonDraws(states)
    found = np.array(states, np.uint64)
    numbers = draw_many(found, k, np.array(means))
    assert numbers.tolist() == [slow.draw(k, mean) for mean in means]
    assert [int(state) for i, state in enumerate(found) if i != k] == [one for i, one in enumerate(states) if i != k]


@given(st.integers(0, BITS), st.sampled_from([100.0, 1e300, math.inf]))
def test_means_are_held(state, mean):
    states = np.full(2, state, np.uint64)
    expected = draw_many(states, 0, np.array([MOST_MEAN]))
    assert draw_many(states, 1, np.array([mean])).tolist() == expected.tolist()
    assert expected[0] <= MOST_TIMES
